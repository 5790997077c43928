"""Sizes of a problem's trees and tables, as device functions have them: constants, or read from an argument.

A kernel for one shape closes over them, so that its loops have fixed lengths and its strides fold into
addresses. A general kernel reads them when it begins, and serves every shape of its form.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import Layout, make_layout
from syclade.kernels.target import device_function


class Sizes(NamedTuple):
    """All int64 that lanes share; as in `Shape`.

    Attributes:
        nodes: positions, a multiple of the lanes.
        labels: tree nodes, likewise.
        cells: columns, a multiple of those of a panel.
        panels: a row's.
        block_bits: log2 of the positions a block.
        blocks: most blocks that the order can have.
        classes: of observed values, with that of those that tell nothing.
    """

    nodes: Any
    labels: Any
    cells: Any
    panels: Any
    block_bits: Any
    blocks: Any
    classes: Any


SIZES = Argument("sizes", PROBLEM, "int64", ("sizes",), "Sizes, then Layout")

COUNT = len(Sizes._fields) + len(Layout._fields)
"""Length of the argument."""


def make_sizes(shape: Shape, classes: int) -> tuple[Sizes, Layout]:
    """The sizes of a shape, as int64."""
    sizes = (
        shape.nodes, shape.labels, shape.cells, shape.panels, shape.block_bits, shape.most_blocks, classes,
    )  # fmt: skip
    return Sizes(*map(np.int64, sizes)), Layout(*map(np.int64, make_layout(shape)))


def fixed_sizes(shape: Shape, classes: int) -> Any:
    """Device function (given) -> (Sizes, Layout): those of a shape."""
    sizes, layout = make_sizes(shape, classes)

    @device_function
    def sizes_of(given):
        """Constants."""
        return sizes, layout

    return sizes_of


@device_function
def read_sizes(given):
    """(Sizes, Layout) that the host gave."""
    sizes = given.sizes
    return (
        Sizes(
            sizes[np.uint64(0)], sizes[np.uint64(1)], sizes[np.uint64(2)], sizes[np.uint64(3)],
            sizes[np.uint64(4)], sizes[np.uint64(5)], sizes[np.uint64(6)],
        ),
        Layout(
            sizes[np.uint64(7)], sizes[np.uint64(8)], sizes[np.uint64(9)], sizes[np.uint64(10)],
            sizes[np.uint64(11)], sizes[np.uint64(12)], sizes[np.uint64(13)], sizes[np.uint64(14)],
            sizes[np.uint64(15)], sizes[np.uint64(16)],
        ),
    )  # fmt: skip
