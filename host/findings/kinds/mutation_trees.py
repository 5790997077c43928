"""Mutation trees: the nodes are mutations, and each cell is at its best node; the file of attachments.

Trees in which one mutation recurs have one more node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.scores.score import Score, score_named, space_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment, attach_cells
from syclade.host.data.model.copy_scores import attach_with_copy, with_best_copy
from syclade.host.data.model.problem import Problem, make_problem, problem_at
from syclade.host.data.model.rate_model import RateModel
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.model.recurrence import genotypes_of, kind_of
from syclade.host.data.trees.cells import Clone, attached_cells, clones_of
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import ancestor_matrix, node_labels, preorder
from syclade.host.findings.kinds import PlanOptions, Tree, TreeKind, no_consensus
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options.types import DEFAULT_MOVE_PROBABILITIES

if TYPE_CHECKING:
    from syclade.host.chains.sample_store import SampleStore
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.samples.sampled import Sampled, Sampling
    from syclade.host.findings.unplaced import Unplaced

__all__ = ["COLUMNS", "MUTATION", "format_attachments", "recurrent_kind"]


def _make_plan(matrix: Matrix, model: RateModel, options: PlanOptions) -> Plan:
    problem = make_problem(matrix, model.rates, octaves=options.score.octaves, model=model)
    return make_plan(
        problem,
        gamma=options.gamma,
        move_probabilities=options.move_probabilities,
        score=score_named(options.score.name, problem, options.score.doublets, options.score.recurrent),
        recorders=options.recorders,
        events=options.events,
        space=space_of(options.score),
    )


def _from_mutation_tree(
    _problem: Problem, _rates: ObservationModel, parents: NDArray[np.int32]
) -> NDArray[np.int32]:
    return parents


def _canonical(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    return parents


def _labels(mutations: Sequence[str], _cells: Sequence[str]) -> list[str]:
    return node_labels(mutations)


def _assign(
    matrix: Matrix, rates: ObservationModel, problem: Problem, parents: NDArray[np.int32], score: Score
) -> tuple[Assignment, float]:
    cells = attach_cells(matrix, rates, problem_at(problem, matrix, rates), parents)
    return score.detail(cells, matrix, rates, parents), score.log_likelihood(matrix, rates, parents)


def _attached(tree: Tree, attach: bool) -> list[list[str]] | None:
    """Return the names of the cells attached to each node, or None to leave out the cells."""
    return attached_cells(tree.assignment.node.tolist(), tree.cells, tree.mutations) if attach else None


def _newick(tree: Tree, attach: bool) -> str:
    return to_newick(tree.parents, tree.mutations, _attached(tree, attach))


def _graphviz(tree: Tree, attach: bool) -> str:
    edges = None if tree.support is None else tree.support.edges.tolist()
    return to_graphviz(tree.parents, tree.mutations, _attached(tree, attach), edges)


def _table(tree: Tree) -> str:
    support = None if tree.support is None else tree.support.cells
    return format_attachments(tree.assignment, tree.mutations, tree.cells, support)


def _genotypes(tree: Tree) -> NDArray[np.bool_]:
    return ancestor_matrix(tree.parents)[:-1, tree.assignment.node].astype(np.bool_)


def _cell_order(tree: Tree) -> NDArray[np.int64]:
    position = np.empty(len(tree.parents), dtype=np.int64)
    position[preorder(tree.parents)] = np.arange(len(tree.parents))
    return np.argsort(position[tree.assignment.node], kind="stable")


def _clones(tree: Tree, unplaced: Unplaced) -> list[Clone]:
    placed: list[int] = unplaced.placed_mutations(len(tree.parents)).tolist()  # with the root
    nodes = unplaced.nodes_of(tree.parents, tree.assignment.node)
    clones = clones_of(unplaced.of_tree(tree.parents), nodes[unplaced.placed_cells(len(nodes))])
    return [replace(one.with_rows(placed), node=placed[one.node]) for one in clones]


def _judge(
    store: SampleStore, sampling: Sampling, problem: Problem, mutations: Sequence[str], _cells: Sequence[str]
) -> Sampled:
    from syclade.host.findings.samples.mutation_trees import judge_mutation_trees

    return judge_mutation_trees(store, sampling, problem, mutations)


def _consensus(
    samples: Sampled,
    best: NDArray[np.int32],
    matrix: Matrix,
    rates: ObservationModel,
    true: NDArray[np.int32] | None,
    unplaced: Unplaced,
    fn_rates: NDArray[np.float64] | None,
    doublets: float | None,
) -> CloneConsensus | None:
    from syclade.host.findings.consensus.find_consensus import find_consensus
    from syclade.host.findings.samples.mutation_trees import SampledMutationTrees

    assert isinstance(samples, SampledMutationTrees)
    return find_consensus(
        samples.store.trees,
        best,
        matrix,
        rates,
        true,
        relations=samples.relations,
        unplaced=unplaced,
        fn_rates=fn_rates,
        known=samples.clones,
        shared=samples.shared,
        doublets=doublets,
    )


MUTATION = TreeKind(
    name="mutation",
    title="mutation trees",
    item="cell",
    place="node",
    table_name="attachments.tsv",
    sample_names=("tree.samples", "posterior.tsv", "posterior.gv"),
    consensus_names=("consensus.newick", "clones.tsv", "relations.tsv", "cells.tsv"),
    move_probabilities=DEFAULT_MOVE_PROBABILITIES,
    make_plan=_make_plan,
    from_mutation_tree=_from_mutation_tree,
    canonical=_canonical,
    assign=_assign,
    labels=_labels,
    newick=_newick,
    graphviz=_graphviz,
    table=_table,
    genotypes=_genotypes,
    cell_order=_cell_order,
    clones=_clones,
    judge=_judge,
    consensus=_consensus,
)
"""Rooted trees whose nodes are the mutations."""


COLUMNS = ("cell", "column", "node", "node_number", "ties", "log_likelihood")
"""Columns: name of the cell, and its column in the matrix, from 1; name of its node, and the node's number,
from 0; number of equally good nodes, including this one; log-likelihood of the cell there (natural log)."""

POSTERIOR = "posterior"
"""Last column with the score sum: the probability of the node, given the tree."""

DOUBLETS = ("doublet", "first", "second")
"""Last columns with doublets: the probability that the cell is one, given the tree; names of the nodes of the
most likely pair."""


SUPPORT = "support"
"""Last column with support: the probability that the cell belongs to the clone of its node, over sampled
trees (`support.cells`); empty for unplaced cells."""


def format_attachments(
    attachments: Assignment,
    mutations: Sequence[str],
    cells: Sequence[str],
    support: NDArray[np.float64] | None = None,
) -> str:
    """Return the text of ``attachments.tsv``: a header, then one line per cell, in the order of the matrix.

    The header is ``COLUMNS``, followed by ``POSTERIOR`` if there are posteriors, by ``DOUBLETS`` if there are
    calls of doublets, and by ``SUPPORT`` if there is support. Names with a quote are
    quoted as in CSV, with the quote doubled. Log-likelihoods are written in full precision, posteriors
    with twelve digits, which all versions of numpy share.

    Args:
        attachments: the attachment of every cell.
        mutations: the n names of the mutations.
        cells: the names of the cells.
        support: float64, shape (cells,): the cells' support; None for none.
    """
    labels = node_labels(mutations)
    nodes = attachments.node.tolist()
    columns: list[Iterable[object]] = [
        cells,
        range(1, len(nodes) + 1),
        (labels[node] for node in nodes),
        nodes,
        attachments.ties.tolist(),
        attachments.log_likelihood.tolist(),
    ]
    more: list[str] = []
    if attachments.posterior is not None:
        more.append(POSTERIOR)
        columns.append(_shares(attachments.posterior))
    if (calls := attachments.doublets) is not None:
        more.extend(DOUBLETS)
        pairs = ((labels[node] for node in nodes) for nodes in (calls.first.tolist(), calls.second.tolist()))
        columns.extend((_shares(calls.probability), *pairs))
    if support is not None:
        more.append(SUPPORT)
        columns.append("" if math.isnan(share) else f"{share:.6g}" for share in support.tolist())
    return tsv_text((*COLUMNS, *more), zip(*columns, strict=True))


def _shares(probabilities: NDArray[np.float64]) -> Iterable[str]:
    """Return probabilities as text, with digits that all versions of numpy share."""
    return (f"{share:.12g}" for share in probabilities.tolist())


def recurrent_kind(mutation: int) -> TreeKind:
    """Return the kind of trees in which a mutation has two nodes: its own, and the last one, of its copy."""
    return replace(
        MUTATION,
        from_mutation_tree=partial(_with_best_copy, mutation),
        assign=partial(_assign_with_copy, mutation),
        genotypes=partial(_genotypes_with_copy, mutation),
        consensus_names=(),
        consensus=no_consensus,
    )


def _with_best_copy(
    mutation: int, problem: Problem, _rates: ObservationModel, parents: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the tree with the copy, which was anywhere, as a leaf where it raises the score most."""
    return with_best_copy(problem, parents, mutation)


def _assign_with_copy(
    mutation: int,
    matrix: Matrix,
    rates: ObservationModel,
    problem: Problem,
    parents: NDArray[np.int32],
    score: Score,
) -> tuple[Assignment, float]:
    cells = attach_with_copy(matrix, rates, problem_at(problem, matrix, rates), parents, mutation)
    cells = replace(cells, recurrence=kind_of(parents, mutation, matrix.mutations))
    return score.detail(cells, matrix, rates, parents), score.log_likelihood(matrix, rates, parents)


def _genotypes_with_copy(mutation: int, tree: Tree) -> NDArray[np.bool_]:
    return genotypes_of(tree.parents, mutation)[:, tree.assignment.node]
