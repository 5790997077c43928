"""The seed's Table 1 for our arithmetic: order, errors, best trees and cycles of each function."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from syclade.quality.studies.arithmetic.exact import exact_powers, largest_log_error, largest_power_error
from syclade.quality.studies.arithmetic.logarithms import LOGARITHMS
from syclade.quality.studies.arithmetic.powers import POWERS
from syclade.quality.studies.arithmetic.scores import BestTrees, own_scores
from syclade.quality.studies.arithmetic.timing import Cost

__all__ = ["Published", "Row", "log_errors", "power_errors", "published", "rows"]

FLOAT_BITS = 52


@dataclass(frozen=True)
class Published:
    """A row of Table 1, as printed; `cycles` is None where the table has none."""

    name: str
    error: float
    score_error: float
    cycles: float | None = None


@dataclass(frozen=True)
class Row:
    """One function, or a score that devices compute.

    Attributes:
        name: name of the function.
        order: order of its polynomial, or None.
        error: largest relative error of a power, or largest error of a logarithm in octaves; None for scores.
        score_error: largest relative error of a tree's score, or None.
        best: how often the best tree is that of the exact score, or None.
        cost: processor time of an element in ns, or None.
        cycles: the median of that in clock cycles.
    """

    name: str
    order: int | None = None
    error: float | None = None
    score_error: float | None = None
    best: BestTrees | None = None
    cost: Cost | None = None
    cycles: float | None = None


def power_errors(bits: int) -> dict[str, float]:
    """Return the largest relative error of each power, over all exponents k / 2^bits from 0 to 1."""
    exact = exact_powers(bits)
    exponents = np.arange(2**bits) / 2.0**bits
    return {
        power.name: largest_power_error(
            [int(found) for found in np.ldexp(power.of(exponents), FLOAT_BITS)], FLOAT_BITS, exact
        )
        for power in POWERS
    }


def log_errors(points: int) -> dict[str, float]:
    """Return the largest error of each logarithm in octaves, over numbers from 2^30 to 2^31 - 1."""
    numbers = np.linspace(2**30, 2**31 - 1, points).astype(np.int64)
    return {one.name: largest_log_error(numbers.tolist(), one.of(numbers).tolist()) for one in LOGARITHMS}


def published() -> list[Published]:
    """Return Table 1 of the publication."""
    text = (files("syclade.quality.studies.arithmetic") / "table.toml").read_text(encoding="utf-8")
    return [Published(**row) for row in tomllib.loads(text)["row"]]


def rows(
    errors: Mapping[str, float],
    scores: Mapping[str, float],
    best: Mapping[str, BestTrees],
    costs: Mapping[str, Cost],
    cycle: float,
) -> list[Row]:
    """Return a row for each function and for each score of devices.

    Args:
        errors: from `power_errors` and `log_errors`.
        scores: from `tree_errors`.
        best: from `best_trees`.
        costs: from `element_costs`.
        cycle: length of a clock cycle in ns.
    """
    orders = {power.name: power.order for power in POWERS}
    orders |= {logarithm.name: logarithm.order for logarithm in LOGARITHMS}
    names = dict.fromkeys((*orders, *own_scores(), *costs))
    found = []
    for name in names:
        cost = costs.get(name)
        found.append(
            Row(
                name,
                orders.get(name),
                errors.get(name),
                scores.get(name),
                best.get(name),
                cost,
                None if cost is None else cost.median / cycle,
            )
        )
    return found
