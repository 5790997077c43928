"""Sizes of ancestor matrices in device code: constants, or specialisation constants."""

from typing import Any, NamedTuple

from syclade.kernels.target import address, control, device_function, fixed, specialised


class Capacity(NamedTuple):
    """Sizes of the matrices; all control integers, the same in all lanes.

    Attributes:
        nodes: number of rows of a matrix, a multiple of the lanes.
        words: number of 64-bit words per row.
        cells: number of columns, a multiple of the lanes.
        values: number of planes, one for each value that may be observed.
    """

    nodes: Any
    words: Any
    cells: Any
    values: Any


def fixed_capacity(*, nodes: int, words: int, cells: int = 0, values: int = 0, **_others: int) -> Any:
    """Return the device function () -> Capacity for constants; stages without cells or values omit these."""
    return fixed(Capacity(control(nodes), control(words), control(cells), control(values)))


_SPECIALISED = specialised(Capacity)


def specialised_capacity(**_sizes: int) -> Any:
    """Return the device function () -> Capacity for sizes that the host writes into the kernel."""
    return _SPECIALISED


@device_function
def matrix_start(capacity, number):
    """Return where a slot's matrix starts (address)."""
    return number * address(capacity.nodes * capacity.words)


def bits_of(lanes: int) -> Any:
    """Return log2 of the number of lanes (control): a shift by it divides rows and columns among lanes."""
    return control(lanes.bit_length() - 1)
