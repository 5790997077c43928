"""How a kernel's arguments are declared, for the host that allocates them and for export. No device code.

An argument is a flat array; its shape is given in symbols whose values the host knows: `slots`, and the
constants that a kernel is specialised by, such as `nodes`, `words`, `cells`, `lanes`.
"""

import math
from typing import NamedTuple

import numpy as np

PROBLEM = "problem"  # IN, the same for all slots, never written
STATE = "state"  # IN OUT, what the next step needs
INFO = "info"  # IN OUT, diagnostics
SCRATCH = "scratch"  # the kernel's own; the host neither reads nor writes it


class Argument(NamedTuple):
    """One argument of a kernel."""

    name: str
    role: str
    dtype: str
    shape: tuple[str | int, ...]
    meaning: str

    def dimensions(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(sizes[part] if isinstance(part, str) else part for part in self.shape)

    def nbytes(self, sizes: dict[str, int]) -> int:
        """What it takes of memory."""
        return math.prod(self.dimensions(sizes)) * np.dtype(self.dtype).itemsize


# What every encoding's chain-step kernel takes besides its own tree.
PARAMETERS = ("mutations", "gain_one", "loss_zero", "prune_below", "swap_below", "seed")
TALLIES = 10

LOG_TABLE = Argument("log_table", PROBLEM, "int64", (257,), "ln(1 + j/256) / gamma, in units of 2^-f nat")
LOG_SIZES = Argument("log_sizes", PROBLEM, "int64", ("log_sizes",), "ln(k) / gamma, in units of 2^-f nat")
PARAMETER_BLOCK = Argument("parameters", PROBLEM, "int64", (8,), ", ".join(PARAMETERS) + ", 0, 0")
CHAIN = Argument("chain", STATE, "int64", ("slots",), "number of the chain in the slot")
STEP = Argument("step", STATE, "int64", ("slots",), "the next step")
LAST_STEP = Argument("last_step", STATE, "int64", ("slots",), "the step to stop before")
SCORE = Argument("score", STATE, "int64", ("slots",), "score of the tree, in units of 2^-f nat")
BEST_SCORE = Argument("best_score", STATE, "int64", ("slots",), "the best score yet")
TALLY_BLOCK = Argument(
    "tallies", INFO, "int64", ("slots", TALLIES), "steps proposed, accepted, by kind of move"
)
