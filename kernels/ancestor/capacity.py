"""Sizes of ancestor matrices, as device functions have them: constants, or specialisation constants."""

from typing import Any, NamedTuple

from syclade.kernels.target import control, fixed, specialised


class Capacity(NamedTuple):
    """All control integers that lanes share.

    Attributes:
        nodes: rows of a matrix, a multiple of the lanes.
        words: of 64 bits, in a row.
        cells: columns, a multiple of the lanes.
        values: planes, one for each value that may be observed.
    """

    nodes: Any
    words: Any
    cells: Any
    values: Any


def fixed_capacity(*, nodes: int, words: int, cells: int = 0, values: int = 0, **_others: int) -> Any:
    """Return the device function () -> Capacity; stages without cells or values leave them out."""
    return fixed(Capacity(control(nodes), control(words), control(cells), control(values)))


_SPECIALISED = specialised(Capacity)


def specialised_capacity(**_sizes: int) -> Any:
    """Return the device function () -> Capacity that the host wrote into the kernel."""
    return _SPECIALISED


def bits_of(lanes: int) -> Any:
    """Return log2 of the lanes, a power of two (control): rows and columns are shared out by a shift."""
    return control(lanes.bit_length() - 1)
