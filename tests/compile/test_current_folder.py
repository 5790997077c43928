"""A current folder that was deleted: what needs no compiler runs, and a compiler says what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
PROGRAM = """
import os, sys
os.rmdir(os.getcwd())
from syclade.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a current folder cannot be deleted there")
@pytest.mark.parametrize(
    ("device", "status"), [("numpy", 0), ("native", 2), pytest.param("cpu", 2, marks=pytest.mark.sycl)]
)
def test_in_a_folder_that_was_deleted(own_cache: Path, tmp_path: Path, device: str, status: int) -> None:
    (tmp_path / "gone").mkdir()
    options = ["--fp-rate", "0.01", "--fn-rate", "0.1", "--device", device, "--steps", "10", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, "infer", str(MATRIX), *options],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    if status:
        assert "syclade: error: the current folder does not exist any more" in done.stderr
        assert "Traceback" not in done.stderr
