"""Error rates that nobody gave: estimated from the matrix, by searches and fits in turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from syclade.host.chains.plan import make_plan
from syclade.host.common.errors import OptionError, RatesError
from syclade.host.model.problem import make_problem
from syclade.host.model.rate_fit import fit_rates
from syclade.host.model.rates import Rates
from syclade.host.options import flag_of
from syclade.host.runs.task import Stop, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.cluster.where import Several
    from syclade.host.devices.work import WorkDone
    from syclade.host.input.matrix import Matrix
    from syclade.host.runs.found import Found

__all__ = ["START", "AskedRates", "Estimated"]

START = {"fp_rate": 0.01, "fn_rate": 0.2}
"""Rates of the first search."""

MOST = {"fp_rate": 0.1, "fn_rate": 0.7}
"""Largest estimates that are believed: above, the tree explains noise by errors, or errors by the tree."""

_MOST_ROUNDS = 8
_SAME = 0.05
"""Relative change of all rates below which they are final."""

Report = Callable[[Any, Callable[[int], float]], None]
"""Called with the progress of a search, and the function that converts its scores to log-likelihoods."""


class Estimated(NamedTuple):
    """Rates of which some may be estimates.

    Attributes:
        rates: all rates.
        names: names of those that were estimated.
        work: work of the searches that this took.
        stopped: whether a stop request has ended the estimate.
        tree: the mutation tree that they fit: int32 parent vector, shape (n + 1,); None without estimates.
    """

    rates: Rates
    names: tuple[str, ...]
    work: tuple[WorkDone, ...]
    stopped: bool = False
    tree: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class AskedRates:
    """Error rates as they were asked for; None is a rate to estimate, except with zygosity.

    Attributes:
        fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous: as for `Rates`.
    """

    fp_rate: float | None
    fn_rate: float | None
    fn_rate_hom: float | None = None
    hom_rate: float | None = None
    merge_homozygous: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the rates to estimate."""
        return tuple(name for name in START if getattr(self, name) is None)

    def first(self) -> Rates:
        """Return the rates, with those of the first search for those to estimate.

        Raises:
            RatesError: a rate is invalid.
        """
        fp_rate, fn_rate = (START[name] if name in self.missing else getattr(self, name) for name in START)
        return Rates(fp_rate, fn_rate, self.fn_rate_hom, self.hom_rate, self.merge_homozygous)

    def check(self, *, doublets: object, device: str) -> None:
        """Check that the missing rates can be estimated.

        Raises:
            OptionError: they have to be given with rates for zygosity, with doublets, and for a device that
                cannot search.
        """
        if not self.missing:
            return
        flags = " and ".join(flag_of(name) for name in self.missing)
        reasons = {
            "only matrices without zygosity have rates that are estimated": self.fn_rate_hom is not None,
            "the model of doublets has rates that are not estimated": doublets is not None,
            f"the estimate needs searches, and {flag_of('device', device)} has none": device
            in ("fpga", "python"),
        }
        for reason, holds in reasons.items():
            if holds:
                raise OptionError(f"{flags} not given: {reason}", hint=f"give {flags}")

    def estimate(
        self, matrix: Matrix, device: str | Several, seed: int, stop: Stop, report: Report
    ) -> Estimated:
        """Return the rates, with the missing ones as they fit the most likely tree under these same rates.

        Short searches find the best tree under the rates so far; then the missing ones are fitted to that
        tree. Both are repeated until they change by less than 5 %. The tree is fitted to the same errors, so
        the rates are somewhat too low (docs/model.md, "Estimated error rates").

        Args:
            matrix: the observed values.
            device, seed: of the searches.
            stop: the stop request; the best tree so far and its rates are then returned.
            report: receives the progress.

        Raises:
            RatesError: the matrix does not determine the rates: they become larger than `MOST`.
            DeviceError: the device cannot run.
            MatrixError: there are homozygous mutations and they are not merged.
        """
        rates = self.first()
        now = Estimated(rates, self.missing, ())
        for _ in range(_MOST_ROUNDS if self.missing else 0):
            found = self._search(now.rates, matrix, device, seed, stop, report)
            work = (*now.work, *found.work)
            if found.interrupted:
                return self._of_interrupted(now, found, matrix)._replace(work=work, stopped=True)
            tree = found.outcome.best.best_parents
            rates = fit_rates(matrix, tree, now.rates, self.missing)
            self._refuse_noise(rates)
            changes = (getattr(rates, name) / getattr(now.rates, name) for name in self.missing)
            final = all(abs(math.log(change)) < _SAME for change in changes)
            now = Estimated(rates, self.missing, work, stop.wanted and not final, tree)
            if now.stopped or final:
                break
        return now

    def _of_interrupted(self, before: Estimated, found: Found, matrix: Matrix) -> Estimated:
        """Return the better tree of the last two searches and its rates, after a stop in the second one.

        Rates that fit the tree of an interrupted search may be too large to be believed; they are then those
        that it was found with.
        """
        tree = found.outcome.best.best_parents
        if before.tree is not None:
            problem = make_problem(matrix, before.rates)
            if make_plan(problem).score_of(before.tree) >= found.outcome.best.best_score:
                return before
        rates = fit_rates(matrix, tree, before.rates, self.missing)
        return before._replace(rates=before.rates if self._is_noise(rates) else rates, tree=tree)

    def _is_noise(self, rates: Rates) -> bool:
        """Return whether estimates are too large to be error rates."""
        return any(getattr(rates, name) > MOST[name] for name in self.missing)

    def _refuse_noise(self, rates: Rates) -> None:
        """Refuse estimates that are too large to be error rates."""
        if self._is_noise(rates):
            found = ", ".join(f"{flag_of(name)} {getattr(rates, name):g}" for name in self.missing)
            raise RatesError(
                f"the matrix does not determine its error rates: {found} would fit best",
                hint=f"give {' and '.join(flag_of(name) for name in self.missing)}",
            )

    def _search(
        self, rates: Rates, matrix: Matrix, device: str | Several, seed: int, stop: Stop, report: Report
    ) -> Found:
        """Return the findings of short searches under the rates."""
        from syclade.host.search.portfolio import find

        problem = make_problem(matrix, rates)
        task = Task(lambda state: report(state, problem.to_nats), stop=stop)
        return find(make_plan(problem), device, "auto", slots=None, seed=seed, task=task, most_rounds=1)
