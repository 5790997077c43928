"""Move proposal: from random words and the current tree to a move and its neighbourhood correction."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.proposal import (
    NULL_MOVE,
    PRUNE_AND_REATTACH,
    SWAP_RELATED_SUBTREES,
    SWAP_UNRELATED_SUBTREES,
    candidate_target,
    draw_below,
    extra_word,
    first_node,
    move_drawn,
    second_node,
)

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


def make_propose(nodes: int) -> Callable[..., Any]:
    """Device function for matrices of `nodes` rows."""
    is_descendant, count_descendants, select = make_relations(nodes)

    @dpex.device_func
    def propose(
        ancestors,  # IN (slots, words, nodes) uint64, flat
        base,  # IN uint64: where the slot's matrix starts
        word_0,  # IN uint64 < 2^32
        word_1,  # IN uint64 < 2^32
        word_2,  # IN uint64 < 2^32
        mutations,  # IN uint64
        prune_below,  # IN uint64: see proposal.move_drawn
        swap_below,  # IN uint64
    ):
        """(kind, v, w, t, |C|, |B|), all uint64; the sizes are 1 and 1 where no correction is due."""
        tree_nodes = np.int64(mutations + _ONE)
        kind = move_drawn(word_0, prune_below, swap_below)
        v = first_node(word_1, mutations)
        w = v
        t = v
        size_c = _ONE
        size_b = _ONE
        if kind == PRUNE_AND_REATTACH:
            t = candidate_target(word_2, mutations)
            if is_descendant(ancestors, base, t, v) != _ZERO:
                others = np.uint64(tree_nodes) - count_descendants(ancestors, base, v, tree_nodes)
                rank = draw_below(extra_word(word_0, word_1, mutations), others)
                t = select(ancestors, base, v, _ZERO, rank, tree_nodes)
        elif mutations == _ONE:
            kind = NULL_MOVE
        else:
            w = second_node(word_2, v, mutations)
            if kind == SWAP_UNRELATED_SUBTREES:
                v_below = is_descendant(ancestors, base, v, w)
                w_below = is_descendant(ancestors, base, w, v)
                if (v_below | w_below) != _ZERO:
                    kind = SWAP_RELATED_SUBTREES
                    # v becomes the lower of the two.
                    lower = v * v_below + w * w_below
                    w = w * v_below + v * w_below
                    v = lower
                    size_c = count_descendants(ancestors, base, v, tree_nodes)
                    size_b = count_descendants(ancestors, base, w, tree_nodes) - size_c
                    rank = draw_below(extra_word(word_0, word_1, mutations), size_c)
                    t = select(ancestors, base, v, _ONE, rank, tree_nodes)
        return kind, v, w, t, size_c, size_b

    return propose
