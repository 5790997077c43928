"""Fallback of `auto`: when its first device cannot run, it takes the next one and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from syclade.host.chains.backends import opening
from syclade.host.chains.backends.opening import ChainsToOpen, open_runner
from syclade.host.device import choice
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from tests.support.backends import Case

CPU = Device("opencl:cpu:0", "Some CPU", "cpu", 2)

# Simulate a stack with incompatible versions: some of its packages do not import, or compile nothing.
PROGRAM = """
import sys
from importlib import import_module
broken, *arguments = sys.argv[1:]
class Breaks:
    def find_spec(self, name, path=None, target=None):
        if name in broken.split(","):
            raise AttributeError(f"module 'numpy' has no attribute that {name} wants")
sys.meta_path.insert(0, Breaks())
if "compiling" in broken:
    def fail(*_):
        raise ValueError("this does not compile")
    import syclade.host.device.workarounds.compiler as compiler
    compiler.register_numba_implementations = fail
sys.argv = ["syclade", *arguments]
from syclade.__main__ import main
main()
"""


def infer(broken: str, device: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run `syclade infer` in a new process."""
    matrix = cache.parent / "matrix"
    matrix.write_text("0 1 1\n1 0 1\n")
    options = ["--fp-rate", "0.01", "--fn-rate", "0.1", "--chains", "2", "--steps", "5", "--device", device]
    command = [sys.executable, "-c", PROGRAM, broken, "infer", str(matrix), *options, "--quiet"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.sycl
@pytest.mark.parametrize(
    "broken", [pytest.param("numba_dpex", marks=pytest.mark.verification), "compiling", "numba_dpex,numba"]
)
def test_without_a_compiler_the_kernels_of_the_package_run(own_cache: Path, broken: str) -> None:
    for device in ("auto", "cpu"):
        done = infer(broken, device, own_cache)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) < 0
        assert "falling back" not in done.stderr


@pytest.mark.sycl
def test_auto_goes_on_without_a_stack_that_is_broken(own_cache: Path) -> None:
    reason = "dpctl does not import: module 'numpy' has no attribute"
    done = infer("dpctl", "auto", own_cache)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0
    assert "syclade: warning: falling back to native: " in done.stderr
    assert reason in done.stderr
    done = infer("dpctl", "cpu", own_cache)
    assert (done.returncode, done.stdout) == (2, "")
    assert "syclade: error: " in done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.sycl
def test_auto_goes_on_in_numpy_where_numba_is_broken_too(own_cache: Path) -> None:
    done = infer("dpctl,llvmlite", "auto", own_cache)
    assert done.returncode == 0, done.stderr
    assert "falling back to numpy, which is slower: native: llvmlite does not import" in done.stderr
    done = infer("llvmlite", "native", own_cache)
    assert (done.returncode, done.stdout) == (2, "")
    assert "syclade: error: llvmlite does not import" in done.stderr
    assert "pip install --force-reinstall '.[" in done.stderr


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the devices that a run tries to open: `auto` chooses the CPU, and no device opens."""
    tried: list[str] = []

    def fail(device: Device, *_: object, **__: object) -> None:
        tried.append(device.filter)
        raise DeviceError("it is tired")

    monkeypatch.setattr(opening, "choose_device", lambda wanted: NUMPY if wanted == "numpy" else CPU)
    monkeypatch.setattr(choice, "own_devices", lambda: [native_device(), NUMPY])
    monkeypatch.setattr(opening, "make_runner", fail)
    return tried


def test_the_order_in_which_auto_goes_on(opened: list[str]) -> None:
    with pytest.raises(DeviceError, match="it is tired"):
        open_runner("auto", ChainsToOpen(Case(3, 4).plan(), "auto", 1, None, None, 1))
    assert opened == ["opencl:cpu:0", "native", "numpy"]


@pytest.mark.parametrize("wanted", ["cpu", "numpy"])
def test_what_was_asked_for_is_not_replaced(opened: list[str], wanted: str) -> None:
    with pytest.raises(DeviceError, match="it is tired"):
        open_runner(wanted, ChainsToOpen(Case(3, 4).plan(), "auto", 1, None, None, 1))
    assert len(opened) == 1


def test_too_little_memory_is_not_a_broken_device(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DeviceMemoryError("no memory", hint="use fewer --slots")

    monkeypatch.setattr(opening, "make_runner", fail)
    with pytest.raises(DeviceMemoryError, match="fewer --slots"):
        open_runner("auto", ChainsToOpen(Case(3, 4).plan(), "auto", 1, None, 10**6, 1))
