"""Integers that decide and address, named apart from those that are worth something.

Scores, weights, logarithms and corrections are np.int64 on every target, and so is what has 64 bits by
nature: numbers of steps, packed counts, places. Random words, keys and words of bits are np.uint64.
"""

import numpy as np

control = np.int64
"""Which node, position, row or block; counts of these, masks and flags. All fit in 32 bits, and a target may
have them so where wider integers cost more."""

address = np.uint64
"""Where something stands in an array: from the number of the slot on, with all slots' parts before it."""
