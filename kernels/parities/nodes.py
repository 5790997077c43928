"""Nodes of the recurrent mutation and its copy, and where the rows of nodes are."""

import numpy as np

from syclade.kernels.parities.parts import FORBIDDEN
from syclade.kernels.sums.links import parent_of
from syclade.kernels.target import address, choose, control, device_function, equal

_ZERO = control(0)
_ONE = control(1)
_TWO = control(2)
_FORBIDDEN = np.int64(FORBIDDEN)


@device_function
def recurrent_of(
    slot,  # IN recurrent
):
    """Return the number of the recurrent mutation (control); its copy is the last before the root."""
    return control(slot.given.recurrent[slot.here.number])


@device_function
def is_copy(
    slot,  # IN recurrent
    node,  # IN control
):
    """Return 1 for the two nodes of the recurrent mutation, else 0 (control)."""
    copy = slot.here.root - _ONE
    return choose(equal(node, recurrent_of(slot)) | equal(node, copy), _ONE, _ZERO)


@device_function
def is_allowed(
    slot,  # IN recurrent, parent
):
    """Return 1 if the copies are neither siblings nor parent and child, else 0 (control)."""
    first, copy = recurrent_of(slot), slot.here.root - _ONE
    of_first, of_copy = parent_of(slot, first), parent_of(slot, copy)
    forbidden = equal(of_first, of_copy) | equal(of_first, copy) | equal(of_copy, first)
    return choose(forbidden, _ZERO, _ONE)


@device_function
def if_allowed(
    allowed,  # IN control: 1 or 0
    worth,  # IN int64, one per lane
):
    """Return what a cell contributes, if its tree is allowed, or else FORBIDDEN (int64)."""
    yes = np.int64(allowed)
    return worth * yes + _FORBIDDEN * (np.int64(1) - yes)


@device_function
def rows_at(
    slot,  # IN side
    node,  # IN control
    fresh,  # IN control: 1 for the place of the proposal's rows, 0 for the current ones
    count,  # IN control: number of rows of a node
):
    """Return where a node's rows start (address)."""
    here = slot.here
    side = control(slot.given.side[slot.base + address(node)]) ^ fresh
    return here.rows + address((_TWO * node + side) * count * here.sizes.cells)
