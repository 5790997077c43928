"""Arguments of the kernels, in order."""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, STATE, Argument

PARAMETERS = ("groups", "trials", "room")
"""Sizes of a slot's parts: entries of arrays over groups, over trials, and of a row of numbers over k."""

ROWS = 3
"""Rows over k per slot."""

COMMON = (
    Argument("parameters", PROBLEM, "int64", (len(PARAMETERS),), ", ".join(PARAMETERS)),
    Argument("at_least", SETTING, "int64", ("slots",), "K > 0: the tail is that of K or more successes"),
    Argument("log_tail", STATE, "float64", ("slots",), "OUT ln P(X >= K)"),
    Argument("done", INFO, "int64", ("slots",), "columns that the slot has done"),
    Argument("rows", SCRATCH, "float64", ("slots", ROWS, "room"), "windows of distributions, by k"),
)

GROUPED = (
    *COMMON,
    Argument("sizes", SETTING, "int64", ("slots",), "groups of equal probabilities; 0: nothing to do"),
    Argument("probability", SETTING, "float64", ("slots", "groups"), "of success, of each group; in (0, 1)"),
    Argument("count", SETTING, "int64", ("slots", "groups"), "trials of each group"),
)
"""Arguments of the kernels `grouped` and `tilted`."""

BLOCKED = (
    *COMMON,
    Argument("sizes", SETTING, "int64", ("slots",), "trials; 0: nothing to do"),
    Argument("error", SETTING, "float64", ("slots", "trials"), "probability of each trial, in (0, 1)"),
    Argument("edge", SCRATCH, "float64", ("slots", "trials"), "boundary value after n trials, high part"),
    Argument("edge_low", SCRATCH, "float64", ("slots", "trials"), "its low part"),
)
"""Arguments of the kernel `blocked`; rows over k have the high and low parts of a block's entries."""
