"""Evidence as log odds: those of likelihoods with a floor, and those of reads by the model of reads.

Parameters of the model of reads that were not given are estimated from the matrix, by searches and fits in
turns, as error rates of calls are.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from syclade.host.data.input.evidence import Likelihoods, Reads
from syclade.host.data.input.matrix import DerivedMatrix, Matrix
from syclade.host.data.model.levels import Levels, floored, levels_of, log_odds_of
from syclade.host.data.model.reads import PARAMETERS, START, ReadLikelihood, fit_reads
from syclade.host.findings.estimated_rates import Estimated, Report, ShortRuns
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import Options, flag_of
from syclade.host.ground.options.types import AUTO_DROPOUT, SHARED_DROPOUT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.device.choice import Several
    from syclade.host.device.work import WorkDone
    from syclade.host.ground.signals import Stop

__all__ = ["Weighed", "levels_in", "weighed", "weighed_as_given", "weighed_by_estimate", "with_parameters"]

logger = logging.getLogger("syclade.input")

_MOST_ROUNDS = 4
_SAME = 0.05
"""Relative change of all parameters below which they are final."""


@dataclass(frozen=True, eq=False)
class Weighed(DerivedMatrix):
    """A matrix whose evidence is finite log odds, and how they were made.

    Attributes:
        reads: the model of reads; None for likelihoods.
        estimated: names of its parameters that were estimated.
        work: work of the searches that this took.
        tree: the mutation tree that they fit, int32, shape (n + 1,); None without estimates.
        stopped: whether a stop request has ended the estimate.
    """

    reads: ReadLikelihood | None = None
    estimated: tuple[str, ...] = ()
    work: tuple[WorkDone, ...] = ()
    tree: NDArray[np.int32] | None = None
    stopped: bool = False

    def added_to(self, estimated: Estimated) -> Estimated:
        """Return estimates that follow, with the work, the tree and the end of these."""
        tree = self.tree if estimated.tree is None else estimated.tree
        work, stopped = (*self.work, *estimated.work), self.stopped or estimated.stopped
        return estimated._replace(work=work, tree=tree, stopped=stopped)


def weighed(matrix: Matrix, log_odds: NDArray[np.float64], floor: float, **made: Any) -> Weighed:
    """Return the matrix with log odds of its entries as its evidence.

    Args:
        matrix: the matrix.
        log_odds: float64, shape (n_mutations, n_cells); may be infinite.
        floor: least probability of either state of an entry.
        made: attributes of `Weighed` that say how.
    """
    return Weighed.made_of(matrix, evidence=Likelihoods(floored(log_odds, floor)), **made)


def levels_in(matrix: Matrix, floor: float) -> Levels:
    """Return the levels of a matrix with log odds; a message says so if they are not exact."""
    levels = levels_of(log_odds_of(matrix), floor)
    if not levels.exact:
        logger.info("%s", levels.words)
    return levels


def with_parameters(options: Options, found: Mapping[str, Any]) -> Options:
    """Return options with the parameters of reads of a summary; of dropouts that differ, their mean."""
    means = {name: one["mean"] if isinstance(one, Mapping) else one for name, one in found.items()}
    return options.replace(**means)


def weighed_as_given(matrix: Matrix, options: Options) -> Matrix:
    """Return the matrix with log odds, if it has evidence; parameters of reads have to be given.

    Raises:
        OptionError: a parameter of the model of reads is missing.
    """
    if isinstance(matrix.evidence, Reads):
        missing = [flag_of(name) for name in PARAMETERS if getattr(options, name) is None]
        if missing:
            raise OptionError(
                f"reads need {', '.join(missing)}", hint="infer estimates them, and shows them with its tree"
            )
        return _with_reads(matrix, ReadLikelihood(*(getattr(options, name) for name in PARAMETERS)), options)
    if isinstance(matrix.evidence, Likelihoods):
        _refuse_options_of_reads(options)
        return weighed(matrix, matrix.evidence.log_odds, options.floor)
    return matrix


def _refuse_options_of_reads(options: Options) -> None:
    """Raise an OptionError if an option of the model of reads is given."""
    given = [flag_of(name) for name in PARAMETERS if getattr(options, name) is not None]
    if options.dropout not in (AUTO_DROPOUT, SHARED_DROPOUT):
        given.append(flag_of("dropout", options.dropout))
    if given:
        raise OptionError(
            f"{given[0]} does not go with {flag_of('evidence', 'likelihoods')}",
            hint=f"it is of the model of reads, which {flag_of('evidence', 'reads')} takes: leave it out",
        )


def weighed_by_estimate(
    matrix: Matrix, options: Options, device: str | Several, stop: Stop, report: Report
) -> Matrix:
    """Return the matrix with log odds, if it has evidence; parameters of reads are estimated if need be.

    Searches find the best tree under the parameters so far; then those that were not given are fitted to
    that tree together with the shares of its nodes. Both are repeated until they change by less than 5 %.

    Args:
        matrix: the matrix.
        options: the options.
        device, stop, report: of the searches, as for `RequestedRates.estimate`.
    """
    if not isinstance(matrix.evidence, Reads):
        return weighed_as_given(matrix, options)
    given = {name: getattr(options, name) for name in PARAMETERS if getattr(options, name) is not None}
    names = tuple(name for name in PARAMETERS if name not in given)
    own = None if options.dropout == AUTO_DROPOUT else options.dropout != SHARED_DROPOUT
    start = replace(START, **given)
    model = fit_reads(matrix.evidence, None, start, names, by_mutation=own)
    now = _with_reads(matrix, model, options, names)
    for _ in range(_MOST_ROUNDS if names else 0):
        runs = ShortRuns(now, device, options.seed, stop, report)
        found = runs.search(levels_in(now, options.floor))
        tree = found.outcome.best.best_parents
        model = fit_reads(matrix.evidence, tree, start, names, by_mutation=own)
        same = _is_same(now.reads, model)
        stopped = found.interrupted or (stop.wanted and not same)
        now = replace(
            _with_reads(matrix, model, options, names),
            work=(*now.work, *found.work),
            tree=tree,
            stopped=stopped,
        )
        if same or stopped:
            break
    return now


def _with_reads(
    matrix: Matrix, model: ReadLikelihood, options: Options, names: tuple[str, ...] = ()
) -> Weighed:
    """Return the matrix with the log odds of a model of reads."""
    assert isinstance(matrix.evidence, Reads)
    return weighed(matrix, model.log_odds(matrix.evidence), options.floor, reads=model, estimated=names)


def _is_same(before: ReadLikelihood | None, now: ReadLikelihood) -> bool:
    """Return whether all parameters hardly differ."""
    if before is None:
        return False
    pairs = [(getattr(before, name), getattr(now, name)) for name in PARAMETERS]
    return all(abs(one / other - 1.0) < _SAME for one, other in pairs)
