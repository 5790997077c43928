"""Matrices with log odds: evidence is weighed before a run, and parameters of reads are estimated.

Likelihoods get a floor, and reads are weighed by the model of reads. Parameters of that model that were not
given are estimated from the matrix, by searches and fits in turns, as error rates of calls are.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.matrix import DerivedMatrix, Matrix
from syclade.host.data.model.assignment import nearest_nodes
from syclade.host.data.model.levels import Levels, exact_weights, floored, levels_of, log_odds_of
from syclade.host.data.model.reads import PARAMETERS, START, ReadLikelihood, fit_reads
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.estimated_rates import Estimated, Report, ShortRuns, announce_estimate, refuse_bulk
from syclade.host.findings.unplaced import UNCERTAIN, Unplaced
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import Options, flag_of
from syclade.host.ground.options.types import AUTO_DROPOUT, SHARED_DROPOUT

if TYPE_CHECKING:
    from syclade.host.device.choice import Several
    from syclade.host.device.work import WorkDone
    from syclade.host.ground.signals import Stop

__all__ = [
    "Weighed", "levels_in", "weighed", "weighed_as_given", "weighed_by_estimate", "with_parameters",
]  # fmt: skip

logger = logging.getLogger("syclade.input")

_MOST_ROUNDS = 4
_LEAST = 1e-4
"""Smallest log odds, in nats, that one entry at least must have; searches count in units of this size."""
_SAME = 0.05
"""Relative change of all parameters below which they are final."""

_MOST_MUTATIONS, _LEAST_MUTATIONS, _MOST_ENTRIES = 400, 200, 200_000
"""Most mutations by which parameters are estimated: fewer, but not below the second number, if these have as
many entries with reads. The time of a search grows with their square, and some thousands of entries are
enough for four numbers."""


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

    Raises:
        MatrixError: nothing is known of any entry.
    """
    if not (np.abs(log_odds) >= _LEAST).any():
        raise _silent(matrix, "both states of each entry are equally likely")
    return Weighed.made_of(matrix, evidence=Likelihoods(floored(log_odds, floor)), **made)


def _silent(matrix: Matrix, why: str) -> MatrixError:
    """Return the error of a matrix whose evidence says nothing, of which `why` is the reason."""
    return MatrixError(
        f"the evidence says nothing of the tree: {why}",
        path=None if matrix.source == "array" else matrix.source,
        hint=f"check the file; {flag_of('evidence', 'calls')} takes its calls",
    )


def levels_in(matrix: Matrix, floor: float) -> Levels:
    """Return the levels of a matrix with log odds; a message says so if they are not exact."""
    levels = levels_of(log_odds_of(matrix), floor)
    if not levels.exact:
        logger.info("%s", levels.words)
    return levels


def with_parameters(options: Options, found: Mapping[str, object]) -> Options:
    """Return options with the read parameters that a summary reports; if dropouts differ, their mean."""
    means = {name: one["mean"] if isinstance(one, Mapping) else one for name, one in found.items()}
    return options.replace(**means)


def weighed_as_given(matrix: Matrix, options: Options) -> Matrix:
    """Return the matrix with log odds, if it has evidence; parameters of reads must be given.

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
    """Return the matrix with log odds, if it has evidence; missing parameters of reads are estimated.

    Searches find the best tree under the parameters so far; then those that were not given are fitted to
    that tree together with the shares of its nodes. Both are repeated until they change by less than 5 %.
    In large matrices, this is by the mutations with reads in most cells.

    Args:
        matrix: the matrix.
        options: the options.
        device, stop, report: of the searches, as for `RequestedRates.estimate`.

    Raises:
        MatrixError: nothing is known of any entry.
    """
    if not isinstance(matrix.evidence, Reads):
        return weighed_as_given(matrix, options)
    if not matrix.evidence.total.any():
        raise _silent(matrix, "no entry has a read")
    given = {name: getattr(options, name) for name in PARAMETERS if getattr(options, name) is not None}
    names = tuple(name for name in PARAMETERS if name not in given)
    own = None if options.dropout == AUTO_DROPOUT else options.dropout != SHARED_DROPOUT
    if names:
        refuse_bulk(matrix)
        announce_estimate(matrix, names)
    start, part = replace(START, **given), _covered_best(matrix) if names else matrix
    reads = part.evidence
    assert isinstance(reads, Reads)

    def fit(tree: NDArray[np.int32] | None) -> ReadLikelihood:
        return fit_reads(reads, tree, start, names, by_mutation=own, stopped=lambda: stop.wanted)

    now = _with_reads(part, fit(None), options, names)
    for _ in range(_MOST_ROUNDS if names else 0):
        if stop.wanted:
            now = replace(now, stopped=True)
            break
        runs = ShortRuns(now, device, options.seed, stop, report)
        found = runs.search(levels_of(log_odds_of(now), options.floor))
        tree, before = found.outcome.best.best_parents, now.reads
        model = None if found.interrupted else fit(tree)
        same = model is not None and _is_same(before, model)
        now = replace(
            now if model is None else _with_reads(part, model, options, names),
            work=(*now.work, *found.work),
            tree=tree,
            stopped=stop.wanted and not same,
        )
        if same or now.stopped:
            break
    return now if part is matrix else _of_all_mutations(matrix, now, options)


def _covered_best(matrix: Matrix) -> Matrix:
    """Return the matrix of the mutations with reads in most cells, in their order; all if there are few."""
    assert isinstance(matrix.evidence, Reads)
    covered = (matrix.evidence.total > 0).sum(axis=1)
    falling = np.argsort(-covered, kind="stable")
    enough = int(np.searchsorted(np.cumsum(covered[falling]), _MOST_ENTRIES)) + 1
    others = falling[min(max(enough, _LEAST_MUTATIONS), _MOST_MUTATIONS) :]
    return Unplaced(dict.fromkeys(sorted(others.tolist()), UNCERTAIN)).of_matrix(matrix)


def _of_all_mutations(matrix: Matrix, part: Weighed, options: Options) -> Weighed:
    """Return the whole matrix by the parameters of a part of its mutations; own dropouts are fitted anew."""
    assert isinstance(matrix.evidence, Reads)
    assert part.reads is not None
    model = part.reads
    if model.dropouts is not None:
        shared = replace(model, dropouts=None)
        model = fit_reads(matrix.evidence, None, shared, ("allelic_dropout",), by_mutation=True)
    found = _with_reads(matrix, model, options, part.estimated)
    tree = None if part.tree is None or not part.stopped else _tree_of_all(found, part, part.tree)
    return replace(found, work=part.work, stopped=part.stopped, tree=tree)


def _tree_of_all(matrix: Matrix, part: Matrix, tree: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a tree of all mutations, for a run that was stopped before any search for one.

    Each other mutation is put above the mutation of the part whose cells have it most by its log odds; below
    the root as a leaf if it is in none.

    Args:
        matrix, part: with log odds, of all and of some mutations in the same order.
        tree: int32: a parent vector of the part.
    """
    count, number = matrix.n_mutations, {name: row for row, name in enumerate(matrix.mutations)}
    rows = np.array([*(number[name] for name in part.mutations), count], dtype=np.int32)
    node, _ = nearest_nodes(exact_weights(part), tree)
    gains = log_odds_of(matrix) @ ancestor_matrix(tree)[:-1, node].T.astype(np.float64)
    found = np.full(count + 1, count, dtype=np.int32)
    found[rows] = rows[tree]
    for row in np.setdiff1d(np.arange(count), rows).tolist():
        if gains[row].max() > 0.0:
            below = rows[gains[row].argmax()]
            found[row], found[below] = found[below], row
    return found


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
