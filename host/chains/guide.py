"""Guides: tables of promising proposals for the guided moves of a chain (kernels/moves/guide.py).

A guide is learned from sampled trees and does not change while later samples count, so that these are of the
posterior: for every guide, the guided moves fulfil detailed balance (docs/model.md, "Guided moves").
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.moves.guide import LEAST_BITS, LONGER_ABOVE, MORE_BITS, NEVER, UPPER_BITS

__all__ = ["guide_entries", "guide_from", "make_guide", "uniform_guide"]

_OF_TREES = 9
"""Share of the entries of a mutation that follow the sampled trees, in tenths; the other tenth is uniform."""

Counts = NDArray[np.int64]


def guide_entries(mutations: int) -> int:
    """Return the length of a table of proposals for so many mutations."""
    return 1 << LEAST_BITS + MORE_BITS * sum(mutations > above for above in LONGER_ABOVE)


def uniform_guide(mutations: int, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return a guide that prefers nothing; see `make_guide`."""
    pairs = np.ones((mutations, mutations + 1), dtype=np.int64)
    return make_guide(pairs, pairs[:, :mutations], unit, gamma)


def guide_from(edges: Counts, often: Counts, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that proposes what sampled trees have.

    A mutation moves below a parent as often as the edge is in the trees, or, once in ten, below any node: in
    a place without entries, it would not move again. Two mutations swap by the root of the probability that
    they have the same parent in two independent trees, or are parent and child in one.

    Args:
        edges: int64, shape (n, n + 1): number of trees with each parent (column) of each mutation; the sum
            of a row, the number of trees, is below 2^17.
        often: int64, shape (n,), from 1 to 2^8: how often to propose each mutation; a swap as often as the
            geometric mean of its two.
        unit, gamma: as for `make_guide`.
    """
    mutations, trees = len(edges), int(edges[0].sum())
    counts = edges.astype(np.float64)  # products of whole numbers below 2^53 are exact in any order
    related = counts[:, :mutations] + counts[:, :mutations].T
    alike = counts @ counts.T + trees * related
    swaps = np.floor(np.sqrt(alike * np.outer(often, often))).astype(np.int64)
    return make_guide(often[:, None] * (_OF_TREES * (mutations + 1) * edges + trees), swaps, unit, gamma)


def make_guide(edges: Counts, swaps: Counts, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return the tables of a guide, by argument name.

    Args:
        edges: int64, shape (n, n + 1), >= 0: weight of moving each mutation below each node.
        swaps: int64, shape (n, n), >= 0: weight of swapping two labels; entries above the diagonal count.
        unit: unit of scores, in nats.
        gamma: exponent of the likelihood.

    Returns:
        guide_edges, guide_logs, guide_swaps: int32.
    """
    mutations, width = edges.shape
    own = np.arange(width) != np.arange(mutations)[:, None]
    length = guide_entries(mutations)
    chosen = _entries((edges * own).ravel(), length)
    number = np.bincount(chosen, minlength=edges.size)
    logs = {count: round(math.log(count) / unit / gamma) for count in np.unique(number).tolist() if count}
    of_count = np.full(length + 1, NEVER, dtype=np.int32)
    of_count[list(logs)] = list(logs.values())
    first, second = np.triu_indices(mutations, 1)
    pairs = _entries(swaps[first, second], length) if len(first) else np.zeros(length, dtype=np.int64)
    first, second = (np.append(one, 0) for one in (first, second))  # one mutation has no pair
    return {
        "guide_edges": _packed(chosen // width, chosen % width),
        "guide_logs": of_count[number],
        "guide_swaps": _packed(first[pairs], second[pairs]),
    }


def _entries(weights: Counts, length: int) -> Counts:
    """Return so many indices, each as often as its weight demands, rounded up or down; ascending.

    Args:
        weights: int64, shape (k,), >= 0, with a sum from 1 to below 2^62.
        length: below 2^30.
    """
    ends = np.cumsum(weights)
    whole, rest = divmod(int(ends[-1]), 2 * length)
    middles = 2 * np.arange(length) + 1
    return np.asarray(np.searchsorted(ends, middles * whole + middles * rest // (2 * length), side="right"))


def _packed(first: Counts, second: Counts) -> NDArray[np.int32]:
    return np.asarray((first << UPPER_BITS) | second, dtype=np.int32)
