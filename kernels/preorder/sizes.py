"""Sizes of a problem's trees and tables, as device functions have them.

They are constants of a kernel for one shape, or specialisation constants, which the host writes: then loops
have fixed lengths, and strides fold into addresses. Or a general kernel reads them from an argument when it
begins, and serves every shape of its form.
"""

from typing import Any, NamedTuple

from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import Layout, make_layout
from syclade.kernels.target import address, control, device_function, specialised


class Sizes(NamedTuple):
    """All control integers that lanes share; as in `Shape`.

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
    """The sizes of a shape, as control integers."""
    sizes = (
        shape.nodes, shape.labels, shape.cells, shape.panels, shape.block_bits, shape.most_blocks, classes,
    )  # fmt: skip
    return Sizes(*map(control, sizes)), Layout(*map(control, make_layout(shape)))


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
            control(sizes[address(0)]), control(sizes[address(1)]), control(sizes[address(2)]),
            control(sizes[address(3)]), control(sizes[address(4)]), control(sizes[address(5)]),
            control(sizes[address(6)]),
        ),
        Layout(
            control(sizes[address(7)]), control(sizes[address(8)]), control(sizes[address(9)]),
            control(sizes[address(10)]), control(sizes[address(11)]), control(sizes[address(12)]),
            control(sizes[address(13)]), control(sizes[address(14)]), control(sizes[address(15)]),
            control(sizes[address(16)]),
        ),
    )  # fmt: skip


_specialised_sizes, _specialised_layout = specialised(Sizes), specialised(Layout, first=len(Sizes._fields))


@device_function
def specialised_sizes(given):
    """Return (Sizes, Layout) that the host wrote into the kernel."""
    return _specialised_sizes(), _specialised_layout()
