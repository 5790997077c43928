"""Rates that were not given: estimated from the matrix, by searches and fits in turns.

With doublets, short chains take the place of the searches, which do not know doublets.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.runs.run import place_of_few
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.data.model.doublet_fit import FittedRates, fit_with_doublets
from syclade.host.data.model.levels import Levels
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rate_fit import PRIORS, fit_rates
from syclade.host.data.model.rates import MISSING, ObservationModel, Rates, error_rates
from syclade.host.ground.errors import OptionError, RatesError
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import LEARN
from syclade.host.ground.signals import Stop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from syclade.host.chains.runs.clock import Progress
    from syclade.host.chains.runs.context import Found
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.device.choice import Several
    from syclade.host.device.work import WorkDone

__all__ = ["START", "Estimated", "Report", "RequestedRates", "ShortRuns", "announce_estimate", "refuse_bulk"]

START = {"fp_rate": 0.01, "fn_rate": 0.2}
"""Rates of the first search."""

_MOST_ROUNDS = 8
_SAME = 0.05
"""Relative change of all rates below which they are final."""

_FEWEST_CELLS = 3
"""Fewest cells of which rates are estimated."""

_CHAINS, _STEPS, _GAMMA = 4, 20_000, 3.0
"""Short chains with doublets: their number, steps and exponent. They begin at the best tree so far."""

_LARGE = 250_000
"""Entries of a matrix from which an estimate takes so long that a message says what goes on."""

logger = logging.getLogger("syclade.input")

Report: TypeAlias = "Callable[[Progress, Callable[[int], float]], None]"
"""Called with the progress of a search, and the function that converts its scores to log-likelihoods."""


class Estimated(NamedTuple):
    """Rates of which some may be estimates.

    Attributes:
        rates: all rates.
        names: names of those that were estimated; `doublets` for the rate of doublets.
        work: work of the searches and chains that this took.
        stopped: whether a stop request has ended the estimate.
        tree: the mutation tree that they fit: int32 parent vector, shape (n + 1,); None without estimates.
        doublets: rate of doublets, given or estimated; None without doublets.
    """

    rates: ObservationModel
    names: tuple[str, ...]
    work: tuple[WorkDone, ...]
    stopped: bool = False
    tree: NDArray[np.int32] | None = None
    doublets: float | None = None

    @property
    def as_requested(self) -> dict[str, str | None]:
        """Options by which the estimated rates are estimated again."""
        return {name: LEARN if name == "doublets" else None for name in self.names}


@dataclass(frozen=True)
class RequestedRates:
    """Error rates as they were requested; None is a rate to estimate, except with zygosity.

    Attributes:
        fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous: as for `Rates`.
        levels: levels of evidence, which take the place of rates; None for calls.
    """

    fp_rate: float | None
    fn_rate: float | None
    fn_rate_hom: float | None = None
    hom_rate: float | None = None
    merge_homozygous: bool = False
    levels: Levels | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the rates to estimate."""
        return () if self.levels is not None else tuple(name for name in START if getattr(self, name) is None)

    def first(self) -> ObservationModel:
        """Return the rates, with those of the first search for those to estimate; or the levels of evidence.

        Raises:
            RatesError: a rate is invalid, or observations would say nothing.
        """
        if self.levels is not None:
            return self.levels
        given = [getattr(self, name) for name in START if name not in self.missing]
        left = 1.0 - given[0] if len(given) == 1 and isinstance(given[0], float) else 1.0
        first = {name: min(START[name], left / 2.0) if 0.0 < left < 1.0 else START[name] for name in START}
        fp_rate, fn_rate = (first[name] if name in self.missing else getattr(self, name) for name in START)
        rates = Rates(fp_rate, fn_rate, self.fn_rate_hom, self.hom_rate, self.merge_homozygous)
        rates.require_evidence()
        return rates

    def check(self, *, device: str) -> None:
        """Check that the missing rates can be estimated.

        Raises:
            OptionError: they have to be given with rates for zygosity, and for a device that cannot search.
        """
        if not self.missing:
            return
        flags = " and ".join(flag_of(name) for name in self.missing)
        reasons = {
            "only matrices without zygosity have rates that are estimated": self.fn_rate_hom is not None,
            f"the estimate needs searches, and {flag_of('device', device)} has none": device
            in ("fpga", "python"),
        }
        for reason, holds in reasons.items():
            if holds:
                raise OptionError(f"{flags} not given: {reason}", hint=f"give {flags}")

    def estimate(
        self,
        matrix: Matrix,
        device: str | Several,
        seed: int,
        stop: Stop,
        report: Report,
        *,
        doublets: float | str | None = None,
    ) -> Estimated:
        """Return the rates, with the missing ones as they fit the most likely tree and their priors.

        Short searches find the best tree under the rates so far; then the missing ones are fitted to that
        tree, with the priors of `rate_fit.PRIORS`. Both are repeated until they change by less than 5 %. The
        tree is fitted to the same errors, so the rates are somewhat too low (docs/model.md, "Estimated error
        rates"). With doublets, the same follows by short chains with doublets from that tree.

        Args:
            matrix: the observed values.
            device, seed: of the searches and chains.
            stop: the stop request; the best tree so far and its rates are then returned.
            report: receives the progress.
            doublets: rate of doublets; `learn` to estimate it, too; None for a model without.

        Raises:
            RatesError: the matrix says nothing of the rates: no mutation is observed in two cells.
            DeviceError: the device cannot run.
            MatrixError: there are homozygous mutations and they are not merged.
        """
        if not self.missing and not isinstance(doublets, str):
            return Estimated(self.first(), (), (), doublets=doublets)
        if self.missing:
            self._refuse_nothing(matrix)
            announce_estimate(matrix, self.missing)
        run = ShortRuns(matrix, device, seed, stop, report)
        found = self._by_searches(run)
        if isinstance(doublets, str):
            return self._with_doublets(run, found, None)
        return found if doublets is None else self._with_doublets(run, found, doublets)

    def _by_searches(self, run: ShortRuns) -> Estimated:
        """Return the rates without doublets; if none is missing, of one search."""
        now = Estimated(self.first(), self.missing, ())
        for _ in range(_MOST_ROUNDS):
            found = run.search(now.rates)
            work = (*now.work, *found.work)
            if found.interrupted:
                return self._of_interrupted(now, found, run.matrix)._replace(work=work, stopped=True)
            tree = found.outcome.best.best_parents
            rates = self._fitted(run.matrix, tree, now.rates)
            final = self._is_same(now.rates, rates)
            now = Estimated(rates, self.missing, work, run.stop.wanted and not final, tree)
            if now.stopped or final:
                break
        return now

    def _with_doublets(self, run: ShortRuns, before: Estimated, given: float | None) -> Estimated:
        """Return rates of errors and of doublets; `given` is the latter, or None to fit it, too."""
        assert before.tree is not None
        now, fits = before.tree, fit_with_doublets(run.matrix, before.tree, before.rates, self.missing, given)
        work, stopped = before.work, before.stopped
        for _ in range(0 if stopped else _MOST_ROUNDS):
            found = run.chains(fits, now)
            now, last, work = found.outcome.best.best_parents, fits, (*work, *found.work)
            fits = fit_with_doublets(run.matrix, now, last.rates, self.missing, given)
            same = abs(math.log(fits.doublets / last.doublets)) < _SAME
            final = same and self._is_same(last.rates, fits.rates)
            stopped = found.interrupted or (run.stop.wanted and not final)
            if stopped or final:
                break
        names = (*self.missing, *(("doublets",) if given is None else ()))
        return Estimated(fits.rates, names, work, stopped, now, fits.doublets)

    def _is_same(self, before: ObservationModel, rates: ObservationModel) -> bool:
        """Return whether the missing rates hardly differ."""
        changes = (getattr(rates, name) / getattr(before, name) for name in self.missing)
        return all(abs(math.log(change)) < _SAME for change in changes)

    def _of_interrupted(self, before: Estimated, found: Found, matrix: Matrix) -> Estimated:
        """Return the better tree of the last two searches and its rates, after a stop in the second one."""
        tree = found.outcome.best.best_parents
        if before.tree is not None:
            problem = make_problem(matrix, before.rates)
            if make_plan(problem).score_of(before.tree) >= found.outcome.best.best_score:
                return before
        return before._replace(rates=self._fitted(matrix, tree, before.rates), tree=tree)

    def _fitted(self, matrix: Matrix, tree: NDArray[np.int32], rates: ObservationModel) -> ObservationModel:
        """Return the rates; the missing ones fit a tree and their priors."""
        return fit_rates(matrix, tree, error_rates(rates), self.missing, PRIORS) if self.missing else rates

    def _refuse_nothing(self, matrix: Matrix) -> None:
        """Refuse a matrix without evidence of errors: of one cell, or with no mutation seen in two cells."""
        seen = ((matrix.values > 0) & (matrix.values < MISSING)).sum(axis=1)
        refuse_bulk(matrix)
        if (seen < 2).all():
            raise RatesError(
                "the matrix says nothing of its error rates: no mutation is observed in two cells",
                hint=f"give {' and '.join(flag_of(name) for name in self.missing)}",
            )


