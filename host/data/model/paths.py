"""Observed values on the paths from the root of a tree, for all nodes and a block of columns at once.

Arrays over all nodes and all cells of a large matrix fit into no cache of a processor; those of a block do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import preorder

__all__ = [
    "Walk",
    "blocks_of",
    "column_counts",
    "counts_on_paths",
    "distinct_rows",
    "first_best",
    "value_counts",
    "walk_of",
]

_ENTRIES, _LEAST, _MOST = 2**20, 64, 1024
"""Entries of a block, and its least and most columns."""

_PIECE = 2**16
"""Values of which indices are made at once."""

_FEW_KINDS = 8

_ROWS = 255
"""Rows whose sum of flags fits into a byte."""


AnyNumber = TypeVar("AnyNumber", bound=np.integer[Any])


class Walk(NamedTuple):
    """The nodes of a tree in preorder.

    Attributes:
        order: int32, shape (nodes,): the nodes, the root first.
        above: for each place in that order but the first, the place of the node's parent.
    """

    order: NDArray[np.int32]
    above: list[int]


def walk_of(tree: NDArray[np.int32]) -> Walk:
    """Return the nodes of a tree, int32, shape (nodes,), a valid parent vector, in preorder."""
    order = preorder(tree)
    place_of = np.empty(len(tree), dtype=np.int64)
    place_of[order] = np.arange(len(tree))
    return Walk(order, place_of[tree[order[1:]]].tolist())


def blocks_of(columns: int, nodes: int) -> Iterator[slice]:
    """Yield blocks of columns of about equal size; of one column only if there is no other.

    numpy adds up the rows of a single column in another order than those of several.
    """
    width = max(_LEAST, min(_MOST, _ENTRIES // nodes))
    blocks = -(-columns // width)
    for block in range(blocks):
        yield slice(block * columns // blocks, (block + 1) * columns // blocks)


def counts_on_paths(values: NDArray[np.uint8], walk: Walk, kinds: int) -> NDArray[Any]:
    """Return how often each value is on the path to each node.

    Args:
        values: uint8, shape (nodes - 1, columns), by the node's number.
        walk: the nodes.
        kinds: number of values that are counted: 0 ... kinds - 1.

    Returns:
        Unsigned integers, shape (kinds, nodes, columns), nodes in preorder.
    """
    kind = np.min_scalar_type(len(walk.order))
    counts = np.zeros((kinds, len(walk.order), values.shape[1]), kind)
    for value, sums in enumerate(counts):
        seen = (values == value).astype(kind)
        if seen.any():
            for place, (node, above) in enumerate(zip(walk.order[1:].tolist(), walk.above, strict=True), 1):
                np.add(sums[above], seen[node], out=sums[place])
    return counts


def first_best(scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the highest score of each column, and the first place that has it.

    Args:
        scores: shape (places, columns). `argmax` takes twice as long along the first axis.
    """
    best = scores.max(axis=0)
    return best, (scores == best).argmax(axis=0)


def column_counts(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of flags that are set in each column: int64, shape (columns,)."""
    counts = np.zeros(flags.shape[1], dtype=np.int64)
    for first in range(0, len(flags), _ROWS):
        counts += np.add.reduce(flags[first : first + _ROWS].view(np.uint8), axis=0, dtype=np.uint8)
    return counts


def value_counts(values: NDArray[np.uint8], kinds: int) -> NDArray[np.int64]:
    """Return how often each value occurs: int64, shape (kinds,).

    `bincount` makes an index of 8 bytes of each value, so it gets some at a time, and few kinds are compared.

    Args:
        values: uint8, C-contiguous; below `kinds`.
        kinds: number of values.
    """
    counts = np.zeros(kinds, dtype=np.int64)
    flat = values.reshape(-1)
    for first in range(0, flat.size, _PIECE):
        piece = flat[first : first + _PIECE]
        if kinds <= _FEW_KINDS:
            counts += [np.count_nonzero(piece == kind) for kind in range(kinds)]
        else:
            counts += np.bincount(piece, minlength=kinds)
    return counts


def distinct_rows(
    rows: NDArray[AnyNumber],
) -> tuple[NDArray[AnyNumber], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows in the order of their bytes, that of each row, and the number of each.

    As bytes, rows are compared ten times as fast as by numpy's `axis`, which compares number by number.

    Args:
        rows: numbers of which equal ones have equal bytes, C-contiguous, shape (rows, columns), one of each
            at least.

    Returns:
        The distinct rows; int64, shape (rows,); int64, shape (distinct rows,).
    """
    kinds, kind_of, counts = np.unique(
        rows.view(f"V{rows.shape[1] * rows.itemsize}").reshape(-1), return_inverse=True, return_counts=True
    )
    # The inverse is two-dimensional in numpy 2.0.
    return kinds.view(rows.dtype).reshape(len(kinds), rows.shape[1]), kind_of.reshape(-1), counts
