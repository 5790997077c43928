"""Export of the kernels of tails: valid SPIR-V, a manifest that describes it, and a loader of its own."""

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
from syclade.host.calls.tails import log_tails
from syclade.host.calls.tails.columns import KERNELS
from syclade.host.commands.export.api import TAIL_FILES, export, random_columns, tail_image_name
from syclade.host.device.compile.image_files import read_image
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.spirv import Op, entry_points, instructions
from syclade.quality.oracle.tails import precise_log_tail
from tests.commands.export.test_export import RUN, TYPE_OF
from tests.support.backends import without_complaints
from tests.support.commands import status_of
from tests.support.spirv_val import complaint

COLUMNS, SEED = 20, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tails")
    export(made, tails=True, columns=COLUMNS, seed=SEED, images=["fpga-emu"])
    return made


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text()))


def load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the loader where syclade, numba and scipy do not import."""
    command = [sys.executable, "-c", RUN, str(folder / "load_design.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.sycl
@pytest.mark.parametrize("name", KERNELS)
def test_a_module_is_valid(folder: Path, name: str) -> None:
    assert complaint((folder / f"tails_{name}.spv").read_bytes()) is None


@pytest.mark.sycl
@pytest.mark.parametrize("name", KERNELS)
def test_a_module_takes_the_described_arguments(folder: Path, manifest: dict[str, Any], name: str) -> None:
    module = (folder / f"tails_{name}.spv").read_bytes()
    assert entry_points(module) == [f"tails_{name}"]
    (kernel,) = (one for one in manifest["kernels"] if one["name"] == f"tails_{name}")
    assert kernel["entry_point"] == f"tails_{name}"
    assert kernel["work_size"] == {"global": ["slots * 1"], "local": [1]}
    body = list(instructions(module))
    types = {one.operands[0]: TYPE_OF[one.code] for one in body if one.code in TYPE_OF}
    first = next(index for index, one in enumerate(body) if one.code == Op.FUNCTION)
    parameters = []
    for one in body[first + 1 :]:
        if one.code != Op.FUNCTION_PARAMETER:
            break
        parameters.append(one.operands)
    assert [types[kind] for kind, _ in parameters] == [
        "integer",
        "integer",
        "pointer",
        "integer",
        "integer",
    ] * len(kernel["arguments"])
    unwritten = {one.operands[0] for one in body if one.code == Op.DECORATE and one.operands[1:] == (38, 6)}
    found = [parameters[one["flat_arguments"][0] + 2][1] in unwritten for one in kernel["arguments"]]
    assert found == [one["direction"] == "in" for one in kernel["arguments"]]


@pytest.mark.sycl
def test_the_manifest_describes_all_files(folder: Path, manifest: dict[str, Any]) -> None:
    named = {kernel["file"]: kernel["sha256"] for kernel in manifest["kernels"]}
    named |= {manifest["problem"]["file"]: manifest["problem"]["sha256"], **manifest["files"]}
    images = {tail_image_name(name, "fpga-emu") for name in KERNELS}
    assert {*named, "manifest.json"} == {file.name for file in folder.iterdir()} == {*TAIL_FILES, *images}
    for name, digest in named.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    for kernel in manifest["kernels"]:
        for argument in kernel["arguments"]:
            symbols = {part for part in argument["shape"] if isinstance(part, str)}
            assert symbols <= set(manifest["symbols"])
            assert argument["direction"] in manifest["directions"]


@pytest.mark.sycl
def test_expected_tails_are_right(manifest: dict[str, Any]) -> None:
    columns = random_columns(COLUMNS, SEED)
    for name in KERNELS:
        for column, found in enumerate(manifest["problem"]["expected"][name]):
            part = slice(columns.starts[column], columns.starts[column + 1])
            p, counts = columns.probabilities[part].tolist(), columns.counts[part].tolist()
            exact = float(precise_log_tail(p, counts, int(columns.at_least[column])))
            assert abs(found - exact) <= 1e-12 * max(1.0, abs(exact))


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_loader_computes_the_expected_bits(
    folder: Path, manifest: dict[str, Any], device: str, name: str
) -> None:
    done = load(folder, "--device", device, "--kernels", name)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    report = json.loads(done.stdout)
    assert report["as_expected"] is True
    assert report["log_tails"] == manifest["problem"]["expected"][name]
    assert ("Emulation" in report["device"]) == (device == "fpga-emu")


@pytest.mark.sycl
def test_the_loader_reports_other_results_and_damaged_files(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    manifest = json.loads((other / "manifest.json").read_text())
    expected = manifest["problem"]["expected"]["grouped"]
    expected[0] = float(np.nextafter(expected[0], 0.0))
    (other / "manifest.json").write_text(json.dumps(manifest))
    assert load(other).returncode == 1
    assert load(other, "--kernels", "tilted").returncode == 0
    done = load(other, "--kernels", "stages")
    assert done.returncode == 2
    assert "load_design: ValueError: this export has the kernels grouped, tilted, blocked" in done.stderr
    (other / "problem.npz").write_bytes(b"other")
    done = load(other)
    assert done.returncode == 2
    assert "load_design: ValueError: problem.npz is not the file" in done.stderr


@pytest.mark.sycl
@pytest.mark.parametrize("name", KERNELS)
def test_an_exported_image_is_taken(folder: Path, manifest: dict[str, Any], name: str) -> None:
    image = read_image(folder / tail_image_name(name, "fpga-emu"))
    found = log_tails(random_columns(COLUMNS, SEED), kernel=name, image=image)
    assert found.log_tails.tolist() == manifest["problem"]["expected"][name]
    assert found.work[0].executor.kind == "fpga-emu"


@pytest.mark.sycl
def test_other_images_are_refused(folder: Path) -> None:
    path, columns = folder / tail_image_name("grouped", "fpga-emu"), random_columns(2, 1)
    image = read_image(path)
    with pytest.raises(DeviceError, match="the image's kernel is not tails_tilted"):
        log_tails(columns, kernel="tilted", image=image)
    with pytest.raises(DeviceError, match="the image is for the"):
        log_tails(columns, device="cpu", image=image)
    for device in ("native", "numpy"):
        with pytest.raises(DeviceError, match="takes no images"):
            log_tails(columns, device=device, image=image)
    with pytest.raises(DeviceError, match="of a kernel of tails, not of chains"):
        syclade.infer(np.zeros((3, 4), np.uint8), fp_rate=0.01, fn_rate=0.2, image=path, steps=5)


command = partial(status_of, "export")


@pytest.mark.sycl
def test_the_command_exports_tails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path / "out", "--tails", "--columns", 3, "--seed", 9, "--json") == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert files == [str(tmp_path / "out" / name) for name in TAIL_FILES]
    problem = json.loads((tmp_path / "out" / "manifest.json").read_text())["problem"]
    assert (problem["columns"], problem["seed"]) == (3, 9)
    found = log_tails(random_columns(3, 9), device="cpu").log_tails.tolist()
    assert found == problem["expected"]["grouped"]
    assert command(tmp_path / "out", "--tails") == 2
    assert "already has tails_grouped.spv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tails", "--cells", 5], "--cells does not go with --tails"),
        (["--tails", "--with-image", "fpga"], "no image can be made for fpga"),
        (["--tails", "--steps", 5], "--steps does not go with --tails"),
        (["--columns", 5, "--cells", 5, "--mutations", 4], "--columns goes with --tails only"),
        (["--tails", "--columns", 0], "--columns"),
    ],
)
def test_options_that_do_not_go_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[object], message: str
) -> None:
    assert command(tmp_path / "out", *arguments) == 2
    assert message in re.sub(r"\s+", " ", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
