"""Sizes of trees and rows in device code: constants, specialisation constants, or read from an argument."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.target import address, control, device_function, specialised


class Sizes(NamedTuple):
    """Sizes of trees and rows; all control integers, the same in all lanes.

    Attributes:
        nodes: number of nodes with padding, a multiple of the lanes.
        cells: number of distinct columns with padding, a multiple of those of a panel.
        panels: number of panels per row.
        classes: number of classes of observed values, the uninformative one included.
    """

    nodes: Any
    cells: Any
    panels: Any
    classes: Any


SIZES = Argument("sizes", PROBLEM, "int64", ("sizes",), "Sizes")

COUNT = len(Sizes._fields)
"""Length of the argument."""


def fixed_sizes(nodes: int, cells: int, panels: int, classes: int) -> Any:
    """Return a device function (given) -> Sizes with these constants."""
    sizes = Sizes(control(nodes), control(cells), control(panels), control(classes))

    @device_function
    def sizes_of(given):
        """Return the constants (Sizes)."""
        return sizes

    return sizes_of


@device_function
def read_sizes(given):
    """Return the Sizes from the argument `sizes`."""
    sizes = given.sizes
    return Sizes(
        control(sizes[address(0)]), control(sizes[address(1)]), control(sizes[address(2)]),
        control(sizes[address(3)]),
    )  # fmt: skip


_specialised_sizes = specialised(Sizes)


@device_function
def specialised_sizes(given):
    """Return the Sizes that the host wrote into the kernel."""
    return _specialised_sizes()


def encodings_of(
    name: str, arguments: tuple[Argument, ...], make_evaluation: Callable[..., Evaluation]
) -> tuple[Encoding, Encoding, Encoding]:
    """Return the encodings of three kernels: for one size, general, and with specialisation constants.

    Args:
        name: the kernels' names begin with it.
        arguments: as in `Encoding`.
        make_evaluation: (sizes_of, score, lanes, rounds) -> Evaluation, for all sizes. `sizes_of` is
            a device function (given) -> Sizes, `lanes` are those of a slot, `rounds` the cells of a panel
            per lane, in registers.
    """

    def make_for_size(
        score: Score, *, lanes: int, nodes: int, cells: int, panels: int, classes: int
    ) -> Evaluation:
        """Return the evaluation for one size; arguments as in `Sizes`."""
        sizes_of = fixed_sizes(nodes, cells, panels, classes)
        return make_evaluation(sizes_of, score, lanes=lanes, rounds=cells // (lanes * panels))

    return (
        Encoding(name, "sub-group", arguments, make_for_size),
        Encoding(f"{name}_general", "sub-group", (*arguments, SIZES), partial(make_evaluation, read_sizes)),
        Encoding(name, "sub-group", arguments, partial(make_evaluation, specialised_sizes)),
    )
