"""Slot: the one record of a chain's arguments that device functions pass on."""

from typing import Any, NamedTuple

from syclade.kernels.target import device_function, in_step


class Slot(NamedTuple):
    """Arguments of a kernel, and where the slot's parts of them start.

    Attributes:
        given: record of the arguments of the encoding and the score.
        here: record that the encoding defines: number of the slot, lane, and where its other parts start.
        base: address, where the slot's tree starts.
    """

    given: Any
    here: Any
    base: Any


@device_function
def with_base(slot, base):
    """Return the slot with another `base`.

    Where control flow joins, keep `base` and make the slot anew: the CPU device's compiler does not vectorise
    code in which a branch or a turn of a loop changes a record.
    """
    return Slot(slot.given, slot.here, base)


@device_function
def after_writes(slot):
    """Return the slot once all lanes have arrived here; then lanes can read what others wrote to its tree."""
    return with_base(slot, in_step(slot.base))
