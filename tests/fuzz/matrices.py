"""Matrix files and arrays: an accepted input gives a matrix and a problem, and has a score."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from syclade.host.data.input.matrix import Matrix, format_matrix, matrix_from_array
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.assignment import attach
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from tests.fuzz.damage import damaged, soup

__all__ = ["Matrices"]

RATES = Rates(0.01, 0.2, 0.1, 0.001)
PIECES = (
    b"0",
    b"1",
    b"3",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"2",
    b"-",
    b"x",
    b"\xff",
    b"0 1\n",
    b"NA",
    b"0.5",
    b",",
)
ENTRIES: tuple[Any, ...] = (
    0, 1, 3, 2, -1, 0.0, 1.5, float("nan"), float("inf"), True, None, "1", "", b"0", 10**30, 1j, [], [0], {},
    (1,), np.int8(1), np.float32(3), np.datetime64("NaT"), object(),
)  # fmt: skip
TYPES = (
    "bool",
    "int8",
    "uint8",
    "int64",
    "uint64",
    "float16",
    "float64",
    "complex64",
    "O",
    "U1",
    "S1",
    "M8[s]",
)


class Matrices:
    """Inputs of this kind: bytes for a file, anything else for an array."""

    name = "matrices"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "matrix.csv"

    def make(self, draw: Random) -> Any:
        """Return mostly a damaged file, else pieces in random order or an object that may be an array."""
        way = draw.randrange(10)
        if way == 0:
            return soup(PIECES, draw)
        if way == 1:
            return [
                draw.choices(ENTRIES[: draw.choice((3, 6, 24))], k=draw.randint(0, 3))
                for _ in range(draw.randint(0, 3))
            ]
        if way == 2:
            shape = tuple(draw.choices((0, 1, 2, 3), k=draw.choice((0, 1, 2, 2, 2, 3))))
            made = np.array(draw.choices((0, 1, 3, 3.0, 2), k=int(np.prod(shape)))).reshape(shape)
            return made.astype(draw.choice(TYPES))
        values = np.array(draw.choices(draw.choice(((0, 1, 3), (0, 1, 2, 3))), k=30), np.uint8).reshape(
            draw.choice(((5, 6), (30, 1), (1, 30)))
        )
        return damaged(format_matrix(values).encode(), draw)

    def take(self, given: Any) -> None:
        """Read the matrix, make the problem, and score the star tree."""
        if isinstance(given, bytes):
            self._file.write_bytes(given)
            matrix = read_matrix(self._file)
        else:
            matrix = matrix_from_array(given)
        assert set(np.unique(matrix.values).tolist()) <= {0, 1, 2, 3}
        _score(matrix)


def _score(matrix: Matrix) -> None:
    star = np.full(matrix.n_mutations + 1, matrix.n_mutations, np.int32)
    cells = attach(make_problem(matrix, RATES), RATES, star)
    assert cells.node.shape == (matrix.n_cells,)
    np.testing.assert_allclose(cells.log_likelihood.sum(), log_likelihood(matrix, RATES, star), rtol=1e-6)
