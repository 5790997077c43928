"""From where the maxima of subtrees change upwards, after an accepted move in wide tables."""

import numba_dpex as dpex
import numpy as np

from syclade.kernels.proposal import (
    PRUNE_AND_REATTACH,
    SWAP_LABELS,
    SWAP_UNRELATED_SUBTREES,
)

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_LABELS = np.int64(SWAP_LABELS)
_UNRELATED = np.int64(SWAP_UNRELATED_SUBTREES)
_NOBODY = np.int64(-1)


@dpex.device_func
def climbs(
    kind,  # IN int64: the move
    x,  # IN int64: the nodes of the intervals
    y,
    t,
    a1,  # IN int64: their intervals, as far as they matter
    b1,
    a2,
    above_x,  # IN int64: the parents of x and y before the move
    above_y,
    row_x,  # IN int64: score rows of the intervals' first positions before the move
    row_y,
    tree_nodes,  # IN int64
):
    """Two nodes to climb from, and for each the rows of the subtree it loses and of the one it gains.

    (node 1, loses 1, gains 1, node 2, loses 2, gains 2, first shifted position), int64. Node 2 is -1 where
    one node is below the other. Then nodes are shifted as if all that is below them were, and have to be
    renewed up to the first shifted position.
    """
    if kind == _PRUNE:
        return above_x, row_x, row_x, t, row_x, row_x, tree_nodes
    if kind == _UNRELATED:
        return above_x, row_x, row_y, above_y, row_y, row_x, tree_nodes
    if a2 < b1:  # y is below x
        lowest = above_y
        if (kind == _LABELS) and (above_y == x):
            lowest = y  # which now has x's place
        return lowest, row_x, row_x, _NOBODY, row_y, row_y, a1
    return above_x, row_x, row_x, above_y, row_y, row_y, tree_nodes
