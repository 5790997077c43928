"""Deleted current folder: runs without a compiler work, and a compiler reports the missing folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

COMPILING = """
import os
os.rmdir(os.getcwd())
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.ground.errors import DeviceError
place = "syclade.kernels.search.stages:make_search"
part = {"stage": "syclade.kernels.search.starts:BY_COLUMNS"}
try:
    load_machine_code(Kernel("other", place, part, {"lanes": 16}, (), "sub-group", 16))
except DeviceError as error:
    print(error)
"""
MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
PROGRAM = """
import os, sys
os.rmdir(os.getcwd())
from syclade.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a current folder cannot be deleted there")
@pytest.mark.parametrize("device", ["numpy", "native", pytest.param("cpu", marks=pytest.mark.sycl)])
def test_in_a_folder_that_was_deleted(own_cache: Path, tmp_path: Path, device: str) -> None:
    """Precompiled kernels run there."""
    (tmp_path / "gone").mkdir()
    options = ["--fp-rate", "0.01", "--fn-rate", "0.1", "--device", device, "--steps", "10", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, "infer", str(MATRIX), *options],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0


@pytest.mark.skipif(sys.platform == "win32", reason="a current folder cannot be deleted there")
def test_a_compiler_in_a_folder_that_was_deleted(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMPILING],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("the current folder does not exist any more"), done.stderr
