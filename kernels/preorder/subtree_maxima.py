"""Subtree maxima: for wide tables, the best score of each cell among the attachments below each node.

Every lane works on its own cells alone, so nothing has to wait for other lanes.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.preorder.layout import make_layout, panels_of
from syclade.kernels.preorder.places import row_at
from syclade.kernels.preorder.rows import make_rows
from syclade.kernels.preorder.sketches import make_sketches
from syclade.kernels.preorder.uniform import any_lane, less

_ONE = np.int64(1)
_ZERO = np.int64(0)


def make_subtree_maxima(nodes: int, cells: int, block: int, lanes: int) -> tuple[Callable[..., Any], ...]:
    """Device functions (fill_subtrees, climb, reaches)."""
    subtree = np.int64(make_layout(nodes, cells, block).subtree)
    rows = make_rows(cells, lanes)
    sketch_row = make_sketches(cells, lanes).sketch_row
    take_row, raise_by_row, replace_row = rows.take_row, rows.raise_by_row, rows.replace_row
    rounds = panels_of(cells, lanes).rounds

    @dpex.device_func
    def renew_node(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        order,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64: where the slot's tree starts
        column,  # IN uint64: the lane's first cell of the panel in the first row of the slot's tables
        place,  # IN int64: the node's position
        end,  # IN int64: end of its subtree
    ):
        """A node's maxima from its children's; a mask: did they change?"""
        best = kapi.PrivateArray(rounds, np.int32)
        node = row_at(places, base + np.uint64(place))
        take_row(best, tables, column, node)
        child = place + _ONE
        while child < end:
            at = base + np.uint64(child)
            raise_by_row(best, tables, column, subtree + row_at(places, at))
            child = child + np.int64(size[base + np.uint64(order[at])])
        return replace_row(best, tables, column, subtree + node)

    @dpex.device_func
    def fill_subtrees(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # IN OUT (slots, sketched, cells) int16, flat
        order,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
        base,  # IN uint64
        column,  # IN uint64
        sketch_column,  # IN uint64: likewise, of the slot's sketches
        tree_nodes,  # IN int64
    ):
        """The maxima of all nodes, leaves first, and all sketches but those of weights."""
        for done in range(tree_nodes):
            place = tree_nodes - _ONE - np.int64(done)
            node = row_at(places, base + np.uint64(place))
            end = place + np.int64(size[base + np.uint64(order[base + np.uint64(place)])])
            renew_node(tables, order, size, places, base, column, place, end)
            sketch_row(tables, sketch, column, sketch_column, node)
            sketch_row(tables, sketch, column, sketch_column, subtree + node)

    @dpex.device_func
    def climb(
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # IN OUT (slots, sketched, cells) int16, flat
        parent,  # IN (slots, nodes) int32, flat
        order,  # IN (slots, nodes) int32, flat
        position,  # IN (slots, nodes) int32, flat
        size,  # IN (slots, nodes) int32, flat
        places,  # IN (slots, nodes) int64, flat
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
            place = np.int64(position[base + np.uint64(node)])
            end = place + np.int64(size[base + np.uint64(node)])
            changed = renew_node(tables, order, size, places, base, column, place, end)
            if changed != _ZERO:
                at = subtree + row_at(places, base + np.uint64(place))
                sketch_row(tables, sketch, column, sketch_column, at)
            going = less(_ZERO, place) & (changed | ~less(place, shifted_from))
            node = np.int64(parent[base + np.uint64(node)])

    @dpex.device_func
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
            most = max(most, np.int32(np.int32(tables[start + cell] + more) - tables[upper_start + cell]))
        return any_lane(most > np.int32(0))

    return fill_subtrees, climb, reaches
