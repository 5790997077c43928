"""Guides: tables of promising proposals for the guided moves of a chain (kernels/moves/guide.py).

A guide is learned from sampled trees and does not change while later samples count, so that these are of the
posterior: for every guide, the guided moves fulfil detailed balance (docs/model.md, "Guided moves").
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.moves.guide import ENTRIES, NEVER, UPPER_BITS

__all__ = ["guide_from", "make_guide", "uniform_guide"]

Counts = NDArray[np.int64]


def uniform_guide(mutations: int, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return a guide that prefers nothing; see `make_guide`."""
    pairs = np.ones((mutations, mutations + 1), dtype=np.int64)
    return make_guide(pairs, pairs[:, :mutations], unit, gamma)


def guide_from(edges: Counts, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that proposes what sampled trees have.

    A mutation moves below a parent as often as the edge is in the trees. Two mutations swap by the root of
    the probability that they have the same parent in two independent trees, or are parent and child in one.

    Args:
        edges: int64, shape (n, n + 1): number of trees with each parent (column) of each mutation; the sum
            of a row, the number of trees, is below 2^20.
        unit, gamma: as for `make_guide`.
    """
    mutations, trees = len(edges), int(edges[0].sum())
    counts = edges.astype(np.float64)  # products of whole numbers below 2^53 are exact in any order
    related = counts[:, :mutations] + counts[:, :mutations].T
    swaps = np.floor(np.sqrt(counts @ counts.T + trees * related)).astype(np.int64)
    return make_guide(edges, swaps, unit, gamma)


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
    chosen = _entries((edges * own).ravel())
    number = np.bincount(chosen, minlength=edges.size)
    logs = {count: round(math.log(count) / unit / gamma) for count in np.unique(number).tolist() if count}
    of_count = np.full(ENTRIES + 1, NEVER, dtype=np.int32)
    of_count[list(logs)] = list(logs.values())
    first, second = np.triu_indices(mutations, 1)
    pairs = _entries(swaps[first, second]) if len(first) else np.zeros(ENTRIES, dtype=np.int64)
    first, second = (np.append(one, 0) for one in (first, second))  # one mutation has no pair
    return {
        "guide_edges": _packed(chosen // width, chosen % width),
        "guide_logs": of_count[number],
        "guide_swaps": _packed(first[pairs], second[pairs]),
    }


def _entries(weights: Counts) -> Counts:
    """Return `ENTRIES` indices, each as often as its weight demands, rounded up or down; ascending.

    Args:
        weights: int64, shape (k,), >= 0, with a sum from 1 to below 2^46.
    """
    ends = np.cumsum(weights)
    at = (2 * np.arange(ENTRIES) + 1) * ends[-1] // (2 * ENTRIES)
    return np.asarray(np.searchsorted(ends, at, side="right"))


def _packed(first: Counts, second: Counts) -> NDArray[np.int32]:
    return np.asarray((first << UPPER_BITS) | second, dtype=np.int32)
