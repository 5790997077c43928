"""Files without an end, or without line ends: refused quickly, with a message."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.checkpoints.chains import read_checkpoint
from syclade.host.data.input import source
from syclade.host.data.input.names import read_names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.trees.tree import validate_parents
from syclade.host.data.trees.treefile import read_tree
from syclade.host.device.compile.image_files import read_image
from syclade.host.ground import limits
from syclade.host.ground.errors import CheckpointError, DeviceError, MatrixError, SycladeError, TreeError
from syclade.host.ground.limits import read_bounded
from tests.support.backends import Case

endless = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")

READERS: dict[str, tuple[Callable[[Path], Any], type[SycladeError], str]] = {
    "matrix": (read_matrix, MatrixError, "binary, not text"),
    "names": (read_names, MatrixError, "binary, not text"),
    "tree": (lambda path: read_tree(path, ("a", "b")), TreeError, "binary, not text"),
    "image": (read_image, DeviceError, "this is not an image"),
    "checkpoint": (
        lambda path: read_checkpoint(path, Case(3, 4).plan(), 1),
        CheckpointError,
        "no regular file",
    ),
}


@endless
@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", READERS)
def test_a_file_of_zeros_without_an_end(what: str) -> None:
    read, error, words = READERS[what]
    with pytest.raises(error, match=words):
        read(Path("/dev/zero"))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no names there")
@pytest.mark.timeout(60)
def test_a_text_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 2**23)
    os.mkfifo(tmp_path / "pipe")
    writes = ["sh", "-c", f"yes '0 1 0' > '{tmp_path / 'pipe'}'"]
    with (
        subprocess.Popen(writes, stderr=subprocess.DEVNULL),
        pytest.raises(MatrixError, match="cannot be read: it has more than 8 MiB"),
    ):
        read_matrix(tmp_path / "pipe")


@endless
@pytest.mark.timeout(20)
def test_streams_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read streams of bytes and of text, with the same bounds as files."""
    with Path("/dev/zero").open("rb") as zeros, pytest.raises(MatrixError, match="binary, not text"):
        read_matrix(zeros)
    with Path("/dev/zero").open(encoding="utf-8") as zeros, pytest.raises(MatrixError, match="binary"):
        read_matrix(zeros)
    monkeypatch.setattr(limits, "MOST_BYTES", 2**20)
    with pytest.raises(MatrixError, match=r"^<stream>: cannot be read: it has more than 1 MiB"):
        read_matrix(io.StringIO("0 1\n" * 2**20))


@pytest.mark.parametrize("before", [b"", b"0 1\n0 1\r\n"])
def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes) -> None:
    monkeypatch.setattr(source, "MOST_LINE", 2**20)
    path = tmp_path / "matrix"
    path.write_bytes(before + b"0 " * 2**20)
    with pytest.raises(MatrixError, match="the line has more than 1 MiB") as caught:
        read_matrix(path)
    assert caught.value.line == (3 if before else 1)


def test_long_files_of_short_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cross the boundaries of the blocks in which files are read."""
    monkeypatch.setattr(source, "MOST_LINE", 2**10)
    values = np.random.default_rng(1).choice([0, 1, 3], (5000, 300)).astype(np.uint8)
    path = tmp_path / "matrix"
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in values.tolist()))
    assert path.stat().st_size > 2 * 2**20
    np.testing.assert_array_equal(read_matrix(path).values, values)


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1])
def test_bounded_files(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    path.write_bytes(content)
    assert read_bounded(path, size) == content
    if size:
        with pytest.raises(OSError, match="it has more than"):
            read_bounded(path, size - 1)


# ---- short error messages


def test_a_long_cycle_is_not_printed_whole() -> None:
    nodes = 100_000
    parents = np.append((np.arange(nodes) + 1) % nodes, nodes)
    with pytest.raises(
        TreeError, match=r"^these nodes form a cycle: \d+ -> .* more \.\.\. -> \d+$"
    ) as caught:
        validate_parents(parents)
    assert len(str(caught.value)) < 200


def test_a_long_cycle_in_a_file(tmp_path: Path) -> None:
    names = tuple(f"m{number}" for number in range(2000))
    edges = "".join(f"{a} -> {b};\n" for a, b in zip(names, [*names[1:], names[0]], strict=True))
    (tmp_path / "tree.gv").write_text(f"digraph {{\n{edges}}}\n")
    with pytest.raises(TreeError, match=r"form a cycle: 'm.*1992 more") as caught:
        read_tree(tmp_path / "tree.gv", names)
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("length", "words"), [(1000, "occurs twice, for mutations 1 and 2"), (10**6, "has 1000000 characters")]
)
def test_a_name_as_long_as_a_file(tmp_path: Path, length: int, words: str) -> None:
    (tmp_path / "names").write_text(f"{'x' * length}\n{'x' * length}\n")
    with pytest.raises(MatrixError, match=words) as caught:
        read_names(tmp_path / "names")
    assert len(str(caught.value)) < 300 + len(str(tmp_path))
