"""Sizes of cell trees: constants, specialisation constants, or read from an argument."""

from typing import Any, NamedTuple

from syclade.kernels.arguments import PROBLEM, Argument
from syclade.kernels.target import address, control, device_function, specialised


class Sizes(NamedTuple):
    """All control integers that lanes share.

    Attributes:
        nodes: room for nodes, a multiple of the lanes.
        genes: mutations, a multiple of those of a panel.
        panels: a row's.
        words: of 64 bits, that hold a bit a cell.
        classes: of observed values, with that of those that tell nothing.
    """

    nodes: Any
    genes: Any
    panels: Any
    words: Any
    classes: Any


SIZES = Argument("sizes", PROBLEM, "int64", ("sizes",), "Sizes")

COUNT = len(Sizes._fields)
"""Length of the argument."""


def fixed_sizes(nodes: int, genes: int, panels: int, words: int, classes: int) -> Any:
    """Device function (given) -> Sizes: constants."""
    sizes = Sizes(control(nodes), control(genes), control(panels), control(words), control(classes))

    @device_function
    def sizes_of(given):
        """Constants."""
        return sizes

    return sizes_of


@device_function
def read_sizes(given):
    """The Sizes that the host gave."""
    sizes = given.sizes
    return Sizes(
        control(sizes[address(0)]), control(sizes[address(1)]), control(sizes[address(2)]),
        control(sizes[address(3)]), control(sizes[address(4)]),
    )  # fmt: skip


_specialised_sizes = specialised(Sizes)


@device_function
def specialised_sizes(given):
    """Return the Sizes that the host wrote into the kernel."""
    return _specialised_sizes()
