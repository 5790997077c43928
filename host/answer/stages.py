"""Findings of an answer: their list, in the order in which they are shown, and the stages that make some.

Stages follow the most likely tree: samples, support, consensus, specimens, genotypes, equal trees.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from syclade.host.chains.runs.context import CO_OPTIMAL as CO_OPTIMAL_STAGE
from syclade.host.chains.runs.context import SUPPORT as SUPPORT_STAGE
from syclade.host.chains.runs.context import RunContext
from syclade.host.data.model.problem import problem_at
from syclade.host.findings.clones_by_sample import CLONES_BY_SAMPLE, ClonesBySampleFinding, summarised
from syclade.host.findings.consensus.finding import (
    CONSENSUS,
    LIKELY_CELLS,
    ConsensusFinding,
    LikelyCells,
    published_consensus,
)
from syclade.host.findings.consensus.of_specimens import SpecimenShares, draw_on_clones, of_clones
from syclade.host.findings.cooptimal.finding import CO_OPTIMAL, CoOptimalFinding, walk_plateau
from syclade.host.findings.doublets import DOUBLETS
from syclade.host.findings.evidence import EVIDENCE
from syclade.host.findings.genotypes import GENOTYPES, GenotypesFinding, OfSpecimens, make_genotypes
from syclade.host.findings.inputs import IN_ALL_CELLS, INPUT, LEFT_OUT, TRUTH
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.findings.rates import RATES
from syclade.host.findings.recurrences import RECURRENCES
from syclade.host.findings.samples.finding import SAMPLES, SamplesFinding
from syclade.host.findings.specimen_shares import draw_shares_of_specimens
from syclade.host.findings.support.finding import SUPPORT, SupportFinding
from syclade.host.findings.unplaced import UNPLACED
from syclade.host.ground.errors import SycladeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.answer.request import Request
    from syclade.host.chains.runs.clock import Progress
    from syclade.host.data.input.metadata import CellLabels
    from syclade.host.data.model.rates import ObservationModel
    from syclade.host.findings.consensus.finding import PublishedTree
    from syclade.host.findings.finding import BestTree, Draft, Finding, FindingKind, Question
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.support.plan import SupportPlan

__all__ = ["FINDINGS", "add_findings", "findings_of", "promised"]

logger, input_logger = logging.getLogger("syclade.support"), logging.getLogger("syclade.input")

FINDINGS: tuple[FindingKind, ...] = (
    INPUT,
    IN_ALL_CELLS,
    UNPLACED,
    LEFT_OUT,
    RATES,
    EVIDENCE,
    DOUBLETS,
    RECURRENCES,
    SAMPLES,
    CONSENSUS,
    LIKELY_CELLS,
    CLONES_BY_SAMPLE,
    GENOTYPES,
    SUPPORT,
    CO_OPTIMAL,
    TRUTH,
)


def findings_of(draft: Draft) -> tuple[Finding, ...]:
    """Return the findings of an answer whose stages have ended."""
    return tuple(one for kind in FINDINGS if (one := kind.make(draft)) is not None)


def promised(question: Question) -> list[str]:
    """Return the names of the files that the findings of a run may write."""
    return list(dict.fromkeys(name for kind in FINDINGS for name in kind.promises(question)))


def add_findings(request: Request, draft: Draft, context: RunContext) -> None:
    """Add what the run finds about the most likely tree, except recurrences.

    Args:
        request: the checked options.
        draft: the answer with the most likely tree.
        context: the run context: progress callback, stop request.
    """
    rates = draft.best.rates
    if request.sampling is not None and draft.found.samples is not None:
        names = draft.best.mutations, draft.best.cells
        samples = request.kind.judge(draft.found.samples, request.sampling, request.plan.problem, *names)
        draft.add(SamplesFinding(samples))
        with draft.timed("consensus"):
            _add_consensus(draft, samples, rates, request, enough=not samples.warnings)
    if request.support is not None:
        with context.stop.heeded() if request.support.ends_slowly else nullcontext():
            _add_support(request.support, request, draft, context)
    specimens = None
    if request.labels is not None and request.labels.specimens:
        with draft.timed("clones by sample"):
            specimens = _add_clones_by_sample(request, draft, request.labels)
    if request.options.genotypes:
        with draft.timed("genotypes"):
            _add_genotypes(draft, specimens)
    if draft.get(ConsensusFinding) is None and draft.best.kind.consensus_names:
        columns = {} if request.labels is None else request.labels.columns
        draft.add(LikelyCells(draft.best, draft.unplaced, columns, _likely_shares(draft, specimens)))
    if request.max_trees is not None:
        with draft.timed("equal trees"):
            _add_co_optimal(request, draft, request.max_trees, context)


def _add_consensus(
    draft: Draft,
    samples: Sampled,
    rates: ObservationModel,
    request: Request,
    fn_rates: NDArray[np.float64] | None = None,
    *,
    enough: bool,
) -> None:
    """Add the consensus of samples, if their trees have one.

    Args:
        draft: the answer so far.
        samples: the samples.
        rates: the error rates that they were sampled under, for the cells.
        request: the checked options, with the labels of the cells.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
        enough: whether the samples are enough by their diagnostics.
    """
    best = draft.best
    doublets = None if best.assignment.doublets is None else best.assignment.doublets.rate
    consensus = best.kind.consensus(
        samples, best.parents, best.observed, rates, draft.true_tree, draft.unplaced, fn_rates, doublets
    )
    if consensus is None:
        return
    consensus = replace(consensus, enough=enough)
    draft.unplaced = consensus.unplaced
    specimens = None
    if (labels := request.labels) is not None:
        consensus = replace(consensus, labels=labels.columns)
        specimen_of = labels.specimen_of[consensus.placed_cells]
        if labels.specimens and (specimen_of >= 0).any():
            published = published_consensus(consensus)
            specimens = draw_on_clones(published, specimen_of, len(labels.specimens), request.seed)
    draft.add(ConsensusFinding(consensus.with_cells(specimens)))


def reporting_tree(
    report: Callable[[Progress], None], request: Request, draft: Draft
) -> Callable[[Progress], None]:
    """Return a report of progress with the score of the tree: chains after it have other scores."""
    best = request.plan.problem.from_nats(draft.best.log_likelihood)
    return lambda state: report(replace(state, best_score=best))


def _add_support(planned: SupportPlan, request: Request, draft: Draft, context: RunContext) -> None:
    """Add the support and its consensus, unless the run was stopped before.

    Progress shows the best tree meanwhile. If the chains cannot run, such as for want of memory, the tree is
    not lost: a warning gives the reason.
    """
    if context.stop.wanted:
        draft.stop(SUPPORT_STAGE)
        return
    from syclade.host.findings.support.of_samples import without_doubtful
    from syclade.host.findings.support.stage import Run, add_support

    run = Run(
        request.device,
        request.encoding,
        request.slots,
        request.seed,
        RunContext(reporting_tree(context.report, request, draft), stop=context.stop),
    )
    try:
        with draft.timed("support"):
            add_support(planned, draft, run)
    except SycladeError as error:
        logger.warning("the tree has no support: %s", error)
        return
    if (found := draft.get(SupportFinding)) is None:
        return
    support = replace(found.support, seconds=draft.stages["support"])
    draft.add(replace(found, support=support))
    rates = draft.best.rates if support.rates is None else support.rates.sampled_under
    fn_rates = None if support.dropout is None else support.dropout.fn_rates
    with draft.timed("consensus"):
        _add_consensus(draft, support.sampled, rates, request, fn_rates, enough=support.enough)
    if (tree := draft.get(ConsensusFinding)) is not None and (doubtful := tree.consensus.doubtful_mutations):
        draft.add(replace(found, support=without_doubtful(support, draft.best.parents, doubtful)))


def _add_genotypes(draft: Draft, specimens: OfSpecimens | None) -> None:
    """Add the genotypes of the cells by the published tree, and by shares in specimens if there are any."""
    best, tree = draft.best, draft.get(ConsensusFinding)
    consensus = None if tree is None else tree.consensus
    found = make_genotypes(best, consensus, _published(draft), draft.unplaced, specimens)
    draft.add(GenotypesFinding(found))


def _published(draft: Draft) -> PublishedTree | None:
    """Return the tree to publish; None for cell trees, and for trees with a recurrent mutation."""
    from syclade.host.findings.consensus.finding import published_tree

    if draft.best.kind.consensus_names != MUTATION.consensus_names:
        return None
    consensus = draft.get(ConsensusFinding)
    return published_tree(draft.best, None if consensus is None else consensus.consensus, draft.unplaced)


def _add_clones_by_sample(request: Request, draft: Draft, labels: CellLabels) -> OfSpecimens | None:
    """Add the shares of the clones of the published tree in specimens: of the consensus, if there is one.

    Without samples of trees, the clones are those of the most likely tree.

    Returns:
        The shares of nodes; None if there are none.
    """
    best, unplaced, published = draft.best, draft.unplaced, _published(draft)
    if published is None:
        input_logger.warning("%s have no clones by sample", _without_clones(best))
        return None
    specimen_of = labels.specimen_of[unplaced.placed_cells(len(best.cells))]
    if not (specimen_of >= 0).any():
        input_logger.warning("no placed cell has a sample: there are no clones by sample")
        return None
    drawn_on = published if draft.get(ConsensusFinding) is not None else of_clones(published)
    draws = draw_shares_of_specimens(drawn_on, specimen_of, len(labels.specimens), request.seed)
    found = summarised(draws, published, labels, specimen_of)
    draft.add(ClonesBySampleFinding(found, labels.columns, labels.given))
    return OfSpecimens(draws, specimen_of)


def _likely_shares(draft: Draft, specimens: OfSpecimens | None) -> SpecimenShares | None:
    """Return the shares of the clones of the most likely tree in specimens; None if there are none."""
    by_sample = draft.get(ClonesBySampleFinding)
    if specimens is None or by_sample is None:
        return None
    return SpecimenShares.of_draws(specimens.draws.shares, specimens.specimen_of, by_sample.found.joint)


def _without_clones(best: BestTree) -> str:
    return best.kind.title if best.assignment.recurrence is None else "trees with a recurrent mutation"


def _add_co_optimal(request: Request, draft: Draft, most: int, context: RunContext) -> None:
    """Add the trees that are as likely as the best one, up to the given number."""
    fixed = problem_at(request.plan.problem, request.observed, draft.best.rates)
    trees = [draft.best.parents, *draft.found.trees]
    found = walk_plateau(fixed, trees, most, lambda: context.stop.wanted)
    draft.add(CoOptimalFinding(found, draft.best.mutations))
    if context.stop.wanted and not found.complete and len(found.trees) < most:
        draft.stop(CO_OPTIMAL_STAGE)
