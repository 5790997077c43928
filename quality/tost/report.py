"""The outcome of the comparison with SCITE, as plain values and as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from syclade.quality.reference.scores import ScoredInput
from syclade.quality.tost.runs import Comparison
from syclade.quality.tost.test import POWER, TOLERANCE, Equivalence

__all__ = ["mean_interval", "tost_lines", "tost_report"]


def mean_interval(result: Equivalence) -> tuple[float, float]:
    """Confidence interval of the mean difference, in bit flips, with confidence 1 - 2 · significance.

    TOST rejects both hypotheses iff it lies within -1 to 1; whether it contains 0 is another question.
    """
    from scipy import stats

    critical = float(stats.t.isf(result.significance, result.inputs - 1))
    radius = critical * result.deviation / result.delta / math.sqrt(result.inputs)
    return result.mean_flips - radius, result.mean_flips + radius


def tost_report(
    result: Equivalence,
    comparisons: Sequence[Comparison],
    scored: Sequence[ScoredInput],
    settings: dict[str, Any],
) -> dict[str, Any]:
    """All of it for JSON; log-likelihoods in nats."""
    return {
        "check": "tost",
        "holds": result.equivalent,
        "settings": settings,
        "result": asdict(result),
        "mean_interval_flips": mean_interval(result),
        "power": POWER,
        "tolerance": TOLERANCE,
        "smallest_effects_in_flips": {
            "told_from_no_difference": result.detectable_shift / result.delta,
            "makes_the_test_fail": result.failing_shift / result.delta,
        },
        "largest_discrepancy_from_scites_logs": max(abs(each.discrepancy) for each in scored),
        "chain_seconds": sum(each.seconds for each in comparisons),
        "inputs": [
            {
                "name": each.name,
                "syclade": each.ours,
                "scite": each.scite,
                "difference": each.ours - each.scite,
                "flips": (each.ours - each.scite) / result.delta,
                "seconds": each.seconds,
            }
            for each in comparisons
        ],
    }


def tost_lines(result: Equivalence) -> list[str]:
    """What the command prints."""
    verdict = "equivalent" if result.equivalent else "NOT SHOWN TO BE EQUIVALENT"
    inferior = "not inferior" if result.non_inferior else "NOT SHOWN TO BE NOT INFERIOR"
    low, high = mean_interval(result)
    counts = f"{result.equal} equal, {result.better} better, {result.worse} worse than SCITE"
    lines = [
        f"{result.inputs} inputs: {counts}",
        f"mean difference {result.mean:+.4f} nats = {result.mean_flips:+.4f} bit flips "
        f"(margin {result.delta:.4f} nats = 1 bit flip, standard deviation {result.deviation:.4f} nats)",
        f"the mean lies between {low:+.4f} and {high:+.4f} bit flips "
        f"({1 - 2 * result.significance:.0%} confidence interval)",
        f"p = {result.p_worse:.2e} against worse by a bit flip, "
        f"{result.p_better:.2e} against better by one (significance {result.significance} each)",
        f"verdict: {verdict}; {inferior}",
        f"with {POWER:.0%} probability finds a mean difference from "
        f"{result.detectable_shift / result.delta:.3f} bit flips, and fails from "
        f"{result.failing_shift / result.delta:.3f} bit flips",
    ]
    return lines + ([result.note] if result.note else [])
