"""Exported folder: valid SPIR-V, a manifest that describes it, and a loader that does not need syclade."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.commands.export import manifest as manifests
from syclade.host.commands.export.folder import FILES, export_folder
from syclade.host.commands.export.manifest import STAGES, Vector
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.image_files import read_stages_image
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.spirv import Op, entry_points, header, instructions
from syclade.kernels.ancestor.stage_arguments import IN
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case, without_complaints
from tests.support.commands import status_of
from tests.support.spirv_val import complaint

CASE = Case(41, 50)
RATES = Rates(0.02, 0.2)
CHAINS, STEPS, SEED = 3, 300, 11
TYPE_OF = {21: "integer", 32: "pointer"}  # OpTypeInt, OpTypePointer

# Modules that a machine without syclade lacks. Importing one of these fails.
BLOCKED = ("syclade", "numba", "numba_dpex", "llvmlite", "dpnp", "scipy", "networkx", "click")
RUN = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({BLOCKED!r}))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("export")
    matrix = matrix_from_array(CASE.values)
    sizes: dict[str, Any] = {"cells": 64, "mutations": 63}
    export_folder(made, matrix, RATES, **sizes, chains=CHAINS, steps=STEPS, seed=SEED, images=["fpga-emu"])
    return made


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text()))


def kernel_of(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    (kernel,) = (one for one in manifest["kernels"] if one["name"] == name)
    return dict(kernel)


# ---- modules


@pytest.mark.sycl
@pytest.mark.parametrize("name", ["chain_steps", *STAGES])
def test_a_module_is_valid(folder: Path, manifest: dict[str, Any], name: str) -> None:
    module = (folder / f"{name}.spv").read_bytes()
    assert complaint(module) is None
    assert entry_points(module) == [f"ancestor_{name}"] == [kernel_of(manifest, name)["entry_point"]]


@pytest.mark.sycl
@pytest.mark.parametrize("name", ["chain_steps", *STAGES])
def test_a_module_takes_the_arguments_that_the_manifest_describes(
    folder: Path, manifest: dict[str, Any], name: str
) -> None:
    """Check their number, which of them are addresses, and which the compiler found to be never written."""
    body = list(instructions((folder / f"{name}.spv").read_bytes()))
    types = {one.operands[0]: TYPE_OF[one.code] for one in body if one.code in TYPE_OF}
    first = next(index for index, one in enumerate(body) if one.code == Op.FUNCTION)
    parameters = []
    for one in body[first + 1 :]:
        if one.code != Op.FUNCTION_PARAMETER:
            break
        parameters.append(one.operands)
    arguments = kernel_of(manifest, name)["arguments"]
    five = ["integer", "integer", "pointer", "integer", "integer"]
    assert [types[kind] for kind, _ in parameters] == five * len(arguments)
    assert [argument["flat_arguments"] for argument in arguments] == [
        [at, at + 4] for at in range(0, len(parameters), 5)
    ]
    unwritten = {one.operands[0] for one in body if one.code == Op.DECORATE and one.operands[1:] == (38, 6)}
    found = [parameters[argument["flat_arguments"][0] + 2][1] in unwritten for argument in arguments]
    assert found == [argument["direction"] == IN for argument in arguments]


# ---- manifest


@pytest.mark.sycl
def test_every_file_is_there_with_its_digest(folder: Path, manifest: dict[str, Any]) -> None:
    named = {kernel["file"]: kernel["sha256"] for kernel in manifest["kernels"]}
    named |= {manifest["problem"]["file"]: manifest["problem"]["sha256"], **manifest["files"]}
    assert {*named, "manifest.json"} == {file.name for file in folder.iterdir()}
    images = {"chain_steps.fpga-emu.image", "stages.fpga-emu.image"}
    assert {*named, "manifest.json"} == {*FILES, *images}
    for name, digest in named.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.sycl
def test_the_manifest_describes_everything(manifest: dict[str, Any]) -> None:
    assert manifest["sizes"] == {"cells": 64, "mutations": 63}
    sizes = {"nodes": 64, "words": 1, "cells": 64, "lanes": 16}
    assert manifest["constants"] == {**sizes, "values": 2, "classes": 3}
    assert manifest["spirv_version"] == "1.4"
    assert manifest["syclade"] == syclade.__version__
    assert any(text.startswith("numba-dpex 0.23.0") for text in manifest["compilers"])
    for kernel in manifest["kernels"]:
        assert kernel["meaning"]
        lanes = 1 if kernel["name"] in ("propose", "find_parent") else 16
        assert kernel["work_size"] == {"global": [f"slots * {lanes}"], "local": [lanes]}
        for argument in kernel["arguments"]:
            assert argument["meaning"]
            assert argument["direction"] in manifest["directions"]
            assert argument["role"] in manifest["roles"]
            symbols = [part for part in argument["shape"] if isinstance(part, str)]
            assert set(symbols) <= set(manifest["symbols"])
            numbers = dict(zip(argument["shape"], argument["numbers"], strict=True))
            assert all(numbers[part] == "slots" for part in symbols if part == "slots")
            assert all(isinstance(numbers[part], int) for part in numbers if part != "slots")


@pytest.mark.sycl
def test_the_test_vector_is_the_ordinary_run(folder: Path, manifest: dict[str, Any]) -> None:
    ordinary = syclade.infer(
        CASE.values, fp_rate=0.02, fn_rate=0.2, chains=CHAINS, steps=STEPS, seed=SEED, device="numpy"
    )
    problem = manifest["problem"]
    assert problem["expected"]["parents"] == ordinary.parents.tolist()
    scores = [problem["base"] + score * problem["unit"] for score in problem["expected"]["best_scores"]]
    np.testing.assert_array_equal(scores, ordinary.chain_log_likelihoods)
    with np.load(folder / "problem.npz", allow_pickle=False) as arrays:
        names = {argument["name"] for argument in kernel_of(manifest, "chain_steps")["arguments"]}
        assert set(arrays.files) == names - {"proposal", "shares", "drawn"}
        assert arrays["last_step"].tolist() == [STEPS] * CHAINS


@pytest.mark.sycl
@pytest.mark.parametrize(("version", "number"), [("1.0", 0x10000), ("1.3", 0x10300)])
def test_older_versions_of_spirv(tmp_path: Path, version: str, number: int) -> None:
    """All modules are valid in the version that was asked for, and give the same results."""
    matrix, sizes = matrix_from_array(Case(9, 12).values), {"cells": 64, "mutations": 63}
    images = ["cpu"] if version == "1.0" else []
    counts: dict[str, Any] = {"chains": 2, "steps": 50}
    export_folder(tmp_path, matrix, RATES, **sizes, **counts, spirv_version=version, images=images)  # type: ignore[arg-type]
    modules = {path.stem: path.read_bytes() for path in tmp_path.glob("*.spv")}
    assert modules.keys() == {"chain_steps", *STAGES}
    for name, module in modules.items():
        assert header(module)[1] == number
        assert complaint(module) is None
        assert entry_points(module) == [f"ancestor_{name}"]
    assert json.loads((tmp_path / "manifest.json").read_text())["spirv_version"] == version
    if not images:
        assert json.loads(load(tmp_path).stdout)["as_expected"] is True
        return
    given: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "seed": 1, "stages": "separate", **counts}
    found = syclade.infer(matrix, image=tmp_path / "stages.cpu.image", **given)
    expected = json.loads((tmp_path / "manifest.json").read_text())["problem"]["expected"]
    assert found.parents.tolist() == expected["parents"]


# ---- loader


def load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, str(folder / "load_design.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
@pytest.mark.parametrize("kernels", ["chain_steps", "stages"])
def test_the_loader_runs_the_inference(
    folder: Path, manifest: dict[str, Any], device: str, kernels: str
) -> None:
    done = load(folder, "--device", device, "--kernels", kernels)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    report = json.loads(done.stdout)
    assert report["as_expected"] is True
    assert {name: report[name] for name in ("parents", "best_scores")} == manifest["problem"]["expected"]
    assert ("Emulation" in report["device"]) == (device == "fpga-emu")
    assert report["kernels"] == (["chain_steps"] if kernels == "chain_steps" else list(STAGES))
    best = syclade.score(CASE.values, np.array(report["parents"], np.int32), fp_rate=0.02, fn_rate=0.2)
    assert report["log_likelihood"] == pytest.approx(best, abs=1e-3)


@pytest.mark.sycl
def test_many_steps_are_expected_from_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a device computes the same expected steps as numpy."""
    made = Vector(Case(60, 64).plan(), 64, CHAINS, 30, SEED)
    few = manifests.describe_vector(made, b"", choose_device("cpu"))
    monkeypatch.setattr(manifests, "_NUMPY_STEPS", 29)
    monkeypatch.setattr(manifests, "choose_encoding", lambda *given: AncestorEncoding(given[2], TRAITS))
    assert manifests.describe_vector(made, b"", choose_device("cpu")) == few


