"""Defaults of an inference, shared by the Python interface and the commands."""

__all__ = [
    "DEFAULT_CHAINS",
    "DEFAULT_LEAF_MOVE_PROBABILITIES",
    "DEFAULT_MOVE_PROBABILITIES",
    "DEFAULT_SEED",
    "DEFAULT_SUPPORT",
]

DEFAULT_CHAINS = 16
DEFAULT_SEED = 1
DEFAULT_SUPPORT = "quick"
DEFAULT_MOVE_PROBABILITIES = (0.55, 0.4, 0.05)
"""Prune and reattach, swap labels, swap subtrees, as in SCITE."""
DEFAULT_LEAF_MOVE_PROBABILITIES = (0.4, 0.6)
"""Prune and reattach, swap leaves, for cell trees, as in SCITE."""

AUTO_DROPOUT, SHARED_DROPOUT = "auto", "shared"
"""Values of `dropout`: rates of false negatives differ if the data show it; or never."""

ALL_MUTATIONS = "all"
"""Value of `recurrent` that tests every mutation."""
