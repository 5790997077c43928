"""The matrix as a picture, in the order of the tree: an indexed PNG, made with nothing but zlib."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from syclade.host.trees.tree import preorder

__all__ = ["COLOURS", "data_address", "in_order_of_tree", "png_of"]

COLOURS = {
    "not observed": (240, 240, 240),
    "mutation": (0, 114, 178),
    "homozygous": (0, 60, 100),
    "missing": (255, 255, 255),
    "observed against the tree": (213, 94, 0),
    "in the tree, not observed": (86, 180, 233),
}
"""After Okabe and Ito, which the colour-blind can tell apart; in the order of the picture's numbers."""


def in_order_of_tree(
    values: NDArray[np.uint8], parents: NDArray[np.int32], attachment: NDArray[np.int32]
) -> NDArray[np.uint8]:
    """What to show of every entry, mutations and cells in preorder.

    Args:
        values: uint8, shape (n, cells): as observed.
        parents: parent vector, int32, shape (n + 1,).
        attachment: int32, shape (cells,): the node of every cell.

    Returns:
        uint8, shape (n, cells): numbers of COLOURS.
    """
    root = len(parents) - 1
    order = preorder(parents)
    position = np.empty(root + 1, dtype=np.int64)
    position[order] = np.arange(root + 1)
    cells = np.argsort(position[attachment], kind="stable")
    expected = np.zeros(values.shape, dtype=np.bool_)
    for cell, node in enumerate(attachment.tolist()):
        while node != root:
            expected[node, cell] = True
            node = int(parents[node])
    shown = values.copy()  # 0, 1, 2, 3 are the first four colours
    shown[(values == 1) & ~expected] = 4
    shown[(values == 2) & ~expected] = 4
    shown[(values == 0) & expected] = 5
    return np.ascontiguousarray(shown[order[1:]][:, cells])


def png_of(indices: NDArray[np.uint8]) -> bytes:
    """An indexed PNG (RFC 2083), a pixel an entry.

    Args:
        indices: uint8, shape (rows, columns): numbers of COLOURS.
    """
    rows, columns = indices.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in COLOURS.values())
    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), indices], axis=1)  # no filter
    parts = (
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def data_address(png: bytes) -> str:
    """For an <img> that needs no other file."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
