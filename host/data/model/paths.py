"""Observed values on the paths from the root of a tree, for all nodes and a block of columns at once.

Arrays over all nodes and all cells of a large matrix fit into no cache of a processor; those of a block do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.tree import Level, levels_of, preorder

__all__ = [
    "Walk",
    "blocks_of",
    "column_counts",
    "counts_on_paths",
    "distinct_rows",
    "first_best",
    "summed_over_nodes",
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

_SMALL = 1e-150
"""Sums above this and below its inverse have all their digits."""

_AT_ONCE = 2**19
"""Numbers that are worked on at once: they stay in a fast cache."""


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


def summed_over_nodes(
    values: NDArray[np.uint8],
    multiplicity: NDArray[np.int64],
    tree: NDArray[np.int32],
    log_shares: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Σ over cells of log Σ over nodes of share · exp(weights · counts): float64, shape (points,).

    Args:
        values: uint8, shape (mutations, columns): observed values; 0 and 1 count.
        multiplicity: int64, shape (columns,): number of cells of each column.
        tree: int32, shape (mutations + 1,).
        log_shares: float64, of the same shape.
        weights: float64, shape (points, 2): weights of an observed 0 and 1 on the path to a node.
    """
    zeros, ones = _path_counts(values, tree)
    most = ones.max(axis=0)
    shape = int(zeros.max()) + 1, int(most.max()) + 1
    powers = [
        np.exp(np.multiply.outer(np.arange(size), weight))
        for size, weight in zip(shape, (weights[:, 0], -weights[:, 1]), strict=True)
    ]
    shares = np.exp(log_shares)
    step = max(1, _AT_ONCE // (shape[0] * max(shape[1], len(weights))))
    total = np.zeros(len(weights))
    for first in range(0, len(most), step):
        some = slice(first, first + step)
        kinds = zeros[:, some] * shape[1] + (most[some] - ones[:, some])
        sums = _summed_by_kind(kinds, shares, powers)
        if not (float(sums.min()) > _SMALL and float(sums.max()) < 1.0 / _SMALL):
            total += _summed_directly(zeros[:, some], ones[:, some], log_shares, weights, multiplicity[some])
            continue
        logs = np.log(sums) + np.multiply.outer(most[some], weights[:, 1])
        total += multiplicity[some] @ logs
    return total


def _summed_by_kind(
    kinds: NDArray[np.int64], shares: NDArray[np.float64], powers: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return sums over nodes, of which those with equal counts are together: float64, (columns, points).

    Args:
        kinds: int64, shape (nodes, columns): number of the counts of a node.
        shares: float64, shape (nodes,).
        powers: factors of each count of zeros, and of each count of ones: float64, shape (counts, points).
    """
    (first, points), second, columns = powers[0].shape, len(powers[1]), kinds.shape[1]
    places = kinds + np.arange(columns) * (first * second)
    weights = np.broadcast_to(shares[:, None], kinds.shape)
    together = np.bincount(places.ravel(), weights=weights.ravel(), minlength=columns * first * second)
    found = (together.reshape(-1, second) @ powers[1]).reshape(columns, first, points)
    found *= powers[0]
    return np.asarray(found.sum(axis=1))


def _summed_directly(
    zeros: NDArray[np.int64],
    ones: NDArray[np.int64],
    log_shares: NDArray[np.float64],
    weights: NDArray[np.float64],
    multiplicity: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the sums of `summed_over_nodes` for columns whose products may leave the range of numbers."""
    found = np.zeros(len(weights))
    for at, (of_zero, of_one) in enumerate(weights.tolist()):
        logs = of_zero * zeros + of_one * ones + log_shares[:, None]
        best = logs.max(axis=0)
        found[at] = (np.log(np.exp(logs - best).sum(axis=0)) + best) @ multiplicity
    return found


def _path_counts(
    values: NDArray[np.uint8], tree: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often 0, and how often 1, is on the path to each node: int64, (nodes, columns) each."""
    zeros, ones = (np.zeros((len(tree), values.shape[1]), dtype=np.int64) for _ in range(2))
    zeros[:-1], ones[:-1] = values == 0, values == 1
    for level in _levels(tree.astype(np.int32, copy=False).tobytes()):
        for counts in (zeros, ones):
            counts[level.nodes] += counts[level.parents]
    return zeros, ones


@lru_cache(maxsize=1024)
def _levels(tree: bytes) -> tuple[Level, ...]:
    """Return the levels of a tree, of int32: sampled trees repeat, and all are counted for each grid."""
    return tuple(levels_of(np.frombuffer(tree, dtype=np.int32)[None]))
