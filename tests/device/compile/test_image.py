"""Images: one gives the bits of an ordinary run; a file that is no valid image is an error."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends import opening
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.commands.export.folder import exported_module
from syclade.host.commands.export.manifest import ExportedKernel, exported_kernels, make_manifest
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import program
from syclade.host.device.compile.image import cached_images
from syclade.host.device.compile.image_files import make_image, packed, read_image
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.survey import probe_spirv
from syclade.host.device.workarounds import opencl, prepare
from syclade.host.ground.errors import DeviceError, OptionError, SycladeError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

CASE = Case(21, 30)
CAPACITY = AncestorEncoding.capacity(TRAITS, 64, 64, 2)
RATES = {"fp_rate": 0.02, "fn_rate": 0.2}
SETTINGS: dict[str, Any] = {**RATES, "chains": 3, "steps": 200, "seed": 5, "support": "none"}
KINDS = ("cpu", "fpga-emu")
UNBOUNDED = {
    "syclade_image": 1,
    "kind": "cpu",
    "sources": "",
    "identity": {},
    "constants": {"nodes": math.inf},
}


def exported_kernel() -> ExportedKernel:
    """Return the exported kernel of the chain, for CAPACITY."""
    plan = CASE.plan()
    return exported_kernels(plan, AncestorEncoding(plan.problem, TRAITS, CAPACITY))[0]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make an image for each kind of device, for 63 mutations and 64 columns."""
    folder = tmp_path_factory.mktemp("images")
    kernel = exported_kernel()
    made = {}
    for kind in KINDS:
        queue = prepare().SyclQueue(choose_device(kind).filter)
        module = exported_module(queue, kernel)
        made[kind] = folder / f"{kind}.image"
        made[kind].write_bytes(make_image(queue, kind, "ancestor", kernel.kernel, module))
    return made


@pytest.fixture(scope="module")
def ordinary() -> syclade.Result:
    return syclade.infer(CASE.values, device="numpy", **SETTINGS)


def changed(image: Path, target: Path, **changes: Any) -> Path:
    """Write a copy of an image with changes in its description; None removes a key."""
    line, _, binary = image.read_bytes().partition(b"\n")
    report = {name: value for name, value in (json.loads(line) | changes).items() if value is not None}
    target.write_bytes(packed({name: report[name] for name in report if name != "sha256"}, binary))
    return target


def refusal(image: Path, device: str = "auto", values: Any = CASE.values) -> str:
    """Return the error message that a user gets for an image."""
    with pytest.raises(DeviceError) as caught:
        syclade.infer(values, device=device, image=image, **SETTINGS)
    assert caught.value.hint
    assert str(caught.value).startswith(str(image))
    return caught.value.message


# ---- images that work


@pytest.mark.sycl
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wanted", ["auto", "the kind"])
def test_an_image_gives_the_bits_of_the_ordinary_run(
    images: dict[str, Path], ordinary: syclade.Result, kind: str, wanted: str
) -> None:
    device = kind if wanted == "the kind" else wanted
    found = syclade.infer(CASE.values, device=device, image=images[kind], **SETTINGS)
    assert found.encoding == "ancestor"
    assert found.device == choose_device(kind).filter
    np.testing.assert_array_equal(found.parents, ordinary.parents)
    np.testing.assert_array_equal(found.chain_log_likelihoods, ordinary.chain_log_likelihoods)
    assert found.moves == ordinary.moves


