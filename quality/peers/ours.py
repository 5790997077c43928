"""Our methods, with the true error rates given, without, and of reads; and a control with equal nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.inference import infer
from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.consensus.search import THRESHOLDS, Thresholds
from syclade.host.ground.errors import RatesError
from syclade.quality.calibration.sampling import with_equal_nodes
from syclade.quality.peers.claims import Claims, claims_of_shares, claims_of_tree, without_ties
from syclade.quality.peers.judged import StudyInput
from syclade.quality.peers.result import EQUAL_NODES, ESTIMATED, OF_READS, OURS, Found
from syclade.quality.race.answers import processor_seconds

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
    from syclade.host.findings.support.value import Support

__all__ = ["consensus_of_all", "equal_nodes", "of_reads", "rates_given", "rates_not_given"]


def rates_given(one: StudyInput, support: str, device: str) -> Iterator[Found]:
    """Yield what a run with the true rates finds: the most likely tree, the consensus, the pairs.

    Args:
        one: the input.
        support: level of support.
        device: filter string of the device.
    """
    began, given = processor_seconds(), one.given
    result = infer(
        one.simulation.matrix,
        fp_rate=given.fp_rate,
        fn_rate=given.fn_rate,
        support=support,
        device=device,
        seed=given.seed,
    )
    seconds = processor_seconds() - began
    likely, open_ties, consensus, pairs = OURS
    on_path = ancestor_matrix(result.parents)[: given.mutations, result.assignment.node].astype(bool)
    ordered = claims_of_tree(clone_tree_of(result.parents))
    yield one.found(likely, ordered, seconds)
    yield one.found(open_ties, without_ties(ordered, on_path), seconds)
    yield _of_consensus(one, consensus, result, seconds)
    relations = _support_of(result).sampled.relations
    shares = claims_of_shares(relations.before, relations.apart)
    yield one.found(pairs, shares, seconds, relations.before)


def rates_not_given(one: StudyInput, support: str, device: str) -> Iterator[Found]:
    """Yield the consensus without given rates; nothing if the matrix does not determine its rates.

    Args:
        one, support, device: as for `rates_given`.
    """
    began = processor_seconds()
    try:
        result = infer(one.simulation.matrix, support=support, device=device, seed=one.given.seed)
    except RatesError:
        return
    yield _of_consensus(one, ESTIMATED, result, processor_seconds() - began)


def of_reads(one: StudyInput, support: str, device: str) -> Iterator[Found]:
    """Yield what a run of the numbers of reads finds, whose parameters are estimated.

    Args:
        one: the input, which has reads.
        support, device: as for `rates_given`.
    """
    assert one.reads is not None
    began = processor_seconds()
    numbers = one.reads.astype(np.int32)
    reads = Reads(numbers[:, :, 1], numbers.sum(axis=2, dtype=np.int32))
    matrix = replace(one.simulation.matrix, evidence=reads)
    result = infer(matrix, support=support, device=device, seed=one.given.seed)
    seconds = processor_seconds() - began
    likely, consensus = OF_READS
    yield one.found(likely, claims_of_tree(clone_tree_of(result.parents)), seconds)
    yield _of_consensus(one, consensus, result, seconds)


def equal_nodes(one: StudyInput, support: str, device: str) -> Iterator[Found]:
    """Yield the consensus of chains that take all nodes to be equally probable for a cell: a control.

    Args:
        one, support, device: as for `rates_given`.
    """
    began, given = processor_seconds(), one.given
    result = infer(
        one.simulation.matrix,
        fp_rate=given.fp_rate,
        fn_rate=given.fn_rate,
        support="none",
        device=device,
        seed=given.seed,
    )
    sampled = with_equal_nodes(support, one.simulation.matrix, given.rates, result, device)
    claims, seconds = _consensus_claims(one, result, sampled.trees), processor_seconds() - began
    yield one.found(EQUAL_NODES, claims, seconds, sampled.trees.relations.before, sampled.mixed)


def _of_consensus(one: StudyInput, method: str, result: Result, seconds: float) -> Found:
    """Return the comparison of a run's consensus with the truth.

    The consensus is that of all mutations, also of unplaced ones, which the other programs place, too.
    """
    support = _support_of(result)
    rates, inside, sampled = support.rates, None, support.sampled
    if rates is not None:
        inside = {
            name: between.low <= getattr(one.given, name) <= between.high
            for name, between in rates.intervals.items()
        }
    claims = _consensus_claims(one, result, sampled)
    return one.found(method, claims, seconds, sampled.relations.before, support.enough, inside)


def _consensus_claims(one: StudyInput, result: Result, sampled: SampledMutationTrees) -> Claims:
    tree = consensus_of_all(sampled, result.parents, result.observed, result.model)
    return claims_of_tree(tree)


def consensus_of_all(
    samples: SampledMutationTrees,
    best: NDArray[np.int32],
    matrix: Matrix,
    rates: ObservationModel,
    thresholds: Thresholds = THRESHOLDS,
) -> CloneTree:
    """Return the consensus as `infer` makes it, but of all mutations, also of unplaced ones.

    Args:
        samples: the samples.
        best: int32, shape (n + 1,): the most likely tree.
        matrix, rates: the observed values, and the error rates, or levels of evidence.
        thresholds: the least probabilities of claims that pay.
    """
    made = find_consensus(
        samples.store.trees, best, matrix, rates, thresholds=thresholds, relations=samples.relations
    )
    assert made is not None
    return made.tree


def _support_of(result: Result) -> Support:
    assert result.support is not None
    return result.support
