"""Sizes of a problem's trees and tables in device code.

They are constants of a kernel for one shape, or specialisation constants that the host writes. In both cases
loops have fixed lengths, strides fold into addresses, and what the problem does not need is left out. A
general kernel instead reads the sizes from an argument when it begins. It serves every problem of its form.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.preorder.form import form_of
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import Layout, make_layout
from syclade.kernels.target import address, control, device_function, specialised


class Sizes(NamedTuple):
    """Sizes as in `Shape`; all control integers, the same in all lanes.

    Attributes:
        nodes: number of positions, a multiple of the lanes.
        labels: number of tree nodes, a multiple of the lanes.
        cells: number of columns, a multiple of those of a panel.
        panels: number of panels per row.
        block_bits: log2 of the positions per block.
        blocks: maximum number of blocks that the order can have.
        classes: number of classes of observed values, the uninformative one included.
    """

    nodes: Any
    labels: Any
    cells: Any
    panels: Any
    block_bits: Any
    blocks: Any
    classes: Any


class Variant(NamedTuple):
    """Needs of a problem; control integers, 1 for yes and 0 for no, the same in all lanes.

    Attributes:
        weighted: columns have multiplicities.
        wide: a lane's share of a score may not fit in 32 bits.
        few: there are so few blocks that their maxima are renewed without a check.
    """

    weighted: Any
    wide: Any
    few: Any


FEW_BLOCKS = 6
"""Number of blocks up to which all maxima over blocks are renewed.

That is faster than to detect which of them change.
"""

ANY_PROBLEM = Variant(control(1), control(1), control(0))
"""Variant that serves every problem."""

SIZES = Argument("sizes", PROBLEM, "int64", ("sizes",), "Sizes, then Layout")

COUNT = len(Sizes._fields) + len(Layout._fields)
"""Length of the argument."""


def make_sizes(shape: Shape, classes: int) -> tuple[Sizes, Layout]:
    """Return the sizes of a shape, as control integers."""
    sizes = (
        shape.nodes, shape.labels, shape.cells, shape.panels, shape.block_bits, shape.most_blocks, classes,
    )  # fmt: skip
    return Sizes(*map(control, sizes)), Layout(*map(control, make_layout(shape)))


def make_variant(shape: Shape, weighted: int, wide: int) -> Variant:
    """Return the variant for a shape, as control integers; `weighted` and `wide` are as in `Variant`."""
    return Variant(*map(control, (weighted, wide, shape.most_blocks <= FEW_BLOCKS)))


def fixed_sizes(shape: Shape, classes: int, weighted: int, wide: int) -> Any:
    """Return a device function (given) -> (Sizes, Layout, Variant) with the constants of a problem."""
    sizes, layout = make_sizes(shape, classes)
    variant = make_variant(shape, weighted, wide)

    @device_function
    def sizes_of(given):
        """Return the constants (Sizes, Layout, Variant)."""
        return sizes, layout, variant

    return sizes_of


@device_function
def read_sizes(given):
    """Return (Sizes, Layout) from the argument `sizes`, and ANY_PROBLEM."""
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
        ANY_PROBLEM,
    )  # fmt: skip


_specialised_sizes, _specialised_layout = specialised(Sizes), specialised(Layout, first=len(Sizes._fields))
_specialised_variant = specialised(Variant, first=COUNT)


@device_function
def specialised_sizes(given):
    """Return (Sizes, Layout, Variant) that the host wrote into the kernel."""
    return _specialised_sizes(), _specialised_layout(), _specialised_variant()


def encodings_of(
    name: str, arguments: tuple[Argument, ...], make_evaluation: Callable[..., Evaluation], *, subtrees: int
) -> tuple[Encoding, Encoding, Encoding]:
    """Return the encodings of three kernels: for one shape, general, and with specialisation constants.

    Args:
        name: the kernels' names begin with it.
        arguments: as in `Encoding`.
        make_evaluation: (sizes_of, score, lanes, rounds, broad, classes) -> Evaluation, for every shape of a
            form. `sizes_of` is a device function (given) -> (Sizes, Layout, Variant); `classes` is the number
            of classes of observed values, the uninformative one included; the others are as in `Form`.
        subtrees: as in `Shape`.
    """

    def make_for_shape(
        score: Score,
        *,
        nodes: int,
        labels: int,
        cells: int,
        block: int,
        lanes: int,
        panels: int,
        classes: int,
        weighted: int,
        wide: int,
    ) -> Evaluation:
        """Return the evaluation for one shape; arguments as in `Shape`, `Sizes` and `Variant`."""
        shape = Shape(nodes, labels, cells, block, lanes, panels, subtrees)
        form, sizes_of = form_of(shape), fixed_sizes(shape, classes, weighted, wide)
        return make_evaluation(
            sizes_of, score, lanes=lanes, rounds=form.rounds, broad=form.broad, classes=classes
        )

    return (
        Encoding(name, "sub-group", arguments, make_for_shape),
        Encoding(f"{name}_general", "sub-group", (*arguments, SIZES), partial(make_evaluation, read_sizes)),
        Encoding(name, "sub-group", arguments, partial(make_evaluation, specialised_sizes)),
    )