@pytest.mark.sycl
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_with_an_image_compiles_nothing(
    images: dict[str, Path], ordinary: syclade.Result, kind: str, tmp_path: Path
) -> None:
    """The run has its own process, without a compiler or cached kernels, and exits cleanly."""
    code = (
        "import sys; sys.modules['numba_dpex'] = sys.modules['numba'] = None\n"
        "from syclade.host.commands.main import main; main()"
    )
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("\n".join(" ".join(map(str, row)) for row in CASE.values.tolist()) + "\n")
    rates = [f"--fp-rate={SETTINGS['fp_rate']}", f"--fn-rate={SETTINGS['fn_rate']}"]
    run = [f"--chains={SETTINGS['chains']}", f"--steps={SETTINGS['steps']}", f"--seed={SETTINGS['seed']}"]
    image = ["--device", kind, "--image", str(images[kind]), "--quiet"]
    command = [sys.executable, "-c", code, "infer", str(matrix), *rates, *run, *image]
    environment = os.environ | {"SYCLADE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "chains do not agree" not in line]
    assert (done.returncode, complaints) == (0, [])
    assert float(done.stdout) == ordinary.log_likelihood


@pytest.mark.sycl
def test_an_image_from_other_sources_is_warned_of(
    images: dict[str, Path], ordinary: syclade.Result, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older = changed(images["cpu"], tmp_path / "older.image", sources="another")
    found = syclade.infer(CASE.values, image=older, **SETTINGS)
    np.testing.assert_array_equal(found.parents, ordinary.parents)
    assert "was not made from this syclade's kernels" in caplog.text


# ---- files that are not images, and images that do not fit


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this is not an image"),
        (b"a text file\n", "this is not an image"),
        (b'{"some": "json"}\n', "this is not an image"),
        (probe_spirv(), "this is SPIR-V"),
        (b'{"syclade_image": 1', "the image is damaged"),
        (b'{"syclade_image": 1}\n', "it lacks sha256"),
        (b'{"syclade_image": 1, "sha256": 0}\n', "its content is not what it was"),
        (b'{"syclade_image": 1, "x": ' + b"[" * 100_000, "the image is damaged"),
        (packed(UNBOUNDED, b""), "cannot convert float infinity"),
    ],
)
def test_what_is_no_image(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert message in refusal(file)


def test_an_image_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in refusal_without_hint(tmp_path / "absent")
    assert "directory" in refusal_without_hint(tmp_path)


def refusal_without_hint(image: Path) -> str:
    with pytest.raises(DeviceError) as caught:
        syclade.infer(CASE.values, image=image, **SETTINGS)
    return str(caught.value)


@pytest.mark.sycl
@pytest.mark.parametrize("damage", ["cut", "one bit", "appended", "more cells"])
def test_a_damaged_image_never_reaches_the_driver(
    images: dict[str, Path], tmp_path: Path, damage: str
) -> None:
    good = images["cpu"].read_bytes()
    flipped = bytearray(good)
    flipped[-2000] ^= 1
    file = tmp_path / "damaged"
    more = good.replace(b'"cells": 64', b'"cells": 94')
    assert more != good
    damages = {"cut": good[:-1], "one bit": bytes(flipped), "appended": good + b"\n", "more cells": more}
    file.write_bytes(damages[damage])
    assert "its content is not what it was" in refusal(file)


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constants": {"nodes": 64}}, "it lacks cells, lanes, values, words"),
        ({"constants": {"nodes": "many", "words": 1, "cells": 64, "lanes": 16, "values": 2}}, "damaged"),
        ({"constants": None}, "it lacks constants"),
        ({"identity": "a card"}, "damaged"),
        ({"arguments": 7}, "damaged"),
        ({"arguments": [["ones", "uint32"]]}, "not the one that this syclade runs"),
        ({"encoding": "preorder"}, "not the one that this syclade runs"),
        ({"kind": "gpu"}, "no device 'gpu'"),
        ({"entry_point": "another"}, "the image has no kernel another, but ancestor_chain_steps"),
        ({"identity": {"driver": "1"}}, "the image is for the driver 1, and here it is 20"),
        ({"identity": {"processor": "abacus"}}, "the image is for the processor abacus"),
    ],
)
def test_descriptions_that_do_not_fit(
    images: dict[str, Path], tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    file = changed(images["cpu"], tmp_path / "changed", **changes)
    with pytest.raises(SycladeError) as caught:
        syclade.infer(CASE.values, image=file, **SETTINGS)
    assert message in str(caught.value)


@pytest.mark.sycl
@pytest.mark.parametrize(("kind", "device"), [("cpu", "fpga-emu"), ("fpga-emu", "cpu"), ("cpu", "numpy")])
def test_an_image_of_another_device(images: dict[str, Path], kind: str, device: str) -> None:
    assert refusal(images[kind], device).startswith(
        f"{images[kind]}: the image is for {kind}, not for {device}"
    )


@pytest.mark.sycl
def test_an_image_for_other_observed_values(images: dict[str, Path]) -> None:
    """The image is for heterozygous mutations only, and the matrix has homozygous ones."""
    values = Case(8, 13, kind="zygosity").values
    with pytest.raises(SycladeError) as caught:
        syclade.infer(values, image=images["cpu"], fn_rate_hom=0.1, hom_rate=0.001, **SETTINGS)
    report = str(caught.value)
    assert "the image is for 2 kinds of observed values, the matrix has 3" in report
    assert "homozygous" in report


@pytest.mark.sycl
@pytest.mark.parametrize("case", [Case(64, 20), Case(20, 65)])
def test_an_image_that_is_too_small(images: dict[str, Path], case: Case) -> None:
    message = refusal(images["cpu"], values=case.values)
    assert "the image is for up to 63 mutations and 64 distinct columns, the matrix needs" in message


@pytest.mark.sycl
def test_the_image_decides_the_encoding(images: dict[str, Path]) -> None:
    with pytest.raises(OptionError, match="the image decides"):
        syclade.infer(CASE.values, image=images["cpu"], encoding="preorder", **SETTINGS)


# ---- a card, simulated by the emulator


@pytest.fixture
def vendor_image(images: dict[str, Path], tmp_path: Path) -> Path:
    """Write a bare binary, as a vendor's compiler makes it, and the manifest of the export beside it."""
    file = tmp_path / "design.aocx"
    file.write_bytes(images["fpga-emu"].read_bytes().partition(b"\n")[2])
    plan = CASE.plan()
    encoding = AncestorEncoding(plan.problem, TRAITS, CAPACITY)
    kernels = [(kernel, probe_spirv()) for kernel in exported_kernels(plan, encoding)]
    manifest = make_manifest(kernels, {"cells": 64, "mutations": 63}, CAPACITY, {}, {})
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return file


@pytest.fixture
def _card(monkeypatch: pytest.MonkeyPatch) -> None:
    """List the emulator as a card: it cannot compile the probe's kernel, as no card can."""
    emulator = choose_device("fpga-emu")
    card = Device(emulator.filter, "a card", "fpga", 1, reason="it does not compile")
    monkeypatch.setattr(opening, "list_devices", lambda: [card])


@pytest.mark.sycl
@pytest.mark.usefixtures("_card")
@pytest.mark.parametrize("wanted", ["auto", "fpga", "opencl:accelerator:0"])
def test_a_vendors_image_on_a_card(
    vendor_image: Path,
    ordinary: syclade.Result,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
) -> None:
    monkeypatch.setattr(program, "_built", {})  # the warning comes once per process
    found = syclade.infer(CASE.values, device=wanted, image=vendor_image, **SETTINGS)
    np.testing.assert_array_equal(found.parents, ordinary.parents)
    assert "was never tested with syclade" in caplog.text


@pytest.mark.sycl
@pytest.mark.usefixtures("_card")
@pytest.mark.parametrize("content", [b"\x7fELF", b"\x7fELF" + bytes(500), Path(sys.executable).read_bytes()])
def test_what_no_driver_takes(vendor_image: Path, content: bytes) -> None:
    vendor_image.write_bytes(content)
    assert "refuses the image: clCreateProgramWithBinary failed" in refusal(vendor_image)


@pytest.mark.sycl
@pytest.mark.parametrize("device", KINDS)
def test_a_bare_binary_is_for_cards_only(vendor_image: Path, device: str) -> None:
    """The CPU and emulator drivers would run any binary."""
    assert f"the image is for fpga, not for {device}" in refusal(vendor_image, device)


@pytest.mark.parametrize("manifest", [None, "no json", "{}", '{"kernels": []}', "[" * 100_000])
def test_a_vendors_image_needs_its_manifest(tmp_path: Path, manifest: str | None) -> None:
    file = tmp_path / "design.aocx"
    file.write_bytes(b"\x7fELF")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    assert "needs the manifest.json of its export beside it" in refusal(file)


@pytest.mark.sycl
def test_what_is_read(images: dict[str, Path]) -> None:
    image = read_image(images["cpu"])
    assert (image.kind, image.encoding, image.entry_point) == ("cpu", "ancestor", "ancestor_chain_steps")
    assert dict(image.constants) == CAPACITY


# ---- cached images of cards


@pytest.fixture
def own_image(vendor_image: Path, own_cache: Path) -> Path:
    """Return the vendor's image, with the digest of this syclade's kernels in its manifest."""
    manifest = vendor_image.parent / "manifest.json"
    report = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(report | {"sources": exported_kernel().kernel.sources}))
    return vendor_image


