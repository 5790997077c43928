"""The tree with the matrix beside it, for the page and notebooks: data for the template `figure.html`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.report.heat_map import (
    COLOURS,
    MOST_COLUMNS,
    beside_tree,
    data_address,
    in_order_of_tree,
    png_of,
)
from syclade.host.answer.report.tree_svg import TreePicture, picture_of
from syclade.host.data.trees.clones import Clone
from syclade.host.findings.cooptimal.consensus import consensus_of
from syclade.host.findings.doublets import genotypes_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = ["LEGEND", "Figure", "figure_of", "figure_of_consensus", "support_of"]

WIDTH, GAP, LEAST_MAP, WIDEST_CELL = 1200.0, 12.0, 240.0, 14.0
"""Sizes in px; WIDEST_CELL is the maximum width of the column of a cell."""

LEGEND = [(name, f"rgb{colour}") for name, colour in COLOURS.items()]


@dataclass(frozen=True)
class Figure:
    """Content of the figure.

    Attributes:
        name: name of the figure, unique in a page.
        clones: clones of the tree.
        tree: layout of the tree.
        heat_map: data URL of the picture of the matrix.
        map_x, map_width: left end and width of that picture, px.
        width: width of the whole figure, px.
        shown: number of cells shown as columns.
        support: description of the trees that the shares on edges refer to; empty without shares.
    """

    name: str
    clones: list[Clone]
    tree: TreePicture
    heat_map: str
    map_x: float
    map_width: float
    width: float
    shown: int
    support: str

    @property
    def map_top(self) -> float:
        """Upper end of the matrix, px."""
        return self.tree.rows[0].y - min(self.tree.heights) / 2

    @property
    def map_height(self) -> int:
        """Height of the matrix, px."""
        return sum(self.tree.heights)


def figure_of(result: Result, matrix: Matrix) -> Figure:
    """Return the figure of a result.

    Args:
        result: the result of an inference.
        matrix: the matrix of the inference.
    """
    clones = result.kind.clones(result.tree)
    shares, of = support_of(result, clones)
    order = result.kind.cell_order(result.tree)
    return _figure("tree", clones, shares, of, matrix, genotypes_of(result.kind, result.tree), order)


def figure_of_consensus(consensus: CloneConsensus) -> Figure:
    """Return the figure of a consensus, with the support of its clones: of placed mutations and cells."""
    tree, best = consensus.tree, consensus.cells.best
    cells, depths = np.bincount(best, minlength=tree.clones), [0] * tree.clones
    for clone in range(1, tree.clones):
        depths[clone] = depths[tree.parents[clone]] + 1
    clones = [
        Clone(
            clone, int(tree.parents[clone]), depths[clone], tuple(tree.members[clone]), int(cells[clone]),
            int(cells[clone : tree.ends[clone]].sum()),
        )
        for clone in range(tree.clones)
    ]  # fmt: skip
    return _figure(
        "consensus",
        clones,
        [None, *consensus.support[1:].tolist()],
        "the sampled trees",
        consensus.placed,
        tree.within[tree.clone_of][:, best],
        np.argsort(best, kind="stable"),
    )


def _figure(
    name: str,
    clones: list[Clone],
    shares: list[float | None] | None,
    of: str,
    matrix: Matrix,
    genotypes: NDArray[np.bool_],
    order: NDArray[np.int64],
) -> Figure:
    """Return the figure of clones, with the matrix beside them.

    Args:
        name: as in `Figure`.
        clones: the clones, in preorder.
        shares, of: as for `picture_of`.
        matrix: the matrix.
        genotypes: bool, shape (n, cells): the mutations that the cells have.
        order: int64, shape (cells,): the cells in the order of the tree.
    """
    tree = picture_of(clones, matrix.mutations, shares, of)
    pixels = beside_tree(in_order_of_tree(matrix.values, genotypes, order), clones, tree.heights)
    room = max(LEAST_MAP, WIDTH - tree.width - GAP)
    map_width = min(room, WIDEST_CELL * matrix.n_cells)
    return Figure(
        name,
        clones,
        tree,
        data_address(png_of(pixels)),
        tree.width + GAP,
        map_width,
        tree.width + GAP + map_width + 2,
        min(MOST_COLUMNS, matrix.n_cells),
        of if shares else "",
    )


def support_of(result: Result, clones: list[Clone]) -> tuple[list[float | None] | None, str]:
    """Return for each clone the share of sampled or co-optimal trees with the edge to it.

    Of support, it is the share with the clone's clade: the same mutations at and below its first one.

    Args:
        result: the result of an inference.
        clones: clones of its tree.

    Returns:
        The shares, with None for the root, and a description of the trees. Without samples and without
        further co-optimal trees, None and "".
    """
    if result.samples is not None:
        return result.samples.support(result.parents, clones, result.unplaced), "the sampled trees"
    if result.support is not None:
        clades = result.support.clades
        first = [result.unplaced.first_placed(clone.mutations) for clone in clones]
        return [None if one is None else float(clades[one]) for one in first], "the sampled trees"
    if result.co_optimal is None or len(result.co_optimal.trees) == 1:
        return None, ""

    shared = consensus_of(result.co_optimal.trees)
    shares = shared.of_edges(result.parents, [clone.node for clone in clones[1:]])
    return [None, *shares], f"{shared.trees} equal trees"
