"""Types of integers for control flow and for indices, named differently from those of scores.

Scores, weights, logarithms and corrections are np.int64 on every target. So are values that need 64 bits
anyway: numbers of steps, packed counts, places. Random words, keys and words of bits are np.uint64.
"""

import numpy as np

control = np.int64
"""Type of numbers of nodes, positions, rows and blocks, of counts of these, and of masks and flags.

All fit in 32 bits, so a target may use 32 bits if wider integers cost more.
"""

address = np.uint64
"""Type of slot numbers, and of indices into arrays that hold the parts of all slots."""
