"""Spaces: which trees a chain can visit, and where it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.moves import JUMPS, JUMPS_WITH_DOUBLETS, Move
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.recurrence import is_allowed
from syclade.host.data.trees.leaf import are_leaf_trees, validate_leaf_parents
from syclade.host.data.trees.tree import (
    are_trees,
    initial_leaf_parents,
    initial_parents,
    tree_key,
    validate_parents,
)

__all__ = ["CELL_LEAF_TREES", "MUTATION_TREES", "SUMMED_TREES", "Space", "recurrent_trees"]

Table = tuple[NDArray[np.uint8], NDArray[np.int64]]


@dataclass(frozen=True)
class Space:
    """A space of trees.

    Attributes:
        name: name shown to users.
        initial: (labels, seed, chain) -> the tree that a chain starts from.
        check: (array) -> the tree as an int32 parent vector; raises a TreeError if it is not valid.
        are_trees: (int32, shape (trees, labels + 1)) -> whether all rows are valid; fast.
        key: (parents) -> 64-bit key that depends on the parents only; kernels compute the same key.
        labels: (problem) -> number of nodes of a tree besides the root, which has the next number.
        table: (problem) -> input of the numpy implementation: classes of the observed values, uint8, shape
            (rows, columns), one row per mutation or per cell; and how often each column counts, int64, shape
            (columns,).
        numpy: `module:NAME` of a `fallback.chain.parts.Space`.
        jumps: moves of learned rates, by name of the rate.
        every_jump: if any rate is learned, chains have all these moves, those of fixed rates with probability
            0, so that one kernel serves all sets of learned rates.
        encoding: the only encoding of these trees that has kernels; empty if there are several.
    """

    name: str
    initial: Callable[[int, int, int], NDArray[np.int32]]
    check: Callable[[ArrayLike], NDArray[np.int32]]
    are_trees: Callable[[NDArray[np.int32]], bool]
    key: Callable[[NDArray[np.int32]], int]
    labels: Callable[[Problem], int]
    table: Callable[[Problem], Table]
    numpy: str
    encoding: str = ""
    jumps: Mapping[str, Move] = field(default_factory=lambda: JUMPS)
    every_jump: bool = False


def _mutations(problem: Problem) -> int:
    return problem.mutations


def _nodes_but_root(problem: Problem) -> int:
    return 2 * len(problem.column_of) - 2


def _leaf_tree(parents: ArrayLike) -> NDArray[np.int32]:
    return validate_leaf_parents(parents)


def _by_mutation(problem: Problem) -> Table:
    return problem.observed, problem.multiplicity


def _by_cell(problem: Problem) -> Table:
    cells = np.ascontiguousarray(problem.observed[:, problem.column_of].T)
    return cells, np.ones(problem.mutations, dtype=np.int64)


MUTATION_TREES = Space(
    "mutation trees",
    initial_parents,
    validate_parents,
    are_trees,
    tree_key,
    _mutations,
    _by_mutation,
    "syclade.fallback.chain.space:SPACE",
)
"""Rooted trees of mutations: parent vectors of shape (n + 1,); the root is node n."""

CELL_LEAF_TREES = Space(
    "cell trees",
    initial_leaf_parents,
    _leaf_tree,
    are_leaf_trees,
    tree_key,
    _nodes_but_root,
    _by_cell,
    "syclade.fallback.leaf.space:SPACE",
    encoding="clade",
)
"""Binary trees whose leaves are the m cells, nodes 0 ... m-1: parent vectors of shape (2m - 1,)."""

SUMMED_TREES = replace(
    MUTATION_TREES, numpy="syclade.fallback.sums.tables:SPACE", encoding="sums", jumps=JUMPS_WITH_DOUBLETS
)
"""Trees of mutations whose score adds up nodes, and pairs of nodes, over each cell's subtrees."""


def recurrent_trees(mutation: int, *, pairs: bool = False) -> Space:
    """Return the space of mutation trees in which a mutation has two nodes; the last one is its copy.

    Chains start from a tree that is uniform among those whose copies are neither siblings nor parent and
    child. The scores of other trees are so low that chains never go there.

    Args:
        mutation: number of the mutation.
        pairs: whether the kernel of the score has a rate of doublets.
    """
    return replace(
        MUTATION_TREES,
        initial=partial(_initial_with_copy, mutation),
        numpy="syclade.fallback.parities.tables:SPACE",
        encoding="parities",
        jumps={name: JUMPS_WITH_DOUBLETS[name] for name in (JUMPS_WITH_DOUBLETS if pairs else JUMPS)},
        every_jump=True,
    )


_NEXT_SEED = 0x9E3779B97F4A7C15
"""Odd, so that seeds repeat only after 2^64 attempts."""


def _initial_with_copy(mutation: int, labels: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw trees until the copies of a mutation are allowed."""
    while True:
        parents = initial_parents(labels, seed, chain)
        if is_allowed(parents, mutation):
            return parents
        seed = (seed + _NEXT_SEED) % 2**64