@pytest.mark.sycl
@pytest.mark.usefixtures("_card")
def test_auto_takes_a_card_whose_image_is_cached(
    own_image: Path, ordinary: syclade.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run uses the cached copy; the original file is deleted."""
    syclade.infer(CASE.values, image=own_image, **SETTINGS)
    own_image.unlink()
    for wanted in ("auto", "fpga", "opencl:accelerator:0"):
        found = syclade.infer(CASE.values, device=wanted, **SETTINGS)
        assert [(one.kernel, one.executor.filter) for one in found.work] == [
            ("image", "opencl:accelerator:0")
        ]
        np.testing.assert_array_equal(found.parents, ordinary.parents)
    monkeypatch.setattr(opening, "list_devices", lambda: [NUMPY])
    assert syclade.infer(CASE.values, **SETTINGS).work[0].kernel != "image", "no card is listed"


@pytest.mark.sycl
@pytest.mark.usefixtures("_card")
@pytest.mark.parametrize("why", ["too small", "other device", "other kernels", "no driver takes it"])
def test_a_cached_image_that_will_not_do_is_passed_over(
    own_image: Path, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    syclade.infer(CASE.values, image=own_image, **SETTINGS)
    (kept,) = cached_images()
    manifest = kept.parent / "manifest.json"
    if why == "other kernels":
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sources": "others"}))
    if why == "no driver takes it":
        kept.write_bytes(b"\x7fELF" + bytes(500))
    values = Case(64, 20).values if why == "too small" else CASE.values
    device = "cpu" if why == "other device" else "auto"
    found = syclade.infer(values, device=device, **SETTINGS)
    assert {one.executor.kind for one in found.work} == {"cpu"}
    assert ("falling back from opencl:accelerator:0" in caplog.text) == (why == "no driver takes it")


@pytest.mark.sycl
def test_images_of_other_devices_are_not_kept(images: dict[str, Path], own_cache: Path) -> None:
    syclade.infer(CASE.values, image=images["cpu"], **SETTINGS)
    assert cached_images() == []


def test_a_cached_image_that_vanishes_is_passed_over(own_cache: Path) -> None:
    """Another process may remove a file between the listing and the look at its age."""
    folder = own_cache / "images" / "a"
    folder.mkdir(parents=True)
    (folder / "gone.image").symlink_to(folder / "nowhere")
    (folder / "kept.image").write_bytes(b"")
    assert cached_images() == [folder / "kept.image"]


@pytest.mark.sycl
def test_no_image_is_made_without_the_drivers_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl, "binary_of", lambda _program: b"")
    kernel, queue = exported_kernel(), prepare().SyclQueue(choose_device("cpu").filter)
    module = exported_module(queue, kernel)
    with pytest.raises(DeviceError, match="does not return the compiled kernel"):
        make_image(queue, "cpu", "ancestor", kernel.kernel, module)
