"""Labels of cells: damaged tables are refused with a message, and accepted ones label each cell."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.metadata import labels_of
from tests.fuzz.damage import damaged, soup

__all__ = ["Labels"]

CELLS = ("a", "b-1", "P:c", "β d")
GOOD = (
    b"cell\tsample\tday\na\tP\t1\nb-1\tP\t1\nP:c\tQ\t2\n", "Sample,barcode\nP,a\nP,b\nQ,β d\n".encode(),
    b"cell;sample\na;P\nc;Q\n", b'sample\n"a"\tP\n"b"\tQ\n',
)  # fmt: skip
PIECES = (
    b"\n", b"\n", b"\t", b"\t", b",", b";", b'"', b"a", b"b", b"b-1", b"c", b"P:", b"-1", b" ", b"cell",
    b"sample", b"barcode", b"day", b"1", b"NaN", b"\r", b"\xef\xbb\xbf", b"\xff", b"\0", b"\x1f\x8b",
)  # fmt: skip


class Labels:
    """Inputs of this kind: the bytes of a table, and whether its time points are asked for."""

    name = "labels"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "labels"
        self._matrix = Matrix(np.zeros((1, len(CELLS)), np.uint8), ("M",), "array", cells=CELLS)

    def make(self, draw: Random) -> tuple[bytes, bool]:
        """Return a damaged table, or pieces in random order."""
        text = soup(PIECES, draw) if draw.random() < 0.5 else damaged(draw.choice(GOOD), draw)
        return text, draw.random() < 0.3

    def take(self, given: tuple[bytes, bool]) -> None:
        """Read the labels; each cell has one of each column, and specimens are those of the cells."""
        text, timed = given
        self._file.write_bytes(text)
        found = labels_of(self._file, self._matrix, None, "day" if timed else None)
        assert found is not None
        assert all(len(texts) == len(CELLS) for texts in found.columns.values())
        if found.specimen is not None:
            assert set(found.specimens) == set(found.columns[found.specimen]) - {""}
            assert len(found.specimen_of) == len(CELLS)