@pytest.mark.sycl
def test_the_loader_tells_when_results_differ(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["problem"]["expected"]["best_scores"][0] += 1
    (other / "manifest.json").write_text(json.dumps(manifest))
    done = load(other)
    assert done.returncode == 1
    assert json.loads(done.stdout)["as_expected"] is False


@pytest.mark.sycl
@pytest.mark.parametrize("name", ["chain_steps.spv", "problem.npz"])
def test_the_loader_refuses_damaged_files(folder: Path, tmp_path: Path, name: str) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    content = bytearray((other / name).read_bytes())
    content[len(content) // 2] ^= 1
    (other / name).write_bytes(content)
    done = load(other)
    assert done.returncode == 2
    assert (
        without_complaints(done.stderr)
        == f"load_design: ValueError: {name} is not the file that manifest.json describes\n"
    )


@pytest.mark.sycl
def test_an_exported_image_is_taken(folder: Path, manifest: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "fp_rate": 0.02,
        "fn_rate": 0.2,
        "chains": CHAINS,
        "steps": STEPS,
        "seed": SEED,
    }
    for name, stages in (("chain_steps", "fused"), ("stages", "separate")):
        image = folder / f"{name}.fpga-emu.image"
        found = syclade.infer(CASE.values, image=image, stages=stages, **settings)
        assert found.parents.tolist() == manifest["problem"]["expected"]["parents"]
        assert found.work[0].executor.kind == "fpga-emu"


@pytest.mark.sycl
def test_images_of_the_stages_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    """A run takes stages of its own score, rates and size only, and only separate ones."""
    image = folder / "stages.fpga-emu.image"

    def refusal(values: Any = CASE.values, **options: Any) -> str:
        given: dict[str, Any] = {"image": image, "stages": "separate", "method": "chain", "steps": 5}
        with pytest.raises(syclade.SycladeError) as caught:
            syclade.infer(values, fp_rate=0.02, fn_rate=0.2, chains=1, **given | options)
        assert caught.value.hint
        return caught.value.message

    assert "of the stages, not of the kernel of whole steps" in refusal(stages="fused")
    whole = folder / "chain_steps.fpga-emu.image"
    assert "the image is of one kernel, not of the stages" in refusal(image=whole)
    for options in ({"score": "sum"}, {"learn_fn": 0.2}):
        assert "not the one that this syclade runs for these options" in refusal(**options)
    assert "up to 63 mutations and 64 distinct columns" in refusal(Case(70, 20).values)
    assert "the image is for fpga-emu, not for cpu" in refusal(device="cpu")
    damaged = tmp_path / "damaged.image"
    damaged.write_bytes(image.read_bytes()[:-1])
    assert "the image is damaged: its content is not what it was" in refusal(image=damaged)


@pytest.mark.sycl
def test_a_cards_image_of_the_stages(folder: Path, manifest: dict[str, Any], tmp_path: Path) -> None:
    """A vendor's file has all kernels, which the manifest beside it describes."""
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    card = tmp_path / "card.aocx"
    card.write_bytes(b"\x7fELF and more")
    image = read_stages_image(card, STAGES)
    assert list(image.images) == [f"ancestor_{name}" for name in STAGES]
    plan = CASE.plan()
    encoding = AncestorEncoding(plan.problem, TRAITS)
    image.fit([one.kernel for one in stage_kernels(plan, encoding)], encoding)
    assert encoding.constants["nodes"] == 64
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(DeviceError, match=r"manifest\.json of its export beside it: it lacks kernels"):
        read_stages_image(card, STAGES)


# ---- other scores, learned rates, and samples

SMALL = Case(8, 13)
OTHERS: list[Any] = [
    pytest.param({"score": "sum"}, marks=pytest.mark.verification),
    pytest.param({"learn_fn": 0.3}, marks=pytest.mark.verification),
    {"score": "sum", "learn_fn": 0.2, "learn_fp": 0.2},
    {"samples": 20},
]


@pytest.mark.sycl
@pytest.mark.parametrize("options", OTHERS, ids=str)
def test_other_scores_learned_rates_and_samples(tmp_path: Path, options: dict[str, Any]) -> None:
    """The kernel does the steps of an ordinary run, by the loader and as an image; no other run takes it."""
    rates = {"fp_rate": 0.02, "fn_rate": 0.2}
    counts = {"chains": 2, "steps": 200, "seed": 3}
    sizes = {"cells": 64, "mutations": 63}  # as on docs/fpga.md: kernels of a size are compiled once
    matrix = matrix_from_array(SMALL.values)
    names = syclade.export(tmp_path, matrix, **rates, **sizes, **counts, **options, images=["cpu"])  # type: ignore[arg-type]
    image = tmp_path / "chain_steps.cpu.image"
    stages = tmp_path / "stages.cpu.image"
    assert {path.name for path in names} == {*FILES, image.name, stages.name}
    assert complaint((tmp_path / "chain_steps.spv").read_bytes()) is None
    for kernels in ("chain_steps", "stages"):
        done = load(tmp_path, "--kernels", kernels)
        assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    report = json.loads(done.stdout)
    ordinary = syclade.infer(matrix, **rates, **counts, **options, method="chain", device="numpy")  # type: ignore[arg-type]
    assert report["parents"] == ordinary.parents.tolist()
    assert report["log_likelihood"] == pytest.approx(ordinary.chain_log_likelihoods.max())
    for path, kind in ((image, "fused"), (stages, "separate")):
        own: dict[str, Any] = {**rates, **counts, **options, "method": "chain", "image": path, "stages": kind}
        taken = syclade.infer(matrix, **own)
        assert taken.chain_log_likelihoods.tolist() == ordinary.chain_log_likelihoods.tolist()
        assert (taken.encoding, taken.moves, taken.learned) == ("ancestor", ordinary.moves, ordinary.learned)
        assert samples_of(taken, tmp_path / kind) == samples_of(ordinary, tmp_path / "ordinary")
    if "samples" in options:
        assert samples_of(ordinary, tmp_path / "ordinary").count("\n") > 10
    if "learn_fn" in options:
        assert ordinary.moves["jump of fn_rate"][1] > 0
    with pytest.raises(syclade.SycladeError, match="not the one that this syclade runs for these options"):
        syclade.infer(matrix, **rates, **counts, learn_fp=0.3, method="chain", image=image)  # type: ignore[arg-type]


def samples_of(result: syclade.Result, folder: Path) -> str:
    """Return the file of a result's samples; empty if it has none."""
    result.write(folder, force=True)
    path = folder / "tree.samples"
    return path.read_text() if path.exists() else ""


def test_too_many_samples_of_a_test_vector(tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"cells": 6, "mutations": 5, "steps": 5000}
    with pytest.raises(syclade.SycladeError, match="has 5000 samples of a chain, and room for 4095") as error:
        syclade.export(tmp_path / "p", samples=1, **sizes)
    assert "give a larger --samples, or fewer --steps" in str(error.value)
    with pytest.raises(syclade.SycladeError, match=r"samples \(--samples\) is 0"):
        syclade.export(tmp_path / "p", samples=0, **sizes)
    with pytest.raises(syclade.SycladeError, match="fixed rates and no samples"):
        syclade.export(tmp_path / "p", samples=5, hls="opencl", **sizes)


# ---- command


command = partial(status_of, "export")


@pytest.mark.sycl
def test_export_simulates_a_test_vector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--cells", 64, "--mutations", 63]
    assert command(tmp_path, *sizes, "--steps", 20, "--chains", 2) == 0
    assert capsys.readouterr().out.startswith(f"wrote {tmp_path / 'chain_steps.spv'}, ")
    problem = json.loads((tmp_path / "manifest.json").read_text())["problem"]
    assert (problem["cells"], problem["mutations"], problem["slots"]) == (64, 63, 2)
    assert command(tmp_path, *sizes) == 2
    assert "already has chain_steps.spv" in capsys.readouterr().err


@pytest.mark.sycl
def test_export_takes_a_matrix_and_its_size(tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("\n".join(" ".join(map(str, row)) for row in CASE.values.tolist()) + "\n")
    assert command(tmp_path / "out", "--matrix", matrix, "--mutations", 63, "--cells", 64, "--steps", 5) == 0
    problem = json.loads((tmp_path / "out" / "manifest.json").read_text())["problem"]
    assert (problem["cells"], problem["mutations"]) == (CASE.m, CASE.n)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --cells and --mutations, or --matrix"),
        (["--cells", 5], "give --cells and --mutations, or --matrix"),
        (["--cells", 5, "--mutations", 4, "--with-image", "fpga"], "no image can be made for fpga"),
        (["--matrix", "absent.csv"], "absent.csv: no such file"),
    ],
)
def test_what_cannot_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[object], message: str
) -> None:
    assert command(tmp_path / "out", *arguments) == 2
    assert message in re.sub(r"\s+", " ", capsys.readouterr().err)


def test_a_matrix_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(syclade.SycladeError, match="the matrix has 41 mutations and 50 distinct columns"):
        export_folder(tmp_path, matrix_from_array(CASE.values), RATES, cells=50, mutations=40)
