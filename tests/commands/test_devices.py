"""`syclade devices` does not offer a compiler that does not import."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from syclade.host.commands import devices
from syclade.host.commands.devices import kernel_origin, sycl_compiler_problem
from syclade.host.device.device import NUMPY, Device, native_device

CPU = Device("opencl:cpu:0", "Some CPU", "cpu", 2)


@pytest.fixture(autouse=True)
def _nothing_known(own_cache: Path) -> None:
    sycl_compiler_problem.cache_clear()


def broken(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Put a broken numba-dpex before the real one, for processes that start afterwards."""
    (folder / "numba_dpex").mkdir()
    (folder / "numba_dpex" / "__init__.py").write_text(source)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", paths.rstrip(os.pathsep))


@pytest.mark.sycl
def test_a_compiler_that_imports_is_offered_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "; others by numba-dpex 0.23.0" in kernel_origin(CPU)
    sycl_compiler_problem.cache_clear()
    monkeypatch.setattr(devices, "_tried", lambda: pytest.fail("it was tried again"))
    begun = time.perf_counter()
    assert sycl_compiler_problem() is None
    assert time.perf_counter() - begun < 0.5


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise AttributeError('numpy has no bool8')", "numba-dpex does not import: numpy has no bool8"),
        ("import os; os.kill(os.getpid(), 11)", "numba-dpex does not import: the process ends with -11"),
        ("import sys; sys.exit('no licence')", "numba-dpex does not import: no licence"),
    ],
)
def test_a_compiler_that_does_not_import_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, reason: str
) -> None:
    broken(tmp_path, monkeypatch, source)
    report = kernel_origin(CPU)
    assert report.endswith(f"; no others: {reason}")
    assert "others by" not in report
    sycl_compiler_problem.cache_clear()
    monkeypatch.undo()  # a failure is not remembered
    assert sycl_compiler_problem() is None


def test_a_compiler_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syclade.host.ground.packages.version_of", lambda _name: None)
    assert kernel_origin(CPU).endswith("no others: numba-dpex is not installed")


def test_what_needs_no_compiler() -> None:
    assert kernel_origin(NUMPY) == "none needed"
    assert "others by numba " in kernel_origin(native_device())
    assert kernel_origin(Device("opencl:gpu:0", "a GPU", "gpu", 1, reason="it is tired")) == ""
