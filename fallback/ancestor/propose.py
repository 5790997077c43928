"""Move proposal: from random words and trees to moves (the mirror of `kernels/ancestor/propose.py`)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback import proposal as bits
from syclade.fallback.ancestor.relations import bits_of, is_descendant, select


class Moves(NamedTuple):
    """One move a slot; every field is (slots,) int64."""

    kind: NDArray[np.int64]
    v: NDArray[np.int64]
    w: NDArray[np.int64]
    t: NDArray[np.int64]
    size_c: NDArray[np.int64]
    size_b: NDArray[np.int64]


def propose(
    ancestors: NDArray[np.uint64],  # IN (slots, words, nodes)
    words: tuple[NDArray[np.uint64], ...],  # IN the step's random words, (slots,) each
    mutations: int,
    prune_below: int,
    swap_below: int,
) -> Moves:
    """The moves, with the sizes |C| and |B| of the neighbourhood correction (1 and 1 where none is due)."""
    word_0, word_1, word_2 = words[:3]
    kind = bits.move_drawn(word_0, prune_below, swap_below)
    v = bits.first_node(word_1, mutations)
    t = v.copy()
    size_c, size_b = np.ones_like(v), np.ones_like(v)
    prune = kind == bits.PRUNE_AND_REATTACH
    extra = bits.extra_word(word_0, word_1, mutations)

    candidate = bits.candidate_target(word_2, mutations)
    t[prune] = candidate[prune]
    _replace_descendants(ancestors, prune, v, t, extra, mutations)
    if mutations == 1:
        kind[~prune] = bits.NULL_MOVE
        return Moves(kind, v, v.copy(), t, size_c, size_b)

    w = np.where(prune, v, bits.second_node(word_2, v, mutations))
    subtrees = np.flatnonzero(kind == bits.SWAP_UNRELATED_SUBTREES)
    if subtrees.size:
        trees = ancestors[subtrees]
        below_w, below_v = bits_of(trees, w[subtrees]), bits_of(trees, v[subtrees])
        each = np.arange(subtrees.size)
        v_below = below_w[each, v[subtrees]]
        w_below = below_v[each, w[subtrees]]
        related = v_below | w_below
        at = subtrees[related]
        kind[at] = bits.SWAP_RELATED_SUBTREES
        # v becomes the lower of the two.
        turned = subtrees[w_below]
        v[turned], w[turned] = w[turned], v[turned]
        in_c = np.where(v_below[:, None], below_v, below_w)[related, : mutations + 1]
        in_bc = np.where(v_below[:, None], below_w, below_v)[related, : mutations + 1]
        size_c[at] = in_c.sum(axis=1)
        size_b[at] = in_bc.sum(axis=1) - size_c[at]
        t[at] = select(in_c, bits.draw_below(extra[at], size_c[at]))
    return Moves(kind, v, w, t, size_c, size_b)


def _replace_descendants(
    ancestors: NDArray[np.uint64],  # IN (slots, words, nodes)
    prune: NDArray[np.bool_],  # IN (slots,)
    v: NDArray[np.int64],  # IN (slots,)
    t: NDArray[np.int64],  # IN OUT (slots,)
    extra: NDArray[np.uint64],  # IN (slots,)
    mutations: int,
) -> None:
    """Where a pruned subtree's candidate target lies in the subtree, take the rank-th node outside it."""
    at = np.flatnonzero(prune & is_descendant(ancestors, t, v))
    if at.size:
        outside = ~bits_of(ancestors[at], v[at])[:, : mutations + 1]
        t[at] = select(outside, bits.draw_below(extra[at], outside.sum(axis=1)))
