"""Reduction: the lanes' shares become the score of the tree; the best tree is kept."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np


def make_reduction(nodes: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (total, copy_tree) for trees of up to `nodes` nodes."""
    rounds = nodes // lanes

    @dpex.device_func
    def total(
        shares,  # IN (slots, 2, lanes) int64, flat
        start,  # IN uint64: where the shares start
    ):
        """Sum of all lanes' shares (int64); every lane computes it, which is cheaper than a broadcast."""
        score = np.int64(0)
        for lane in range(lanes):
            score = score + shares[start + np.uint64(lane)]
        return score

    @dpex.device_func
    def copy_tree(
        parent,  # IN (slots, nodes) int32, flat
        target,  # OUT (slots, nodes) int32, flat
        base,  # IN uint64
        lane,  # IN uint64
    ):
        """Copy the lane's parents."""
        for part in range(rounds):
            at = base + np.uint64(part * lanes) + lane
            target[at] = parent[at]

    return total, copy_tree
