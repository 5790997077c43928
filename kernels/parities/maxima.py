"""Rows for the maximum score: the best score of a cell at a node below, for an even and for an odd number.

A node's rows are the scores relative to its parent without the recurrent mutation, whose weight counts at
the root, for nodes that have an odd number of its copies above.
"""

import numpy as np

from syclade.kernels.parities.nodes import if_allowed, is_copy, recurrent_of, rows_at
from syclade.kernels.parities.parts import Rows
from syclade.kernels.sums.arguments import FEW_CLASSES
from syclade.kernels.sums.links import NOBODY, first_of, next_of
from syclade.kernels.sums.path import is_on_path
from syclade.kernels.target import address, control, device_function, maximum, private_array

COUNT = 2

_COUNT = control(COUNT)
_ONE = control(1)
_FEW = control(FEW_CLASSES)
_NEVER = np.int32(-(2**30))
"""Best score at no node: with any weights, it stays below the root's score, 0."""


@device_function
def prepare(slot):
    """Do nothing: weights are used as they are."""


@device_function
def weight_at(
    slot,  # IN observed, weights
    node,  # IN control
    cell,  # IN address
):
    """Return the weight of what was observed of a mutation in a cell (int32)."""
    given, here = slot.given, slot.here
    code = np.int64(given.observed[address(node) * address(here.sizes.cells) + cell])
    own = here.number * address(here.sizes.classes)
    weight = np.int64(0)
    if here.sizes.classes > _FEW:
        weight = given.weights[own + np.uint64(code)]
    else:
        for one in range(here.sizes.classes):
            weight = weight + np.int64(code == np.int64(one)) * given.weights[own + address(one)]
    return np.int32(weight)


def make_share(lanes: int, rounds: int) -> object:
    """Return the device function `share_of_path` (see `Rows`).

    Args:
        lanes: lanes per slot.
        rounds: cells of a panel per lane.
    """

    @device_function
    def add_child(
        evens,  # IN OUT (rounds,) int32, private
        odds,  # IN OUT likewise
        slot,  # IN rows
        rows,  # IN address: where the child's rows of the lane's first cell start
    ):
        """Take over what is better below a child."""
        given, width = slot.given, address(slot.here.sizes.cells)
        for part in range(rounds):
            at = rows + address(part * lanes)
            evens[part] = np.int32(maximum(evens[part], given.rows[at]))
            odds[part] = np.int32(maximum(odds[part], given.rows[at + width]))

    @device_function
    def put_rows(
        slot,  # IN observed, weights, recurrent; OUT rows
        evens,  # IN (rounds,) int32, private
        odds,  # IN likewise
        node,  # IN control
        cell,  # IN address: the lane's first cell of the panel
    ):
        """Write a node's rows for its parent."""
        given, width = slot.given, address(slot.here.sizes.cells)
        copy = is_copy(slot, node)
        rows = rows_at(slot, node, _ONE, _COUNT) + cell
        even, odd = rows + address(copy) * width, rows + address(_ONE - copy) * width
        counts = np.int32(_ONE - copy)
        for part in range(rounds):
            offset = address(part * lanes)
            weight = np.int32(weight_at(slot, node, cell + offset) * counts)
            given.rows[even + offset] = np.int32(evens[part] + weight)
            given.rows[odd + offset] = np.int32(odds[part] + weight)

    @device_function
    def share_of_path(
        slot,  # IN the tree, observed, weights, multiplicity, recurrent; IN OUT rows
        count,  # IN control: length of the path
        allowed,  # IN control: 1 if the tree is allowed, else 0
    ):
        """Write the fresh rows of the path; return the lane's share of the tree's score (int64)."""
        given, here = slot.given, slot.here
        evens, odds = private_array(rounds, np.int32), private_array(rounds, np.int32)
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            cell = address(panel * rounds * lanes) + here.lane
            for at in range(count):
                node = control(given.path[slot.base + address(at)])
                for part in range(rounds):
                    evens[part], odds[part] = np.int32(0), _NEVER
                child = first_of(slot, node)
                while child != NOBODY:
                    add_child(evens, odds, slot, rows_at(slot, child, is_on_path(slot, child), _COUNT) + cell)
                    child = next_of(slot, child)
                put_rows(slot, evens, odds, node, cell)
            for part in range(rounds):
                here_cell = cell + address(part * lanes)
                with_it = np.int32(odds[part] + weight_at(slot, recurrent_of(slot), here_cell))
                best = np.int64(np.int32(maximum(evens[part], with_it)))
                share = share + if_allowed(allowed, best) * given.multiplicity[here_cell]
        return share

    return share_of_path


MAXIMA = Rows(COUNT, prepare, make_share)
"""Rows for the maximum score."""
