"""Meaning of the bits of a step's four random words (the mirror of `kernels/moves/words.py`)."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[np.int64]


def draw_below(word: Words, bound: Any) -> Numbers:
    """Return numbers in 0 ... bound-1 from 32-bit words; `bound` is a number or an array like `word`."""
    return ((word * np.asarray(bound, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)


def chance_of_move(word_0: Words) -> Numbers:
    """Return a number in 0 ... 65535 that selects the move."""
    return (word_0 >> np.uint64(16)).astype(np.int64)


def first_node(word_1: Words, mutations: int) -> Numbers:
    """Return v, uniform among the mutations."""
    return draw_below(word_1, mutations)


def second_node(word_2: Words, first: Numbers, mutations: int) -> Numbers:
    """Return w, uniform among the mutations other than v. Meaningless for one mutation."""
    drawn = draw_below(word_2, mutations - 1)
    return drawn + (drawn >= first)


def any_node(word_2: Words, mutations: int) -> Numbers:
    """Return t, uniform among all nodes, root included."""
    return draw_below(word_2, mutations + 1)


def extra_word(word_0: Words, word_1: Words, mutations: int) -> Words:
    """Return another random word, from the bits that the move and v have not used."""
    left_over = (word_1 * np.uint64(mutations)) & np.uint64(0xFFFFFFFF)
    return ((word_0 & np.uint64(0xFFFF)) << np.uint64(16)) | (left_over >> np.uint64(16))
