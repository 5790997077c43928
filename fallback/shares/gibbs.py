"""Likelihoods of cells at all nodes, and a draw of their nodes (the mirror of `kernels/shares/gibbs.py`).

Cells are in blocks, which stay in a fast cache. Powers of two are products of numbers from tables, and sums
are in the order of the nodes, so that bits are those of the kernels on every processor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["counts_at_nodes", "likelihoods_of", "nodes_of", "power_tables", "powers_of"]

Blocks = Sequence[NDArray[np.float64]]
"""Likelihoods of cells at nodes relative to the best ones, (nodes, trees, cells), in blocks of cells."""

_HALF, _WHOLE = 8, 16
"""Bits of half a fraction, of which there are tables, and of a whole one."""

_OCTAVES = 256
"""Entries of the table of octaves; a node so far below the best has no weight."""

_LONG_ROW = 96
"""Cells from which rows are added one by one."""


@cache
def power_tables() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return 2^-k for octaves, of which the last is 0, 2^-(k / 2^8) and 2^-(k / 2^16) for the parts.

    Square roots and products are rounded alike everywhere, which exponentials are not.
    """
    octaves = np.append(np.ldexp(1.0, -np.arange(_OCTAVES - 1)), 0.0)
    roots = [0.5]
    for _ in range(_WHOLE):
        roots.append(math.sqrt(roots[-1]))
    return octaves, _products(roots[1 : _HALF + 1]), _products(roots[_HALF + 1 :])


def _products(factors: Sequence[float]) -> NDArray[np.float64]:
    """Return the products of all subsets; the first factor is in the later half of them, and so on."""
    table = np.ones(1)
    for factor in factors:
        table = np.outer(table, [1.0, factor]).ravel()
    return table


def powers_of(gaps: NDArray[np.int64], fraction: int) -> NDArray[np.float64]:
    """Return 2^-gap for gaps in units of 2^-fraction octave, int64, at least 0; float64 of the same shape."""
    octaves, upper, lower = power_tables()
    fine = gaps << (_WHOLE - fraction)
    powers = octaves.take(fine >> _WHOLE, mode="clip")
    powers *= upper.take((fine >> _HALF) & (2**_HALF - 1))
    powers *= lower.take(fine & (2**_HALF - 1))
    return powers


def likelihoods_of(scores: NDArray[np.int32], fraction: int, cells: Sequence[NDArray[np.int32]]) -> Blocks:
    """Return likelihoods relative to those at the best nodes.

    Args:
        scores: int32, (nodes, trees, columns), in units of 2^-fraction octave.
        fraction: bits of a fraction.
        cells: the column of each cell, in blocks.
    """
    of_columns = powers_of((scores.max(axis=0) - scores).astype(np.int64), fraction)
    return tuple(of_columns.take(block, axis=2) for block in cells)  # rows are contiguous


def counts_at_nodes(
    cells: Blocks, shares: NDArray[np.float64], numbers: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the number of cells at each node, (trees, nodes), after a draw of each cell's node.

    Args:
        cells: likelihoods, in blocks of cells.
        shares: float64, (trees, nodes).
        numbers: uniform numbers, float64, (trees, cells).
    """
    trees, nodes = shares.shape
    beyond = np.zeros((nodes + 1, trees), dtype=np.int64)
    beyond[0] = numbers.shape[1]
    for passed in _passed(cells, shares, numbers):
        beyond[1:-1] += _true_along(passed, 2)
    return np.ascontiguousarray((beyond[:-1] - beyond[1:]).T)


def nodes_of(cells: Blocks, shares: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw the node of each cell, int64, (trees, cells); arguments as for `counts_at_nodes`."""
    found = [_true_along(passed, 0) for passed in _passed(cells, shares, numbers)]
    return np.asarray(np.concatenate(found, axis=1), dtype=np.int64)


def _passed(
    cells: Blocks, shares: NDArray[np.float64], numbers: NDArray[np.float64]
) -> Iterator[NDArray[np.bool_]]:
    """Draw the node of each cell, and yield for each block the nodes before it: (nodes - 1, trees, cells)."""
    first = 0
    for likelihoods in cells:
        end = first + likelihoods.shape[2]
        ends = _sums_over_nodes(likelihoods * shares.T[:, :, None])
        yield ends[:-1] <= numbers[:, first:end] * ends[-1]
        first = end


def _true_along(passed: NDArray[np.bool_], axis: int) -> NDArray[np.int64]:
    """Return how many are true, in a third of the time of `count_nonzero`."""
    narrow = np.uint16 if passed.shape[axis] < 2**16 else np.uint32
    return np.asarray(passed.view(np.uint8).sum(axis=axis, dtype=narrow), dtype=np.int64)


def _sums_over_nodes(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative sums over the nodes, (nodes, trees, cells), in place of the terms."""
    if terms[0].size < _LONG_ROW:
        return terms.cumsum(axis=0)
    for before, here in pairwise(terms.reshape(len(terms), -1)):  # cumsum takes five times as long
        here += before
    return terms
