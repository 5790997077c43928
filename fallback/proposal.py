"""What the bits of a step's four random words mean (the mirror of `kernels/proposal.py`)."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[np.int64]

PRUNE_AND_REATTACH = 0
SWAP_LABELS = 1
SWAP_UNRELATED_SUBTREES = 2
SWAP_RELATED_SUBTREES = 3
NULL_MOVE = 4

KIND_NAMES = (
    "prune and reattach",
    "swap labels",
    "swap unrelated subtrees",
    "swap related subtrees",
    "null move",
)


def draw_below(word: Words, bound: Any) -> Numbers:
    """Numbers in 0 ... bound-1 from 32-bit words; `bound` is a number or an array like `word`."""
    return ((word * np.asarray(bound, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)


def move_drawn(word_0: Words, prune_below: int, swap_below: int) -> Numbers:
    """PRUNE_AND_REATTACH, SWAP_LABELS or SWAP_UNRELATED_SUBTREES (related or not is the tree's to say)."""
    chance = (word_0 >> np.uint64(16)).astype(np.int64)
    return (chance >= prune_below).astype(np.int64) + (chance >= swap_below)


def first_node(word_1: Words, mutations: int) -> Numbers:
    """v, uniform among the mutations."""
    return draw_below(word_1, mutations)


def second_node(word_2: Words, first: Numbers, mutations: int) -> Numbers:
    """w, uniform among the mutations other than v. Meaningless for one mutation."""
    drawn = draw_below(word_2, mutations - 1)
    return drawn + (drawn >= first)


def candidate_target(word_2: Words, mutations: int) -> Numbers:
    """t, uniform among all nodes, root included."""
    return draw_below(word_2, mutations + 1)


def extra_word(word_0: Words, word_1: Words, mutations: int) -> Words:
    """A further random word from the bits that the move and v have not used."""
    left_over = (word_1 * np.uint64(mutations)) & np.uint64(0xFFFFFFFF)
    return ((word_0 & np.uint64(0xFFFF)) << np.uint64(16)) | (left_over >> np.uint64(16))
