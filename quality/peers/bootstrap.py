"""Bootstrap of a program that makes cell trees: shares of pairs of mutations over resampled mutations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.newick import newick_edges
from syclade.quality.peers.claims import claims_of_cells

__all__ = ["cells_on_tree", "resampled", "shares_of_trees"]


def resampled(mutations: int, replicates: int, seed: int) -> list[list[int]]:
    """Return mutations drawn with replacement, as many as there are, for each replicate."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return [rng.integers(0, mutations, mutations).tolist() for _ in range(replicates)]


def shares_of_trees(
    trees: Sequence[str], matrix: Matrix, rates: Rates
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of trees in which one mutation is before another, or on another lineage.

    Args:
        trees: cell trees in Newick format, whose leaves are 1 to m, at least one.
        matrix: the observed values: each mutation is placed on the edge where it is most likely.
        rates: the error rates.

    Returns:
        Two arrays, float64, shape (n, n): before, apart.
    """
    claims = [claims_of_cells(cells_on_tree(tree, matrix, rates)) for tree in trees]
    before, apart = (
        np.mean([getattr(one, name) for one in claims], axis=0, dtype=np.float64)
        for name in ("before", "apart")
    )
    return before, apart


def cells_on_tree(tree: str, matrix: Matrix, rates: Rates) -> NDArray[np.bool_]:
    """Return the cells of each mutation: those below its most likely edge of a cell tree.

    As in ScisTree2's own tree, each mutation is on an edge, also one that was never observed.

    Args:
        tree, matrix, rates: as for `shares_of_trees`.
    """
    weights = np.array(
        [
            np.log(rates.fn_rate / (1 - rates.fp_rate)),
            np.log((1 - rates.fn_rate) / rates.fp_rate),
            0.0,
            0.0,
        ]
    )
    below = _clades(tree, matrix.n_cells)
    gains = weights[matrix.values] @ below.T.astype(np.float64)
    return np.asarray(below[gains.argmax(axis=1)])


def _clades(tree: str, cells: int) -> NDArray[np.bool_]:
    """Return the cells below each edge of a tree, and all cells: bool, shape (edges + 1, cells)."""
    parent = {edge.child: edge.parent for edge in newick_edges(tree, joints=True)}
    number = {node: at for at, node in enumerate(dict.fromkeys([*parent, *parent.values()]))}
    below = np.zeros((len(number), cells), dtype=np.bool_)
    for cell in range(cells):
        node = str(cell + 1)
        below[number[node], cell] = True
        while node in parent:
            node = parent[node]
            below[number[node], cell] = True
    return below
