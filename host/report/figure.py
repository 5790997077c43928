"""The tree with the matrix beside it, of the page and of notebooks: what the template `figure.svg` draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.report.clones import Clone, clones_of
from syclade.host.report.heat_map import (
    COLOURS,
    MOST_COLUMNS,
    beside_tree,
    data_address,
    in_order_of_tree,
    png_of,
)
from syclade.host.report.tree_svg import TreePicture, picture_of

if TYPE_CHECKING:
    from syclade.host.input.matrix import Matrix
    from syclade.host.output.result import Result

__all__ = ["LEGEND", "Figure", "figure_of", "support_of"]

WIDTH, GAP, LEAST_MAP, WIDEST_CELL = 1200.0, 12.0, 240.0, 14.0
"""px; a cell's column is at most so wide."""

LEGEND = [(name, f"rgb{colour}") for name, colour in COLOURS.items()]


@dataclass(frozen=True)
class Figure:
    """What is drawn.

    Attributes:
        clones: of the tree.
        tree: its picture.
        heat_map: address of the picture of the matrix.
        map_x, map_width: where it stands, px.
        width: of all, px.
        shown: cells that the matrix has columns for.
        support: what the shares on edges are of; empty without.
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
        """Where the matrix begins, px."""
        return self.tree.rows[0].y - min(self.tree.heights) / 2

    @property
    def map_height(self) -> int:
        """px."""
        return sum(self.tree.heights)


def figure_of(result: Result, matrix: Matrix) -> Figure:
    """The figure of a result.

    Args:
        result: of an inference.
        matrix: that it was made from.
    """
    clones = clones_of(result.parents, result.attachment)
    shares, of = support_of(result, clones)
    tree = picture_of(clones, result.mutations, shares, of)
    shown = in_order_of_tree(matrix.values, result.parents, result.attachment)
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
    """The share of other trees that have the edge to each clone, and what trees these are; or None, and "".

    Args:
        result: of an inference, with samples, or co-optimal trees.
        clones: of its tree.
    """
    if result.samples is not None:
        edges, of = result.samples.posterior.edges, "the sampled trees"
    elif result.co_optimal is not None and len(result.co_optimal.trees) > 1:
        from syclade.host.cooptimal.consensus import consensus_of

        edges, of = consensus_of(result.co_optimal.trees).edges, f"{len(result.co_optimal.trees)} equal trees"
    else:
        return None, ""
    shares: list[float | None] = [None]
    for clone in clones[1:]:
        first = clone.mutations[0]
        shares.append(float(edges[result.parents[first], first]))
    return shares, of
