"""Subtree maxima: for wide tables, the best score of each cell among the attachments below each node.

Every lane works on its own cells alone, so nothing has to wait for other lanes.
"""

from functools import cache
from typing import Any

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.preorder.wide.sketches import make_sketches
from syclade.kernels.target import any_lane, device_function, less, maximum, private_array

_ONE = np.int64(1)
_ZERO = np.int64(0)


@cache
def make_subtree_maxima(form: Form) -> tuple[Any, Any, Any]:
    """Device functions (fill_subtrees, climb, reaches)."""
    rows = make_rows(form)
    sketch_row = make_sketches(form).sketch_row
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    rounds, lanes = form.rounds, form.lanes

    @device_function
    def renew_node(
        given,  # IN order, size, places; IN OUT tables
        here,  # IN
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        place,  # IN int64: the node's position
        end,  # IN int64: end of its subtree
    ):
        """A node's maxima from its children's; a mask: did they change?"""
        best = private_array(rounds, np.int32)
        subtree = here.layout.subtree
        node = row_at(given.places, base + np.uint64(place))
        take_row(best, given.tables, column, node)
        child = place + _ONE
        while child < end:
            at = base + np.uint64(child)
            raise_by_row(best, given.tables, column, subtree + row_at(given.places, at))
            child = child + np.int64(given.size[base + np.uint64(given.order[at])])
        return replace_row(best, given.tables, column, subtree + node)

    @device_function
    def fill_subtrees(
        given,  # IN order, size, places; IN OUT tables, sketch
        here,  # IN
        base,  # IN uint64
        column,  # IN uint64
        sketch_column,  # IN uint64: likewise, of the slot's sketches
    ):
        """The maxima of all nodes, leaves first, and all sketches but those of weights."""
        for done in range(here.tree_nodes):
            place = here.tree_nodes - _ONE - np.int64(done)
            node = row_at(given.places, base + np.uint64(place))
            end = place + np.int64(given.size[base + np.uint64(given.order[base + np.uint64(place)])])
            renew_node(given, here, base, column, place, end)
            sketch_row(given.tables, given.sketch, column, sketch_column, node)
            sketch_row(given.tables, given.sketch, column, sketch_column, here.layout.subtree + node)

    @device_function
    def climb(
        given,  # IN the tree; IN OUT tables, sketch
        here,  # IN
        base,  # IN uint64
        column,  # IN uint64
        sketch_column,  # IN uint64
        node,  # IN int64: the first one to renew
        shifted_from,  # IN int64: first position whose own maxima the move has shifted
    ):
        """Renew a node and those above it, as far as they change.

        Whether a shifted node's maxima changed by the move is not to be seen, so the climb goes on.
        """
        going = _ONE
        while going != _ZERO:
            place = np.int64(given.position[base + np.uint64(node)])
            end = place + np.int64(given.size[base + np.uint64(node)])
            changed = renew_node(given, here, base, column, place, end)
            if changed != _ZERO:
                at = here.layout.subtree + row_at(given.places, base + np.uint64(place))
                sketch_row(given.tables, given.sketch, column, sketch_column, at)
            going = less(_ZERO, place) & (changed | ~less(place, shifted_from))
            node = np.int64(given.parent[base + np.uint64(node)])

    @device_function
    def reaches(
        tables,  # IN (slots, rows, cells) int32, flat
        column,  # IN uint64
        at,  # IN int64: a row
        upper,  # IN int64: another
        more,  # IN int32
    ):
        """Mask: is a value of the row, and so much more, above the other's in any cell of the panel?"""
        start = column + np.uint64(at)
        upper_start = column + np.uint64(upper)
        most = np.int32(-1)
        for part in range(rounds):
            cell = np.uint64(part * lanes)
            most = maximum(most, np.int32(np.int32(tables[start + cell] + more) - tables[upper_start + cell]))
        return any_lane(most > np.int32(0))

    return fill_subtrees, climb, reaches
