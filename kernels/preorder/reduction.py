"""Reduction: the lanes' shares become the score of the tree; the best tree is kept."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.sub_group import sub_group_sum


def make_reduction(labels: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (total, copy_tree) for trees of up to `labels` nodes."""
    rounds = labels // lanes

    @dpex.device_func
    def total(
        share,  # IN int64: the lane's share
    ):
        """Sum of all lanes' shares (int64), which every lane gets."""
        return sub_group_sum(share)

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
