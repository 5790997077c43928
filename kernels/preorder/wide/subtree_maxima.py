"""Subtree maxima: for wide tables, the best score of each cell among the attachments below each node.

Every lane works on its own cells alone, so no lane has to wait for others.
"""

from functools import cache
from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.preorder.wide.sketches import make_sketches
from syclade.kernels.target import address, any_lane, control, device_function, less, maximum, private_array

_ONE = control(1)
_ZERO = control(0)


@cache
def make_subtree_maxima(form: Form) -> tuple[Any, Any, Any]:
    """Return the device functions (fill_subtrees, climb, reaches)."""
    rows = make_rows(form)
    sketch_row = make_sketches(form).sketch_row
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    rounds, lanes = form.rounds, form.lanes

    @device_function
    def renew_node(
        slot,  # IN order, size, places; IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        place,  # IN control: the node's position
        end,  # IN control: end of its subtree
    ):
        """Renew a node's maxima from its children's; return a mask: whether they changed."""
        given, base = slot.given, slot.base
        best = private_array(rounds, np.int32)
        subtree = slot.here.layout.subtree
        node = row_at(given.places, base + address(place))
        take_row(best, given.tables, column, node)
        child = place + _ONE
        while child < end:
            at = base + address(child)
            raise_by_row(best, given.tables, column, subtree + row_at(given.places, at))
            child = child + control(given.size[base + address(given.order[at])])
        return replace_row(best, given.tables, column, subtree + node)

    @device_function
    def fill_subtrees(
        slot,  # IN order, size, places; IN OUT tables, sketch
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        sketch_column,  # IN address: likewise, of the slot's sketches
    ):
        """Fill the maxima of all nodes, leaves first, and all sketches except those of weights."""
        given, here, base = slot
        for done in range(here.tree_nodes):
            place = here.tree_nodes - _ONE - control(done)
            node = row_at(given.places, base + address(place))
            end = place + control(given.size[base + address(given.order[base + address(place)])])
            renew_node(slot, column, place, end)
            sketch_row(given.tables, given.sketch, column, sketch_column, node)
            sketch_row(given.tables, given.sketch, column, sketch_column, here.layout.subtree + node)

    @device_function
    def climb(
        slot,  # IN the tree; IN OUT tables, sketch
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        sketch_column,  # IN address: likewise, of the slot's sketches
        node,  # IN control: the first one to renew
        shifted_from,  # IN control: first position whose own maxima the move has shifted
    ):
        """Renew a node and its ancestors, as far as they change.

        For a shifted node it cannot be seen whether the move changed its maxima, so the climb goes on.
        """
        given, base = slot.given, slot.base
        going = _ONE
        while going != _ZERO:
            place = control(given.position[base + address(node)])
            end = place + control(given.size[base + address(node)])
            changed = renew_node(slot, column, place, end)
            if changed != _ZERO:
                at = slot.here.layout.subtree + row_at(given.places, base + address(place))
                sketch_row(given.tables, given.sketch, column, sketch_column, at)
            going = less(_ZERO, place) & (changed | ~less(place, shifted_from))
            node = control(given.parent[base + address(node)])

    @device_function
    def reaches(
        tables,  # IN (slots, rows, cells) int32, flat
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        at,  # IN control: where the row starts
        upper,  # IN control: where the other row starts
        more,  # IN int32
    ):
        """Return a mask: whether a value of the row, plus `more`, is above the other row's in any cell."""
        start = column + address(at)
        upper_start = column + address(upper)
        most = np.int32(-1)
        for part in range(rounds):
            cell = address(part * lanes)
            most = maximum(most, np.int32(np.int32(tables[start + cell] + more) - tables[upper_start + cell]))
        return any_lane(most > np.int32(0))

    return fill_subtrees, climb, reaches
