"""Means over the inputs: precision of each arm, the lost precision that comes back, and calls."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syclade.quality.studies.doublets.recovery import Calls, Recovered, Recovery

__all__ = [
    "ArmSummary",
    "Change",
    "Spread",
    "calls_of",
    "change",
    "comes_back",
    "spread",
    "summarise",
    "trees_by",
]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Spread:
    """Median and mean of some numbers."""

    median: float
    mean: float


@dataclass(frozen=True)
class ArmSummary:
    """An arm over all inputs of one kind: precision and recall of ancestor pairs, and seconds per input."""

    arm: str
    precision: Spread
    recall: Spread
    seconds: Spread


@dataclass(frozen=True)
class Change:
    """Mean of paired differences, with its confidence interval by Student's t distribution."""

    mean: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return median and mean, without nan; nan if there is no number."""
    numbers = [value for value in values if not math.isnan(value)]
    if not numbers:
        return Spread(math.nan, math.nan)
    return Spread(statistics.median(numbers), statistics.fmean(numbers))


def trees_by(recoveries: Sequence[Recovery], arm: str) -> list[Recovered]:
    """Return an arm's tree for each input."""
    return [tree for each in recoveries for tree in each.trees if tree.arm == arm]


def summarise(recoveries: Sequence[Recovery]) -> list[ArmSummary]:
    """Return a summary of each arm, in their order."""
    found = []
    for arm in [tree.arm for tree in recoveries[0].trees]:
        trees = trees_by(recoveries, arm)
        found.append(
            ArmSummary(
                arm,
                spread([tree.precision for tree in trees]),
                spread([tree.recall for tree in trees]),
                spread([tree.seconds for tree in trees]),
            )
        )
    return found


def change(
    recoveries: Sequence[Recovery], arm: str, other: str, value: Callable[[Recovered], float]
) -> Change:
    """Return the mean difference between two arms on the same inputs: `arm` minus `other`."""
    from scipy import stats

    pairs = zip(trees_by(recoveries, arm), trees_by(recoveries, other), strict=True)
    differences = [value(one) - value(two) for one, two in pairs]
    mean = statistics.fmean(differences)
    if len(differences) < 2:
        return Change(mean, -math.inf, math.inf)
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    radius = float(stats.t.isf((1 - CONFIDENCE) / 2, len(differences) - 1)) * error
    return Change(mean, mean - radius, mean + radius)


def comes_back(without_doublets: float, ignored: float, modelled: float) -> float:
    """Return the part of the lost precision that the model brings back.

    Args:
        without_doublets: precision on inputs without doublets, by the model without them.
        ignored, modelled: precision on inputs with doublets, by the models without and with them.

    Returns:
        0 if nothing comes back, 1 if all does; nan if nothing was lost.
    """
    lost = without_doublets - ignored
    return (modelled - ignored) / lost if lost > 0 else math.nan


def calls_of(recoveries: Sequence[Recovery]) -> list[Calls]:
    """Return the calls of all inputs with doublets."""
    return [each.calls for each in recoveries if each.calls is not None]
