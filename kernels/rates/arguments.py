"""Additional arguments of kernels that learn error rates: grids of rates, and the chains' points on them."""

from syclade.kernels.arguments import EVENTS, PROBLEM, SCRATCH, STATE, Argument

FN, FP = 0, 1
"""Indices of the rates in arrays over both: false negatives, false positives."""

RATES = 2

JUMPS = 256
"""Number of jump lengths, equally probable; each goes up as often as down."""

PLACES = (
    Argument("rate_at", STATE, "int64", ("slots", RATES), "where the rates stand on their grids"),
    Argument("best_rate_at", STATE, "int64", ("slots", RATES), "likewise, when the best tree was found"),
)

ARGUMENTS = (
    Argument("rate_points", PROBLEM, "int64", (RATES,), "points of each grid; 1 where a rate is fixed"),
    Argument("rate_jumps", PROBLEM, "int64", (RATES, JUMPS), "lengths of jumps, less than the points"),
    Argument("fn_weights", PROBLEM, "int64", ("fn_points", "classes"), "the weights' part by the one rate"),
    Argument("fp_weights", PROBLEM, "int64", ("fp_points", "classes"), "and by the other; a weight is both"),
    Argument("fn_worth", PROBLEM, "int64", ("fn_points",), "what a tree's score gets besides: the prior"),
    Argument("fp_worth", PROBLEM, "int64", ("fp_points",), "likewise: the prior, and the base of scores"),
    *PLACES,
    Argument("rates_ahead", SCRATCH, "int64", ("slots",), "1 while the tables are of earlier rates"),
)
"""Weights and scores are in the units of the problem's scores."""

EVENT_RATES = Argument("event_rates", EVENTS, "int64", ("slots", "events", RATES), "where the rates stood")
"""Argument of the ring of events, besides those for trees."""
