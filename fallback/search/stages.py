"""Stages of a search: a few sweeps of one kind of move (the mirror of `kernels/search/stages.py`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.draws import Draws
from syclade.fallback.search.mutation_tree import MutationTree


class Given(NamedTuple):
    """The input of a search.

    Attributes:
        weights: (mutations, columns) int32: what a mutation adds to a column below it.
        falling: (mutations,) int32: mutations, those seen in most cells first.
        fullest: (columns,) int32: columns, those with most mutations first.
    """

    weights: NDArray[np.int32]
    falling: NDArray[np.int32]
    fullest: NDArray[np.int32]


@dataclass
class SearchState:
    """The current state of a search; a stage updates it in place.

    Attributes:
        parents: int32, (mutations + 1,).
        score: of the tree.
        sweep: number of sweeps done.
        best_parents, best_score: the best tree so far.
    """

    parents: NDArray[np.int32]
    score: int
    sweep: int
    best_parents: NDArray[np.int32]
    best_score: int

    def take(self, tree: MutationTree, score: int) -> None:
        """Store the tree, and as the best one if it is."""
        self.parents, self.score = tree.parents.astype(np.int32), score
        if score > self.best_score:
            self.best_parents, self.best_score = self.parents, score


Stage = Callable[[Given, SearchState, Draws, int, int], None]
"""(given, state, draws, repeats, noise)."""


class Move(Protocol):
    """A kind of move in a mutation tree; a new instance is made for every sweep."""

    def __init__(self, tree: MutationTree) -> None: ...

    def __call__(self, v: int, score: int, gumbel: NDArray[np.int64]) -> int:
        """Move v to its best place, given the tree's score and the noise of places; return the new score."""
        ...


def sweeps_of(move: type[Move], places: int = 1) -> Stage:
    """Return the stage that sweeps over the mutation tree until a sweep changes nothing.

    Args:
        move: the kind of move.
        places: number of places per node.
    """

    def sweep_once(tree: MutationTree, score: int, draws: Draws, sweep: int, noise: int) -> tuple[int, bool]:
        turns = draws.shuffled(tree.root, sweep)
        noises = draws.gumbel(tree.root, places * (tree.root + 1), sweep, noise)
        take, changed = move(tree), False
        for v, gumbel in zip(turns, noises, strict=True):
            before, score = score, take(v, score, gumbel)
            changed |= score != before
        return score, changed

    def sweeps(given: Given, state: SearchState, draws: Draws, repeats: int, noise: int) -> None:
        """Move every mutation once per sweep."""
        tree = MutationTree(state.parents, given.weights)
        state.take(tree, tree.score())
        for _ in range(repeats):
            score, changed = sweep_once(tree, state.score, draws, state.sweep, noise)
            state.take(tree, score)
            state.sweep += 1
            if not changed:
                break

    return sweeps
