"""What an inference does unless told otherwise: the same for the Python interface and the commands.

No imports, so that `syclade --help` need not load what an inference needs.
"""

__all__ = [
    "DEFAULT_CHAINS",
    "DEFAULT_LEAF_MOVE_PROBABILITIES",
    "DEFAULT_MOVE_PROBABILITIES",
    "DEFAULT_SEED",
]

DEFAULT_CHAINS = 16
DEFAULT_SEED = 1
DEFAULT_MOVE_PROBABILITIES = (0.55, 0.4, 0.05)
"""Prune and reattach, swap labels, swap subtrees: SCITE's."""
DEFAULT_LEAF_MOVE_PROBABILITIES = (0.4, 0.6)
"""Prune and reattach, swap leaves, of cell-leaf trees: SCITE's."""
