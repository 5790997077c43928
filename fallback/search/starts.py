"""Starts: build a tree by adding one mutation or column after another at its best place.

The mirror of `kernels/search/starts.py`.
"""

import numpy as np

from syclade.fallback.search.cell_tree import CellTree
from syclade.fallback.search.conversions import to_mutation_tree
from syclade.fallback.search.draws import Draws
from syclade.fallback.search.exact_move import PLACES, ExactMove
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.fallback.search.regraft_move import RegraftMove
from syclade.fallback.search.stages import Given, SearchState


def by_mutations(given: Given, state: SearchState, draws: Draws, repeats: int, noise: int) -> None:
    """Add mutations to a mutation tree, those seen in most cells first."""
    nodes = len(given.weights) + 1
    tree = MutationTree(np.arange(nodes), given.weights)
    move, silence = ExactMove(tree), np.zeros(PLACES * nodes, dtype=np.int64)
    score = 0
    for v in given.falling.tolist():
        score = move(v, score, silence)
    state.take(tree, score)
    state.sweep += 1


def by_columns(given: Given, state: SearchState, draws: Draws, repeats: int, noise: int) -> None:
    """Add columns to a cell tree, those with most mutations first."""
    first, *others = given.fullest.tolist()
    cells = CellTree(np.ascontiguousarray(given.weights.T), root=first)
    move = RegraftMove(cells)
    for free, x in enumerate(others, len(others) + 1):
        move.graft(x, free)
    tree = MutationTree(to_mutation_tree(cells), given.weights)
    state.take(tree, tree.score())
    state.sweep += 1


BY_MUTATIONS = by_mutations

BY_COLUMNS = by_columns
