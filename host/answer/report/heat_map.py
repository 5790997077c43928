"""Picture of the matrix, with its rows beside those of the tree: an indexed PNG, written with zlib alone."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.clones import Clone

__all__ = ["COLOURS", "MOST_COLUMNS", "beside_tree", "data_address", "in_order_of_tree", "png_of"]

COLOURS = {
    "not observed": (240, 240, 240),
    "mutation": (0, 114, 178),
    "homozygous": (0, 60, 100),
    "missing": (255, 255, 255),
    "observed against the tree": (213, 94, 0),
    "in the tree, not observed": (86, 180, 233),
}
"""RGB colours, based on the colour-blind safe palette of Okabe and Ito; pixels are indices in this order."""

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


def beside_tree(
    shown: NDArray[np.uint8], clones: Sequence[Clone], heights: Sequence[int]
) -> NDArray[np.uint8]:
    """Return the rows of the mutations of each clone, stretched to the height of its row in the tree.

    Args:
        shown: uint8, shape (n, cells): indices into COLOURS.
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
        indices: uint8, shape (rows, columns): indices into COLOURS.
    """
    rows, columns = indices.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in COLOURS.values())
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
