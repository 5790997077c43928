"""Kinds of trees: what inferences of mutation trees and of cell trees do differently; kinds by name.

The functions of a kind are functions of modules, and no lambdas, so that results can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import checked, flag_of

if TYPE_CHECKING:
    from syclade.host.chains.plan import Plan
    from syclade.host.chains.sample_store import SampleStore
    from syclade.host.chains.scores.score import Score, ScoreOptions
    from syclade.host.chains.state import Recorder
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.assignment import Assignment
    from syclade.host.data.model.problem import Problem
    from syclade.host.data.model.rate_model import RateModel
    from syclade.host.data.model.rates import ObservationModel
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.samples.sampled import Sampled, Sampling
    from syclade.host.findings.support.value import Support
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "PlanOptions",
    "Tree",
    "TreeKind",
    "kind_named",
    "no_consensus",
    "weights_of",
]


Parents = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlanOptions:
    """Options of a plan that every kind of trees has; see `make_plan`."""

    score: ScoreOptions
    gamma: float
    move_probabilities: Sequence[float]
    recorders: tuple[Recorder, ...]
    events: int


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree, its names, and its assignment.

    Attributes:
        parents: int32, shape (nodes,): the parent vector.
        mutations, cells: names, in the order of the matrix.
        assignment: the best place of each item.
        support: probabilities of its edges and attachments; None for none.
    """

    parents: Parents
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    assignment: Assignment
    support: Support | None = None


@dataclass(frozen=True, eq=False)
class TreeKind:
    """Kind of trees.

    Attributes:
        name: value of the option `tree`.
        title: name for users, in the plural.
        item, place: what the tree assigns (cell or mutation), and to what (node or edge).
        table_name: name of the file of the assignment.
        sample_names: names of the files of samples.
        consensus_names: names of the files of their consensus, if it has its own.
        move_probabilities: default weights of the moves.
        make_plan: (matrix, rate model, options) -> the plan of the chains. Raises a MatrixError or
            OptionError if they cannot be used for these trees.
        from_mutation_tree: (problem of mutation trees, rates, mutation tree) -> the corresponding tree of
            this kind.
        canonical: (parents) -> the same tree, with equal vectors for equal trees.
        assign: (matrix, rates, problem, parents, score) -> the best place of each item, and the
            log-likelihood of the tree by the score: natural log, float64, from counts of events.
        labels: (mutations, cells) -> labels of all nodes.
        newick, graphviz: (tree, whether to attach the cells) -> the tree's text. Raises a MatrixError if a
            cell that is attached has the label of a node.
        table: (tree) -> the text of the file of the assignment.
        genotypes: (tree) -> bool, shape (n, cells): the mutations that each cell has.
        cell_order: (tree) -> int64, shape (cells,): the cells in the order of the tree, for pictures.
        clones: (tree, unplaced mutations and cells) -> its clones without these, in preorder.
        judge: (samples, sampling, problem, mutations, cells) -> the samples, with their diagnostics.
        consensus: (samples, most likely tree, matrix, rates, true tree or None, unplaced mutations and cells,
            rates of false negatives of the mutations or None, rate of doublets or None) -> their consensus;
            None without samples, or if these trees have none.
    """

    name: str
    title: str
    item: str
    place: str
    table_name: str
    sample_names: tuple[str, ...]
    consensus_names: tuple[str, ...]
    move_probabilities: tuple[float, ...]
    make_plan: Callable[[Matrix, RateModel, PlanOptions], Plan]
    from_mutation_tree: Callable[[Problem, ObservationModel, Parents], Parents]
    canonical: Callable[[Parents], Parents]
    assign: Callable[[Matrix, ObservationModel, Problem, Parents, Score], tuple[Assignment, float]]
    labels: Callable[[Sequence[str], Sequence[str]], list[str]]
    newick: Callable[[Tree, bool], str]
    graphviz: Callable[[Tree, bool], str]
    table: Callable[[Tree], str]
    genotypes: Callable[[Tree], NDArray[np.bool_]]
    cell_order: Callable[[Tree], NDArray[np.int64]]
    clones: Callable[[Tree, Unplaced], list[Clone]]
    judge: Callable[[SampleStore, Sampling, Problem, Sequence[str], Sequence[str]], Sampled]
    consensus: Callable[
        [
            Sampled,
            Parents,
            Matrix,
            ObservationModel,
            Parents | None,
            Unplaced,
            NDArray[np.float64] | None,
            float | None,
        ],
        CloneConsensus | None,
    ]

    def __repr__(self) -> str:
        """Return the name in a line, without the functions."""
        return f"TreeKind(name={self.name!r})"

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of the files of every answer."""
        return ("tree.newick", "tree.gv", self.table_name, "summary.json", "run.json")


def no_consensus(*_: object) -> None:
    """Return None: these trees have no consensus."""


def kind_named(name: str) -> TreeKind:
    """Return the kind of trees of a name; raise an OptionError if there is none."""
    if checked("tree", name) == "leaf":
        from syclade.host.findings.kinds.cell_trees import CELL

        return CELL
    from syclade.host.findings.kinds.mutation_trees import MUTATION

    return MUTATION


def weights_of(kind: TreeKind, given: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return the weights of the moves that these trees have.

    Args:
        kind: the kind of trees.
        given: weights as commands take them: as many for all kinds of trees; None for the default.

    Raises:
        OptionError: a move has a weight that these trees do not have.
    """
    if given is None:
        return None
    moves = len(kind.move_probabilities)
    if any(given[moves:]):
        raise OptionError(
            f"{kind.title} have no swaps of subtrees",
            hint=f"give {flag_of('move_probabilities', 'P L 0')}: weights of prune and reattach, and of "
            "swaps of leaves",
        )
    return tuple(given[:moves])
