"""Move proposal: from draws and the current tree to a move and its neighbourhood correction."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.preorder.uniform import apart_from
from syclade.kernels.proposal import (
    NULL_MOVE,
    PRUNE_AND_REATTACH,
    SWAP_RELATED_SUBTREES,
    SWAP_UNRELATED_SUBTREES,
    draw_below,
)
from syclade.kernels.sub_group import sub_group_count, sub_group_prefix_count

_PRUNE = np.int64(PRUNE_AND_REATTACH)
_UNRELATED = np.int64(SWAP_UNRELATED_SUBTREES)
_RELATED = np.int64(SWAP_RELATED_SUBTREES)
_NULL = np.int64(NULL_MOVE)
_ONE = np.int64(1)


@dpex.device_func
def is_descendant(
    position,  # IN (slots, nodes) int32, flat
    size,  # IN (slots, nodes) int32, flat
    base,  # IN uint64: where the slot's tree starts
    node,  # IN int64
    ancestor,  # IN int64
):
    """Is `ancestor` the node itself or above it? One comparison of intervals."""
    start = np.int64(position[base + np.uint64(ancestor)])
    offset = np.int64(position[base + np.uint64(node)]) - start
    return np.uint64(offset) < np.uint64(size[base + np.uint64(ancestor)])


def make_propose(labels: int, lanes: int) -> Callable[..., Any]:
    """Device function for trees of up to `labels` nodes."""
    rounds = labels // lanes

    @dpex.device_func
    def select(
        position,  # IN (slots, nodes) int32, flat
        base,  # IN uint64
        start,  # IN int64: first position of the subtree
        length,  # IN int64: its size
        wanted,  # IN int64: 1 selects in the subtree, 0 outside it
        rank,  # IN int64, counted from 0
        tree_nodes,  # IN int64
        lane,  # IN uint64
    ):
        """The rank-th node in (or outside) the subtree in the order of labels (int64)."""
        start_here = np.int32(apart_from(start))
        length_here = np.uint32(apart_from(length))
        wanted_here = np.int32(apart_from(wanted))
        nodes_here = np.int32(apart_from(tree_nodes))
        last = np.int32(apart_from(rank))
        seen = np.int32(0)
        smaller = np.int32(0)  # of the lane's labels, those before the one sought
        for part in range(rounds):
            label = np.uint64(part * lanes) + lane
            offset = np.uint32(np.int32(position[base + label] - start_here))
            inside = np.int32(offset < length_here)
            fits = np.int32(np.int32(inside == wanted_here) & np.int32(np.int32(label) < nodes_here))
            smaller = np.int32(smaller + np.int32(np.int32(seen + sub_group_prefix_count(fits)) <= last))
            seen = np.int32(seen + sub_group_count(fits))
        return np.int64(sub_group_count(smaller))

    @dpex.device_func
    def propose(
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        log_sizes,  # IN (log_sizes,) int64: ln(k) / gamma
        base,  # IN uint64: where the slot's tree starts
        kind,  # IN int64: the move drawn
        v,  # IN int64: the first node drawn
        second,  # IN int64: w, or the candidate target
        extra,  # IN int64 < 2^32
        mutations,  # IN int64
        lane,  # IN uint64
    ):
        """(kind, v, w, t, the neighbourhood correction (ln|C| - ln|B|) / gamma), all int64."""
        tree_nodes = mutations + _ONE
        w = v
        t = v
        correction = np.int64(0)
        if kind == _PRUNE:
            t = second
            if is_descendant(position, size, base, t, v):
                start = np.int64(position[base + np.uint64(v)])
                length = np.int64(size[base + np.uint64(v)])
                rank = np.int64(draw_below(np.uint64(extra), np.uint64(tree_nodes - length)))
                t = select(position, base, start, length, np.int64(0), rank, tree_nodes, lane)
        elif mutations == _ONE:
            kind = _NULL
        else:
            w = second
            if kind == _UNRELATED:
                v_below = np.int64(is_descendant(position, size, base, v, w))
                w_below = np.int64(is_descendant(position, size, base, w, v))
                if v_below + w_below != np.int64(0):
                    kind = _RELATED
                    # v becomes the lower of the two.
                    lower = v * v_below + w * w_below
                    w = w * v_below + v * w_below
                    v = lower
                    size_c = np.int64(size[base + np.uint64(v)])
                    size_b = np.int64(size[base + np.uint64(w)]) - size_c
                    correction = log_sizes[np.uint64(size_c)] - log_sizes[np.uint64(size_b)]
                    start = np.int64(position[base + np.uint64(v)])
                    rank = np.int64(draw_below(np.uint64(extra), np.uint64(size_c)))
                    t = select(position, base, start, size_c, _ONE, rank, tree_nodes, lane)
        return kind, v, w, t, correction

    return propose
