"""Questions to the ancestor matrix that a proposal asks: descendants, how many, and the k-th of them."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.words import WORD_SHIFT, bit_of


def make_relations(nodes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions for a matrix of `nodes` rows (a multiple of the lanes).

    Returns (is_descendant, count_descendants, select): see their docstrings.
    """
    row_stride = np.uint64(nodes)

    @dpex.device_func
    def is_descendant(
        ancestors,  # IN (slots, words, nodes) uint64, flat
        base,  # IN uint64: where the slot's matrix starts
        node,  # IN uint64
        ancestor,  # IN uint64
    ):
        """1 iff `ancestor` is `node` or above it, else 0 (uint64)."""
        return bit_of(ancestors[base + (ancestor >> WORD_SHIFT) * row_stride + node], ancestor)

    @dpex.device_func
    def count_descendants(ancestors, base, ancestor, tree_nodes):
        """Size of the subtree of `ancestor`, itself included (uint64)."""
        start = base + (ancestor >> WORD_SHIFT) * row_stride
        count = np.uint64(0)
        for node in range(tree_nodes):
            count = count + bit_of(ancestors[start + np.uint64(node)], ancestor)
        return count

    @dpex.device_func
    def select(
        ancestors,  # IN (slots, words, nodes) uint64, flat
        base,  # IN uint64
        ancestor,  # IN uint64
        wanted,  # IN uint64: 1 selects among the descendants, 0 among the others
        rank,  # IN uint64, counted from 0
        tree_nodes,  # IN int64
    ):
        """The rank-th (non-)descendant of `ancestor` in the order of labels (uint64)."""
        start = base + (ancestor >> WORD_SHIFT) * row_stride
        seen = np.uint64(0)
        chosen = np.uint64(0)
        for node in range(tree_nodes):
            bit = bit_of(ancestors[start + np.uint64(node)], ancestor)
            fits = np.uint64(bit == wanted)
            hit = fits * np.uint64(seen == rank)
            chosen = chosen + hit * np.uint64(node)
            seen = seen + fits
        return chosen

    return is_descendant, count_descendants, select
