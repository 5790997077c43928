"""Mutation trees in which one mutation has two nodes: its own, and that of its copy, the last mutation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores import Score
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.copy_scores import attach_with_copy, with_best_copy
from syclade.host.data.model.problem import Problem, problem_at
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.recurrence import genotypes_of, kind_of
from syclade.host.findings.kinds.kind import Tree, TreeKind, no_consensus
from syclade.host.findings.kinds.mutation_trees import MUTATION

__all__ = ["recurrent_kind"]


def recurrent_kind(mutation: int) -> TreeKind:
    """Return the kind of trees in which a mutation has two nodes."""
    return replace(
        MUTATION,
        from_mutation_tree=partial(_from_mutation_tree, mutation),
        assign=partial(_assign, mutation),
        genotypes=partial(_genotypes, mutation),
        consensus_names=(),
        consensus=no_consensus,
    )


def _from_mutation_tree(
    mutation: int, problem: Problem, _rates: Rates, parents: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the tree with the copy, which was anywhere, as a leaf where it raises the score most."""
    return with_best_copy(problem, parents, mutation)


def _assign(
    mutation: int, matrix: Matrix, rates: Rates, problem: Problem, parents: NDArray[np.int32], score: Score
) -> tuple[Assignment, float]:
    cells = attach_with_copy(problem_at(problem, matrix, rates), rates, parents, mutation)
    cells = replace(cells, recurrence=kind_of(parents, mutation, matrix.mutations))
    return score.detail(cells, matrix, rates, parents), score.log_likelihood(matrix, rates, parents)


def _genotypes(mutation: int, tree: Tree) -> NDArray[np.bool_]:
    return genotypes_of(tree.parents, mutation)[:, tree.assignment.node]
