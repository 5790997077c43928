"""The tree with the matrix beside it, for the page and notebooks: data for the template `figure.html`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.cooptimal.consensus import consensus_of
from syclade.host.report.heat_map import (
    COLOURS,
    MOST_COLUMNS,
    beside_tree,
    data_address,
    in_order_of_tree,
    png_of,
)
from syclade.host.report.tree_svg import TreePicture, picture_of
from syclade.host.trees.clones import Clone

if TYPE_CHECKING:
    from syclade.host.input.matrix import Matrix
    from syclade.host.output.result import Result

__all__ = ["LEGEND", "Figure", "figure_of", "support_of"]

WIDTH, GAP, LEAST_MAP, WIDEST_CELL = 1200.0, 12.0, 240.0, 14.0
"""Sizes in px; WIDEST_CELL is the maximum width of the column of a cell."""

LEGEND = [(name, f"rgb{colour}") for name, colour in COLOURS.items()]


@dataclass(frozen=True)
class Figure:
    """Content of the figure.

    Attributes:
        clones: clones of the tree.
        tree: layout of the tree.
        heat_map: data URL of the picture of the matrix.
        map_x, map_width: left end and width of that picture, px.
        width: width of the whole figure, px.
        shown: number of cells shown as columns.
        support: description of the trees that the shares on edges refer to; empty without shares.
    """

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
    tree = picture_of(clones, result.mutations, shares, of)
    shown = in_order_of_tree(
        matrix.values, result.kind.genotypes(result.tree), result.kind.cell_order(result.tree)
    )
    pixels = beside_tree(shown, clones, tree.heights)
    room = max(LEAST_MAP, WIDTH - tree.width - GAP)
    map_width = min(room, WIDEST_CELL * matrix.n_cells)
    return Figure(
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
