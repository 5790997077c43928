"""Resampling of a matrix: replicates with cells, or mutations, drawn with replacement (the bootstrap).

Source: Felsenstein, "Confidence limits on phylogenies: an approach using the bootstrap", Evolution 39, 1985,
who draws characters; here these are the mutations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["AXES", "Replicate", "Resampling", "draws_of", "replicate_of", "resampled"]

AXES = ("cells", "mutations")


class Resampling(NamedTuple):
    """How replicates of a matrix are drawn.

    Attributes:
        axis: what is drawn, one of `AXES`.
        replicates: number of replicates.
        seed: seed of the draws, 0 … 2^64-1.
    """

    axis: str
    replicates: int
    seed: int


class Replicate(NamedTuple):
    """A replicate's tree as a statement about the mutations of the matrix.

    Attributes:
        parents: int32, shape (n,): parent of each mutation, n for the root; -1 for mutations that were not
            drawn.
        above: bool, shape (n, n): whether the row's mutation is a proper ancestor of the column's; False
            where one was not drawn.
        drawn: bool, shape (n,): whether each mutation was drawn.
    """

    parents: NDArray[np.int32]
    above: NDArray[np.bool_]
    drawn: NDArray[np.bool_]


def draws_of(resampling: Resampling, number: int, size: int) -> NDArray[np.int64]:
    """Return the indices that a replicate draws: int64, shape (size,), entries 0 … size-1.

    They are the upper halves of Philox words of (seed, number), scaled; so they are the same with every
    version of numpy, and replicates do not depend on each other.

    Args:
        resampling: how they are drawn.
        number: number of the replicate.
        size: number of cells, or of mutations.
    """
    words = np.random.Philox(key=[resampling.seed, number]).random_raw(size)
    return ((words >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)


def resampled(values: NDArray[np.uint8], axis: str, draws: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the matrix of a replicate: the drawn columns (cells) or rows (mutations), in their order.

    Args:
        values: uint8, shape (n, m).
        axis: one of `AXES`.
        draws: int64: indices of columns, or of rows.
    """
    return np.ascontiguousarray(values[:, draws] if axis == "cells" else values[draws])


def replicate_of(parents: NDArray[np.int32], axis: str, draws: NDArray[np.int64]) -> Replicate:
    """Return what a replicate's tree says about the mutations of the matrix.

    Of several copies of a mutation, only the first that was drawn counts: copies have equal rows, so which of
    them is where is arbitrary. Nodes of other copies are left out; what is below them is then below the next
    node above.

    Args:
        parents: int32, shape (n + 1,): the replicate's tree; its nodes are the drawn rows.
        axis: one of `AXES`.
        draws: int64, shape (n,): the drawn rows, if mutations were drawn.
    """
    n = len(parents) - 1
    rows = np.full(n, -1, dtype=np.int64)  # node of each mutation
    if axis == "cells":
        rows[:] = np.arange(n)
    else:
        rows[draws[::-1]] = np.arange(n)[::-1]  # the last assignment is that of the first copy
    drawn = rows >= 0
    mutation = np.full(n + 1, -1, dtype=np.int32)  # mutation of each node; -1 for nodes that are left out
    mutation[rows[drawn]] = np.flatnonzero(drawn)
    mutation[n] = n
    upper = np.full(n, -1, dtype=np.int32)
    for one in np.flatnonzero(drawn).tolist():
        node = parents[rows[one]]
        while mutation[node] < 0:
            node = parents[node]
        upper[one] = mutation[node]
    ancestors = ancestor_matrix(parents)[:n, :n].astype(np.bool_)
    above = ancestors[np.ix_(rows, rows)] & drawn[:, None] & drawn[None, :]
    np.fill_diagonal(above, False)
    return Replicate(upper, above, drawn)
