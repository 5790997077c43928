"""A matrix from standard input, and from streams in Python."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import syclade
from syclade.host.ground.errors import MatrixError
from tests.conftest import ROOT

EXAMPLE = ROOT / "host" / "data" / "example"
MATRIX, TREE = EXAMPLE / "matrix.csv", EXAMPLE / "true_tree.newick"
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
QUICK = [*RATES, "--chains", "2", "--steps", "60", "--device", "numpy"]


def piped(given: bytes, *arguments: object) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "syclade", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_infer_reads_standard_input(tmp_path: Path) -> None:
    given, options = MATRIX.read_bytes(), [*QUICK, "--quiet", "--names", EXAMPLE / "matrix.geneNames"]
    status, from_pipe, report = piped(given, "infer", "-", *options, "--out", tmp_path)
    assert status == 0
    assert piped(b"", "infer", MATRIX, *options) == (0, from_pipe, report)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert json.loads((tmp_path / "run.json").read_text())["matrix"] == "<stdin>"
    assert summary["matrix_sha256"] == hashlib.sha256(given).hexdigest()


def test_score_reads_standard_input() -> None:
    options = ["--names", EXAMPLE / "matrix.geneNames", *RATES]
    expected = piped(b"", "score", MATRIX, TREE, *options)
    assert expected[0] == 0
    assert piped(MATRIX.read_bytes(), "score", "-", TREE, *options) == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (b"0 1\r\n1 2\r\n", "<stdin>:2: row 2, cell 2 is 2, a homozygous mutation"),
        (b"0 1\n\n0 1\n", "<stdin>:2: blank line between rows"),
        (b"0 1\n1\n", "<stdin>:2:2: row 2 has 1 values"),
        (b"", "<stdin>: the file is empty"),
        (b"0\0", "<stdin>:1: the file is binary"),
    ],
)
def test_errors_say_where(given: bytes, error: str) -> None:
    status, printed, report = piped(given, "infer", "-", *QUICK)
    assert (status, printed) == (2, "")
    assert f"\nsyclade: error: {error}" in f"\n{report}"  # notes on the matrix may come before


@pytest.mark.skipif(os.name == "nt", reason="closes a descriptor as a shell does")
def test_no_standard_input() -> None:
    command = f'"{sys.executable}" -m syclade infer - {" ".join(QUICK)} <&-'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr


def test_streams() -> None:
    """Read streams of bytes and of text, with and without a name."""
    expected = syclade.read_matrix(MATRIX).values.tolist()
    with MATRIX.open("rb") as stream:
        made = syclade.read_matrix(stream)
    assert (made.values.tolist(), made.source) == (expected, str(MATRIX))
    assert syclade.read_matrix(io.StringIO(MATRIX.read_text())).values.tolist() == expected
    with pytest.raises(MatrixError, match=r"^<stream>:1:3: 'x'"):
        syclade.infer(io.BytesIO(b"0 x"), fp_rate=0.1, fn_rate=0.1)


def test_streams_that_cannot_be_read(tmp_path: Path) -> None:
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(MatrixError, match=r"cannot be read: .*closed"):
        syclade.read_matrix(closed)
    with (tmp_path / "file").open("wb") as writing, pytest.raises(MatrixError, match="cannot be read"):
        syclade.read_matrix(writing)
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xff")
    with (tmp_path / "latin").open(encoding="utf-8") as text, pytest.raises(MatrixError, match="utf-8"):
        syclade.read_matrix(text)