def refuse_bulk(matrix: Matrix) -> None:
    """Raise a RatesError if a matrix has so few cells that they are probably bulk samples."""
    if matrix.n_cells < _FEWEST_CELLS:
        what = "one cell, or one sample" if matrix.n_cells == 1 else f"{matrix.n_cells} cells, or samples"
        hint = "trees of single cells need many; bulk samples are not supported"
        raise RatesError(f"the matrix has {what}", hint=hint)


def announce_estimate(matrix: Matrix, names: Sequence[str]) -> None:
    """Report that parameters are estimated, if that takes long.

    Args:
        matrix: the matrix.
        names: their options.
    """
    if matrix.values.size >= _LARGE and names:
        flags = ", ".join(map(flag_of, names))
        logger.info("estimating %s first, by searches and fits in turns, which takes longest", flags)


class ShortRuns(NamedTuple):
    """Context of an estimate: the arguments of `RequestedRates.estimate`."""

    matrix: Matrix
    device: str | Several
    seed: int
    stop: Stop
    report: Report

    def search(self, rates: ObservationModel) -> Found:
        """Return the findings of short searches under the rates."""
        from syclade.host.chains.search.find_tree import find

        problem = make_problem(self.matrix, rates)
        return find(
            make_plan(problem), self.device, "auto", slots=None, seed=self.seed,
            context=self._context(problem), most_rounds=1,
        )  # fmt: skip

    def chains(self, fitted: FittedRates, tree: NDArray[np.int32]) -> Found:
        """Return the findings of short chains with doublets under the rates, from a tree."""
        from syclade.host.chains.runs.run import run_plan

        problem = make_problem(self.matrix, fitted.rates, octaves=True)
        score = score_named("max", problem, fitted.doublets)
        plan = make_plan(problem, gamma=_GAMMA, score=score, space=space_of(ScoreOptions("max", 0.0)))
        first = state_at(plan, tree, 0)
        return run_plan(
            plan, place_of_few(self.device, plan), "auto", None, chains=_CHAINS, until=_STEPS, slots=None,
            seed=self.seed,
            context=self._context(problem), starts=lambda chain: replace(first, chain=chain),
        )  # fmt: skip

    def _context(self, problem: Problem) -> RunContext:
        return RunContext(lambda state: self.report(state, problem.to_nats), stop=self.stop)
