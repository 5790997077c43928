"""Tree update: all four moves merged (the mirror of `kernels/ancestor/tree_update.py`, with the rules)."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback import proposal as bits
from syclade.fallback.ancestor.find_parent import parent_row
from syclade.fallback.ancestor.propose import Moves
from syclade.fallback.ancestor.relations import bits_of

_ALL = ~np.uint64(0)


def tree_update(
    ancestors: NDArray[np.uint64],  # IN (slots, words, nodes): the current trees
    moves: Moves,  # IN
) -> NDArray[np.uint64]:
    """The proposed trees, (slots, words, nodes)."""
    proposal = ancestors.copy()
    swaps = np.flatnonzero(moves.kind == bits.SWAP_LABELS)
    if swaps.size:
        proposal[swaps] = _swap_labels(ancestors[swaps], moves.v[swaps], moves.w[swaps])
    moving = np.flatnonzero((moves.kind != bits.SWAP_LABELS) & (moves.kind != bits.NULL_MOVE))
    if moving.size:
        chosen = Moves(*(field[moving] for field in moves))
        proposal[moving] = _move_subtrees(ancestors[moving], chosen)
    return proposal


def _move_subtrees(trees: NDArray[np.uint64], moves: Moves) -> NDArray[np.uint64]:
    """Prune and reattach, swap unrelated and swap related subtrees."""
    slot = np.arange(len(trees))
    above_v = parent_row(trees[slot, :, moves.v], moves.v)
    above_w = parent_row(trees[slot, :, moves.w], moves.w)
    row_t = trees[slot, :, moves.t]
    prune = (moves.kind == bits.PRUNE_AND_REATTACH)[:, None]
    unrelated = (moves.kind == bits.SWAP_UNRELATED_SUBTREES)[:, None]
    gain_v = np.where(prune, row_t, above_w)
    gain_w = np.where(unrelated, above_v, above_w | (row_t & ~above_v))
    in_v = bits_of(trees, moves.v)
    in_w = bits_of(trees, moves.w) & ~in_v & ~prune
    moved_v = gain_v[:, :, None] | (trees & ~above_v[:, :, None])
    moved_w = gain_w[:, :, None] | (trees & ~above_w[:, :, None])
    return np.where(in_v[:, None, :], moved_v, np.where(in_w[:, None, :], moved_w, trees))


def _swap_labels(trees: NDArray[np.uint64], v: NDArray[np.int64], w: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Rows v and w change places, and bits v and w in every row."""
    slot = np.arange(len(trees))
    swapped = trees.copy()
    swapped[slot, :, v] = trees[slot, :, w]
    swapped[slot, :, w] = trees[slot, :, v]
    differs = (bits_of(swapped, v) ^ bits_of(swapped, w)).astype(np.uint64)
    swapped[slot, v >> 6] ^= differs << (v & 63).astype(np.uint64)[:, None]
    swapped[slot, w >> 6] ^= differs << (w & 63).astype(np.uint64)[:, None]
    return swapped
