"""Which intervals of the preorder a move shifts (SCIENCE.md 4). No device code.

Every move shifts the scores of whole intervals by one row each, the difference of two rows of the tables:
`shift 1` is row plus_1 less row minus_1, `shift 2` likewise. [a1, b1) and [a2, b2) are subtrees' intervals;
`end_first` is the end of what is shifted first, `end` that of all that is shifted.
"""

import numpy as np

ONE_INTERVAL = np.int64(0)
"""Prune and reattach: [a1, b1) by shift 1."""

TWO_APART = np.int64(1)
"""Swaps of unrelated nodes: [a1, b1) by shift 1, [a2, b2) by shift 2, b1 <= a2."""

ONE_IN_THE_OTHER = np.int64(2)
"""Swaps of related nodes: [a1, b1) without [a2, b2) by shift 1, [a2, b2) by shift 2."""
