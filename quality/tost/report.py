"""Outcome of the comparison with SCITE, as plain values and as text."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from syclade.quality.reference.scores import largest_discrepancy
from syclade.quality.tost.test import POWER, TOLERANCE, Equivalence
from syclade.quality.work import work_text

if TYPE_CHECKING:
    from syclade.quality.tost.result import TostResult

__all__ = ["mean_interval", "tost_lines", "tost_report"]


def mean_interval(result: Equivalence) -> tuple[float, float]:
    """Return the confidence interval of the mean difference, in bit flips.

    The confidence is 1 - 2 · significance. TOST rejects both hypotheses iff the interval is within -1 to 1,
    whether or not it contains 0.
    """
    from scipy import stats

    critical = float(stats.t.isf(result.significance, result.inputs - 1))
    radius = critical * result.deviation / result.delta / math.sqrt(result.inputs)
    return result.mean_flips - radius, result.mean_flips + radius


def tost_report(result: TostResult) -> dict[str, Any]:
    """Return everything for JSON; log-likelihoods in nats, `work` as shares by executor."""
    test = result.test
    return {
        "check": "tost",
        "holds": result.holds,
        "settings": _settings(result),
        "work": result.work,
        "result": asdict(test),
        "mean_interval_flips": mean_interval(test),
        "power": POWER,
        "tolerance": TOLERANCE,
        "smallest_effects_in_flips": {
            "detectable": test.detectable_shift / test.delta,
            "makes_the_test_fail": test.failing_shift / test.delta,
        },
        "largest_discrepancy_from_scites_logs": largest_discrepancy(result.scored),
        "chain_seconds": result.seconds,
        "inputs": [
            {
                "name": each.name,
                "syclade" if result.settings.trees is None else "given": each.ours,
                "scite": each.scite,
                "difference": each.ours - each.scite,
                "flips": (each.ours - each.scite) / test.delta,
                "seconds": each.seconds,
                "work": dict(each.work),
                "kept": each.kept,
            }
            for each in result.comparisons
        ],
    }


def _settings(result: TostResult) -> dict[str, Any]:
    """Return the settings; of trees from files there is no device."""
    values = result.settings.values()
    return values if result.settings.trees is not None else {**values, "device_name": result.device_name}


def tost_lines(result: TostResult) -> list[str]:
    """Return the outcome as the command prints it."""
    test, settings = result.test, result.settings
    verdict = "equivalent" if test.equivalent else "NOT SHOWN TO BE EQUIVALENT"
    inferior = "not inferior" if test.non_inferior else "NOT SHOWN TO BE NOT INFERIOR"
    low, high = mean_interval(test)
    rates = (
        "of each input"
        if settings.rates is None
        else " and ".join(f"{rate:g}" for name, rate in settings.rates.to_dict().items() if "rate" in name)
    )
    largest = largest_discrepancy(result.scored)
    scores = (
        "scores of SCITE's trees: there are no logs to compare them with"
        if largest is None
        else f"scores of SCITE's trees: ours are those of its logs, within {largest:.1e} nat"
    )
    runs = "searches" if settings.chains is None else f"{settings.chains} chains of {settings.steps} steps"
    kept = sum(each.kept for each in result.comparisons)
    whose = (
        f"{runs} on {settings.device} ({result.device_name}, {settings.encoding})"
        if settings.trees is None
        else f"trees of {settings.trees}"
    )
    lines = [
        f"{test.inputs} inputs, {whose}, error rates {rates}",
        scores,
        f"{test.inputs} inputs: {test.equal} equal, {test.better} better, {test.worse} worse than SCITE",
        f"mean difference {test.mean:+.4f} nats = {test.mean_flips:+.4f} bit flips "
        f"(margin {test.delta:.4f} nats = 1 bit flip, standard deviation {test.deviation:.4f} nats)",
        f"the mean is between {low:+.4f} and {high:+.4f} bit flips "
        f"({1 - 2 * test.significance:.0%} confidence interval)",
        f"p = {test.p_worse:.2e} against worse by a bit flip, "
        f"{test.p_better:.2e} against better by one (significance {test.significance} each)",
        f"verdict: {verdict}; {inferior}",
        f"with {POWER:.0%} probability finds a mean difference from "
        f"{test.detectable_shift / test.delta:.3f} bit flips, and fails from "
        f"{test.failing_shift / test.delta:.3f} bit flips",
        *([test.note] if test.note else []),
    ]
    if settings.trees is None:
        earlier = f" ({kept} inputs from an earlier run)" if kept else ""
        lines += [f"our runs: {result.seconds:.1f} s{earlier}", f"work done by: {work_text(result.work)}"]
    return lines
