"""Arguments of kernels with learned rates on the encoding `sums`: grids of three rates, and points there."""

from syclade.kernels.arguments import EVENTS, PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.rates.arguments import FN, FP, JUMPS

DOUBLETS = 2
"""Index of the rate of doublets in arrays over all rates, after FN and FP."""

RATES = 3

SHARES = ("single_share", "single_exponent", "pair_share", "pair_exponent")
"""Settings of the score that follow from the rate of doublets, in the order of `doublet_shares`."""

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
    Argument("doublet_worth", PROBLEM, "int64", ("doublet_points",), "likewise: the prior"),
    Argument("doublet_shares", PROBLEM, "int64", ("doublet_points", len(SHARES)), "SHARES at every point"),
    *PLACES,
    Argument("factors_anew", SCRATCH, "int64", ("slots", "classes", 2), "factors by the proposed rates"),
)
"""Weights and scores are in the units of the problem's scores."""

EVENT_RATES = Argument("event_rates", EVENTS, "int64", ("slots", "events", RATES), "where the rates stood")
"""Argument of the ring of events, besides those for trees."""

__all__ = ["ARGUMENTS", "DOUBLETS", "EVENT_RATES", "FN", "FP", "PLACES", "RATES", "SHARES"]
