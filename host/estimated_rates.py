"""Error rates that nobody gave: estimated from the matrix, by searches and fits in turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from syclade.host.chains.plan import make_plan
from syclade.host.input.matrix import Matrix
from syclade.host.model.problem import make_problem
from syclade.host.model.rate_fit import fit_rates
from syclade.host.model.rates import Rates
from syclade.host.runs.task import Task

if TYPE_CHECKING:
    from syclade.host.runs.pipeline import Progress

__all__ = ["START", "estimate_rates"]

START = {"fp_rate": 0.01, "fn_rate": 0.2}
"""Rates of the first search."""

_MOST_ROUNDS = 8
_SAME = 0.05
"""Relative change of all rates below which they are final."""


def estimate_rates(
    matrix: Matrix,
    given: dict[str, float],
    *,
    merge_homozygous: bool,
    device: str,
    seed: int,
    wanted: Callable[[], bool] = lambda: False,
) -> Rates:
    """Return error rates that fit the most likely tree under these same rates.

    A search finds the best tree under the rates so far; then the rates are fitted to that tree. Both are
    repeated until the rates change by less than 5 %. As the tree is fitted to the same errors, the rates are
    somewhat too low (docs/model.md, "Estimated error rates").

    Args:
        matrix: the observed values.
        given: the rates that were given, by name; they stay.
        merge_homozygous: as for `infer`.
        device: where the searches run.
        seed: seed of the searches.
        wanted: () -> whether to stop; the rates so far are then returned.

    Raises:
        DeviceError: the device cannot search.
        MatrixError: there are homozygous mutations and they are not merged.
    """
    from syclade.host.search.portfolio import find

    names = tuple(name for name in START if name not in given)
    first = {**START, **given}
    rates = Rates(first["fp_rate"], first["fn_rate"], merge_homozygous=merge_homozygous)
    for _ in range(_MOST_ROUNDS):
        if wanted():
            break

        def report(state: Progress) -> None: ...

        plan = make_plan(make_problem(matrix, rates))
        found = find(plan, device, "auto", slots=None, seed=seed, task=Task(report))
        before, rates = rates, fit_rates(matrix, found.outcome.best.best_parents, rates, names)
        if all(abs(math.log(getattr(rates, name) / getattr(before, name))) < _SAME for name in names):
            break
    return rates
