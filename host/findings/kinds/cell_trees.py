"""Cell trees: the leaves are the cells, each mutation is on its best edge; the file of placements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan, make_leaf_plan
from syclade.host.chains.scores.score import Score
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment, best_nodes, place
from syclade.host.data.model.problem import LeafProblem, Problem, make_leaf_problem, problem_at
from syclade.host.data.model.rate_model import RateModel
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.cells import Clone, canonical, clades, clones_of_cell_tree, leaf_tree_of
from syclade.host.data.trees.tree import preorder
from syclade.host.data.trees.treefile import leaf_labels, to_leaf_graphviz, to_leaf_newick
from syclade.host.findings.kinds import PlanOptions, Tree, TreeKind, no_consensus
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options.types import DEFAULT_LEAF_MOVE_PROBABILITIES

if TYPE_CHECKING:
    from syclade.host.chains.sample_store import SampleStore
    from syclade.host.findings.samples.sampled import Sampled, Sampling
    from syclade.host.findings.unplaced import Unplaced

__all__ = ["CELL", "COLUMNS", "format_placements"]


def _make_plan(matrix: Matrix, model: RateModel, options: PlanOptions) -> Plan:
    return make_leaf_plan(
        make_leaf_problem(matrix, model.rates, model=model),
        gamma=options.gamma,
        move_probabilities=options.move_probabilities,
        recorders=options.recorders,
        events=options.events,
    )


def _from_mutation_tree(
    problem: Problem, rates: ObservationModel, parents: NDArray[np.int32]
) -> NDArray[np.int32]:
    return leaf_tree_of(parents, best_nodes(problem, parents)[0].tolist())


def _assign(
    matrix: Matrix, rates: ObservationModel, problem: Problem, parents: NDArray[np.int32], _score: Score
) -> tuple[Assignment, float]:
    assert isinstance(problem, LeafProblem)
    return place(matrix, rates, problem_at(problem, matrix, rates), parents)


def _table(tree: Tree) -> str:
    return format_placements(tree.assignment, clades(tree.parents), tree.mutations, tree.cells)


def _labels(_mutations: Sequence[str], cells: Sequence[str]) -> list[str]:
    return leaf_labels(cells)


def _newick(tree: Tree, _attach: bool) -> str:
    return to_leaf_newick(tree.parents, tree.cells)


def _graphviz(tree: Tree, _attach: bool) -> str:
    return to_leaf_graphviz(tree.parents, tree.cells, tree.mutations, tree.assignment.node)


def _genotypes(tree: Tree) -> NDArray[np.bool_]:
    return clades(tree.parents)[tree.assignment.node]


def _clones(tree: Tree, unplaced: Unplaced) -> list[Clone]:
    placed = unplaced.placed_mutations(len(tree.assignment.node))
    clones = clones_of_cell_tree(tree.parents, tree.assignment.node[placed])
    return [one.with_rows(placed.tolist()) for one in clones]


def _cell_order(tree: Tree) -> NDArray[np.int64]:
    order = preorder(tree.parents)
    return order[order < len(tree.cells)].astype(np.int64)


def _judge(
    store: SampleStore, sampling: Sampling, problem: Problem, _mutations: Sequence[str], cells: Sequence[str]
) -> Sampled:
    from syclade.host.findings.samples.cell_trees import judge_cell_trees

    return judge_cell_trees(store, sampling, problem, cells)


CELL = TreeKind(
    name="leaf",
    title="cell trees",
    item="mutation",
    place="edge",
    table_name="placements.tsv",
    sample_names=("tree.samples", "clades.tsv", "consensus.newick"),
    consensus_names=(),
    move_probabilities=DEFAULT_LEAF_MOVE_PROBABILITIES,
    make_plan=_make_plan,
    from_mutation_tree=_from_mutation_tree,
    canonical=canonical,
    assign=_assign,
    labels=_labels,
    newick=_newick,
    graphviz=_graphviz,
    table=_table,
    genotypes=_genotypes,
    cell_order=_cell_order,
    clones=_clones,
    judge=_judge,
    consensus=no_consensus,
)
"""Binary trees whose leaves are the cells (SCITE's -transpose)."""


COLUMNS = ("mutation", "row", "edge", "cells", "ties", "log_likelihood")
"""Columns of placements.tsv: name of the mutation, and its row in the matrix, from 1; the label of the node
below its edge, and the number of cells below; the number of equally good edges, including this one; the
log-likelihood of the row (natural log)."""


def format_placements(
    placements: Assignment, below: NDArray[np.bool_], mutations: Sequence[str], cells: Sequence[str]
) -> str:
    """Return the text of ``placements.tsv``: a line with ``COLUMNS``, then one line per mutation.

    The mutations are in the order of the matrix.

    Args:
        placements: placements of all mutations.
        below: bool, shape (2m - 1, m): the cells below each node.
        mutations, cells: names.
    """
    labels = leaf_labels(cells)
    rows = zip(
        mutations,
        range(1, len(mutations) + 1),
        (labels[node] for node in placements.node.tolist()),
        below[placements.node].sum(axis=1).tolist(),
        placements.ties.tolist(),
        placements.log_likelihood.tolist(),
        strict=True,
    )
    return tsv_text(COLUMNS, rows)
