"""The tree with the matrix beside it, for the page and notebooks: data for the template `figure.html`.

The matrix is an indexed PNG with its rows beside those of the tree, written with zlib alone.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.report.tree_svg import TreePicture, picture_of
from syclade.host.data.input.evidence import Likelihoods
from syclade.host.data.trees.clones import Clone
from syclade.host.findings.doublets import genotypes_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = [
    "COLOURS",
    "LEGEND",
    "MOST_COLUMNS",
    "PALETTE",
    "Figure",
    "beside_tree",
    "data_address",
    "entries_in_order",
    "figure_of",
    "figure_of_consensus",
    "in_order_of_tree",
    "png_of",
    "support_of",
]


COLOURS = {
    "not observed": (240, 240, 240),
    "mutation": (0, 114, 178),
    "homozygous": (0, 60, 100),
    "missing": (255, 255, 255),
    "observed against the tree": (213, 94, 0),
    "in the tree, not observed": (86, 180, 233),
}
"""RGB colours, based on the colour-blind safe palette of Okabe and Ito; pixels are indices in this order."""

_SHADED, _PARTS = (0, 1, 4, 5), (0.25, 0.5, 0.75)
"""Colours that evidence makes paler, and the parts of them that its paler shades have."""

PALETTE = (
    *COLOURS.values(),
    *(
        tuple(round(255 - part * (255 - light)) for light in list(COLOURS.values())[at])
        for at in _SHADED
        for part in _PARTS
    ),
)
"""RGB colours of pixels: `COLOURS`, then their shades."""

_SURE = (1 / 3, 2 / 3, 0.9)
"""Differences of the probabilities of both states from which an entry has the next shade; at last, none."""

BLANK = 3
"""Index of the background colour."""

MOST_COLUMNS = 1400
"""Maximum number of cells shown; of more cells, evenly spaced ones are taken."""


def in_order_of_tree(
    values: NDArray[np.uint8], genotypes: NDArray[np.bool_], order: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the colour of every entry; rows are mutations as in the matrix, columns are cells in `order`.

    Args:
        values: uint8, shape (n, cells): the observed values.
        genotypes: bool, shape (n, cells): the mutations that the cells have in the tree.
        order: int64, shape (cells,): the cells in the order of the tree.

    Returns:
        uint8, shape (n, cells): indices into COLOURS.
    """
    shown = values.copy()  # 0, 1, 2, 3 are the first four colours
    shown[((values == 1) | (values == 2)) & ~genotypes] = 4
    shown[(values == 0) & genotypes] = 5
    return np.ascontiguousarray(shown[:, order])


def entries_in_order(
    matrix: Matrix, genotypes: NDArray[np.bool_], order: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the colour of every entry, as `in_order_of_tree`; with evidence, paler where it is less sure.

    Args:
        matrix: the matrix.
        genotypes, order: as for `in_order_of_tree`.

    Returns:
        uint8, shape (n, cells): indices into PALETTE.
    """
    if not isinstance(matrix.evidence, Likelihoods):
        return in_order_of_tree(matrix.values, genotypes, order)
    log_odds = matrix.evidence.log_odds
    values = np.where(log_odds == 0, 3, log_odds > 0).astype(np.uint8)
    colours = in_order_of_tree(values, genotypes, order)
    shades = np.searchsorted(_SURE, np.tanh(np.abs(log_odds[:, order]) / 2.0), side="right")
    paler = np.zeros((len(COLOURS), len(_PARTS) + 1), dtype=np.uint8)
    paler[:] = np.arange(len(COLOURS))[:, None]
    paler[list(_SHADED), :-1] = len(COLOURS) + np.arange(len(_SHADED) * len(_PARTS)).reshape(-1, len(_PARTS))
    return np.asarray(paler[colours, shades])


def beside_tree(
    shown: NDArray[np.uint8], clones: Sequence[Clone], heights: Sequence[int]
) -> NDArray[np.uint8]:
    """Return the rows of the mutations of each clone, stretched to the height of its row in the tree.

    Args:
        shown: uint8, shape (n, cells): indices into PALETTE.
        clones: the clones, in the order of the rows.
        heights: heights of their rows, px.

    Returns:
        uint8, shape (sum of heights, cells shown).
    """
    columns = np.linspace(0, shown.shape[1] - 1, min(MOST_COLUMNS, shown.shape[1])).round().astype(np.int64)
    shown = shown[:, columns]
    picture = np.full((sum(heights), shown.shape[1]), BLANK, np.uint8)
    top = 0
    for clone, height in zip(clones, heights, strict=True):
        if clone.mutations:  # leave a free pixel between clones if there is space
            lines = max(len(clone.mutations), height - 1)
            which = np.arange(lines) * len(clone.mutations) // lines
            picture[top : top + lines] = shown[np.array(clone.mutations)[which]]
        top += height
    return picture


def png_of(indices: NDArray[np.uint8]) -> bytes:
    """Return an indexed PNG (RFC 2083) with one pixel per entry.

    Args:
        indices: uint8, shape (rows, columns): indices into PALETTE.
    """
    rows, columns = indices.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    used = len(COLOURS) if indices.max(initial=0) < len(COLOURS) else len(PALETTE)
    palette = b"".join(bytes(colour) for colour in PALETTE[:used])
    lines = np.full((rows, columns + 1), 2, dtype=np.uint8)  # filter 2: difference from the row above
    lines[0, 1:] = indices[0]
    lines[1:, 1:] = indices[1:] - indices[:-1]
    parts = (
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(lines.tobytes(), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def data_address(content: bytes, kind: str = "image/png") -> str:
    """Return a data URL, which embeds the content in an <img> element."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


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
    pixels = beside_tree(entries_in_order(matrix, genotypes, order), clones, tree.heights)
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
    """Return for each clone the share of sampled or co-optimal trees that have it: the first finding's.

    Args:
        result: the result of an inference.
        clones: clones of its tree.

    Returns:
        The shares, with None for the root, and a description of the trees. Without samples and without
        further co-optimal trees, None and "".
    """
    for finding in result.findings:
        found = finding.clone_shares(result.parents, clones, result.unplaced)
        if found is not None:
            return found
    return None, ""
