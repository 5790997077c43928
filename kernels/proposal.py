"""What the bits of a step's four random words mean (docs/architecture.md, "One chain step").

The one place that says so for the devices; `fallback/proposal.py` is its mirror, and the same for every
encoding of the tree. All values are uint64; a draw below `bound` is `(word * bound) >> 32`.
"""

import numba_dpex as dpex
import numpy as np

PRUNE_AND_REATTACH = np.uint64(0)
SWAP_LABELS = np.uint64(1)
SWAP_UNRELATED_SUBTREES = np.uint64(2)
SWAP_RELATED_SUBTREES = np.uint64(3)
NULL_MOVE = np.uint64(4)  # a swap where there is only one mutation

_HALF = np.uint64(16)
_WORD = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@dpex.device_func
def draw_below(word, bound):
    """A number in 0 ... bound-1 from a 32-bit word."""
    return (word * bound) >> _WORD


@dpex.device_func
def move_drawn(
    word_0,  # IN uint64 < 2^32
    prune_below,  # IN uint64 <= 2^16: cumulative probability of prune and reattach, in 1/65536
    swap_below,  # IN uint64 <= 2^16: the same with swap labels
):
    """PRUNE_AND_REATTACH, SWAP_LABELS or SWAP_UNRELATED_SUBTREES (related or not is the tree's to say)."""
    chance = word_0 >> _HALF
    return np.uint64(chance >= prune_below) + np.uint64(chance >= swap_below)


@dpex.device_func
def first_node(word_1, mutations):
    """v, uniform among the mutations."""
    return draw_below(word_1, mutations)


@dpex.device_func
def second_node(word_2, first, mutations):
    """w, uniform among the mutations other than v. Meaningless for one mutation."""
    drawn = draw_below(word_2, mutations - _ONE)
    return drawn + np.uint64(drawn >= first)


@dpex.device_func
def candidate_target(word_2, mutations):
    """t, uniform among all nodes, root included."""
    return draw_below(word_2, mutations + _ONE)


@dpex.device_func
def extra_word(word_0, word_1, mutations):
    """A further random word from the bits that the move and v have not used."""
    left_over = (word_1 * mutations) & _LOW_WORD
    return ((word_0 & _LOW_HALF) << _HALF) | (left_over >> _HALF)
