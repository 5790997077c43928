"""Use of the bits of a step's four random words (docs/architecture.md, "One chain step").

This is the only definition for the devices; `fallback/moves/words.py` mirrors it. All values are uint64; a
draw below `bound` is `(word * bound) >> 32`.
"""

import numpy as np

from syclade.kernels.target import device_function

_HALF = np.uint64(16)
_WORD = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@device_function
def draw_below(word, bound):
    """Return a number in 0 ... bound-1 from a 32-bit word."""
    return (word * bound) >> _WORD


@device_function
def chance_of_move(word_0):
    """Return a number in 0 ... 65535 that decides which move is made."""
    return word_0 >> _HALF


@device_function
def first_node(word_1, mutations):
    """Return v, uniform among the mutations."""
    return draw_below(word_1, mutations)


@device_function
def second_node(word_2, first, mutations):
    """Return w, uniform among the mutations other than v. Meaningless for one mutation."""
    drawn = draw_below(word_2, mutations - _ONE)
    return drawn + np.uint64(drawn >= first)


@device_function
def any_node(word_2, first, mutations):
    """Return t, uniform among all nodes, root included."""
    return draw_below(word_2, mutations + _ONE)


@device_function
def extra_word(word_0, word_1, mutations):
    """Return a further random word from the bits that the move and v have not used."""
    left_over = (word_1 * mutations) & _LOW_WORD
    return ((word_0 & _LOW_HALF) << _HALF) | (left_over >> _HALF)
