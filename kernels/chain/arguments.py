"""Arguments that every chain kernel takes besides those of its encoding, in order."""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, STATE, Argument

PARAMETERS = ("mutations", "seed", "kinds")

DRAWS = 5
"""Numbers drawn per step (batch.py)."""

WEIGHTS = Argument(
    "weights", SETTING, "int64", ("slots", "classes"), "what an observed value adds below its mutation"
)
"""One weight per informative class, and 0, last, for the uninformative one; in units of 2^-f nat."""

ARGUMENTS = (
    Argument("parameters", PROBLEM, "int64", (len(PARAMETERS),), ", ".join(PARAMETERS)),
    Argument("move_below", PROBLEM, "int64", ("moves",), "cumulative probabilities of the moves, in 1/65536"),
    Argument("log_table", SETTING, "int64", ("slots", 257), "ln(1 + j/256) / gamma, in units of 2^-f nat"),
    Argument("log_sizes", SETTING, "int64", ("slots", "log_sizes"), "ln(k) / gamma, in units of 2^-f nat"),
    Argument("chain", SETTING, "int64", ("slots",), "number of the chain in the slot"),
    Argument("last_step", SETTING, "int64", ("slots",), "the step to stop before"),
    Argument("step", STATE, "int64", ("slots",), "the next step"),
    Argument("score", STATE, "int64", ("slots",), "score of the tree, in units of 2^-f nat"),
    Argument("best_score", STATE, "int64", ("slots",), "the best score yet"),
    Argument("tallies", INFO, "int64", ("slots", "tallies"), "steps proposed, accepted, by kind of move"),
    Argument("drawn", SCRATCH, "int64", ("slots", DRAWS, "lanes"), "the draws of a batch of steps", hot=True),
)
