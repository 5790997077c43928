"""Regraft move: a subtree of the cell tree goes to its best edge.

The mirror of `kernels/search/regraft_move.py`.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.cell_tree import CellTree
from syclade.fallback.search.conversions import to_cell_tree, to_mutation_tree
from syclade.fallback.search.draws import BONUS, Draws, keys_of
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.fallback.search.stages import Given, SearchState


class RegraftMove:
    """Moves in one cell tree."""

    def __init__(self, cells: CellTree) -> None:
        self.cells = cells
        # One row per position of the preorder: the best sum on the path to it, and the best beside that path.
        self._on_path, self._beside = np.empty_like(cells.sums), np.empty_like(cells.sums)

    def regraft(self, x: int, gumbel: NDArray[np.int64]) -> None:
        """Move x to its best edge, given the noise of every edge."""
        cells = self.cells
        if x == cells.root:
            return
        free, sibling = cells.above[x], cells.sibling(x)
        upper = cells.above[free]
        cells.replace(free, sibling)
        cells.add_up(upper, -cells.sums[x])
        order, totals = self._totals(x)
        keys = keys_of(totals, gumbel[order])
        keys[order.index(sibling)] += BONUS
        self._put_on_edge(x, free, order[int(keys.argmax())])

    def graft(self, x: int, free: int) -> None:
        """Attach a new leaf to its best edge, using a free node."""
        order, totals = self._totals(x)
        self._put_on_edge(x, free, order[int(totals.argmax())])

    def _totals(self, x: int) -> tuple[list[int], NDArray[np.int64]]:
        """Return all edges, by the node below them, and the whole score with x on each."""
        cells, order = self.cells, self.cells.preorder()
        position = {joint: place for place, joint in enumerate(order)}
        on_path, beside = self._on_path[: len(order)], self._beside[: len(order)]
        on_path[0] = cells.sums[cells.root]
        np.maximum(cells.tops[x], 0, out=beside[0])
        for place, y in enumerate(order[1:], 1):
            upper = position[cells.above[y]]
            np.maximum(on_path[upper], cells.sums[y], out=on_path[place])
            np.maximum(beside[upper], cells.tops[cells.sibling(y)], out=beside[place])
        most = on_path + cells.sums[x]
        np.maximum(most, beside, out=most)
        np.maximum(most, cells.tops[order], out=most)
        return order, most.sum(axis=1, dtype=np.int64)

    def _put_on_edge(self, x: int, free: int, y: int) -> None:
        """Attach x to the edge above y, using a free node."""
        cells, upper = self.cells, self.cells.above[y]
        cells.replace(y, free)
        cells.join(free, x, y)
        cells.add_up(upper, cells.sums[x])


def _sweep_once(cells: CellTree, draws: Draws, sweep: int, noise: int) -> bool:
    """Move every node once; return whether any move changed the score."""
    joints = len(cells.sums)
    move, changed, score = RegraftMove(cells), False, cells.score()
    noises = draws.gumbel(joints, joints, sweep, noise)
    for x, gumbel in zip(draws.shuffled(joints, sweep), noises, strict=True):
        move.regraft(x, gumbel)
        before, score = score, cells.score()
        changed |= score != before
    return changed


def regraft_sweeps(given: Given, state: SearchState, draws: Draws, repeats: int, noise: int) -> None:
    """Convert to the cell tree, move every node once per sweep, and convert back."""
    tree = MutationTree(state.parents, given.weights)
    state.take(tree, tree.score())
    cells = to_cell_tree(tree, draws, state.sweep)
    for _ in range(repeats):
        changed = _sweep_once(cells, draws, state.sweep, noise)
        state.sweep += 1
        if not changed:
            break
    tree = MutationTree(to_mutation_tree(cells), given.weights)
    state.take(tree, tree.score())


REGRAFT = regraft_sweeps
