"""Sums of the terms of every subtree, relative to the octave of each cell's best score, as integers.

An accepted edit takes the sums of the shifted subtrees from those above them, adds up the subtrees anew and
adds their sums above their new places. Where an octave changes, all sums of the vector are made anew. Lanes
work on their own cells alone, so none has to wait for others.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Terms
from syclade.kernels.chain.slot import after_writes
from syclade.kernels.preorder.changes import ONE_IN_THE_OTHER, TWO_APART
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.screened.parts import best_now, last_block_rows, proposed_at, sums_at
from syclade.kernels.preorder.tree.intervals import interval_of
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.preorder.tree.renumber import make_fill_order
from syclade.kernels.target import address, any_lane, choose, control, device_function, equal

_ZERO = control(0)
_ONE = control(1)
_TAKEN, _BROUGHT = np.int32(-1), np.int32(1)


def make_sums(form: Form, terms: Terms) -> tuple[Any, Any, Any]:
    """Return the device functions (fill, take_away, bring).

    Args:
        form: form of the tables.
        terms: terms of the score.
    """
    lanes, lane_bits = form.lanes, control(form.lane_bits)
    form_of, term = terms.form, terms.term
    fill_order = make_fill_order(form)

    @device_function
    def climb(
        slot,  # IN parent, row_of, places; IN OUT subtree_sums
        node,  # IN control: root of a subtree
        row,  # IN control: its score row
        sign,  # IN int32: 1 or -1
    ):
        """Add the subtree's sum, or take it, at all nodes above it."""
        given, here, base = slot
        first = sums_at(slot)
        root = here.tree_nodes - _ONE
        above = node
        while above != root:
            above = control(given.parent[base + address(above)])
            other = control(given.row_of[base + address(above)])
            for part in range(here.sizes.cells >> lane_bits):
                at = first + address(part * lanes)
                own = given.subtree_sums[at + address(row)]
                there = at + address(other)
                given.subtree_sums[there] = np.int32(given.subtree_sums[there] + np.int32(own * sign))

    @device_function
    def add_up(
        slot,  # IN the tree, its order, tables; OUT subtree_sums
        part,  # IN control: number of the vector of cells
        start,  # IN control: first position of a subtree
        stop,  # IN control: its end
    ):
        """Compute the sums of all subtrees of a subtree, for one cell of the lane."""
        given, here, base = slot
        made = form_of(given, here.number)
        cell = address(part * lanes)
        column, first = here.table + cell + here.lane, sums_at(slot) + cell
        before, top = last_block_rows(slot)
        best = best_now(slot, column, before, top)
        for place in range(start, stop):
            row = address(row_at(given.places, base + address(place)))
            given.subtree_sums[first + row] = term(made, given.tables[column + row], best)
        for done in range(stop - start - _ONE):
            place = stop - _ONE - control(done)
            row = address(row_at(given.places, base + address(place)))
            label = address(control(given.order[base + address(place)]))
            above = address(control(given.parent[base + label]))
            there = first + address(control(given.row_of[base + above]))
            given.subtree_sums[there] = np.int32(given.subtree_sums[there] + given.subtree_sums[first + row])

    @device_function
    def fill_row(
        slot,  # IN tables; IN OUT subtree_sums
        row,  # IN control: score row of a node; its sums are those of its children so far
        above,  # IN control: score row of its parent; of the root, its own
        kept,  # IN int32: mask of whether the node has children
        added,  # IN int32: mask of whether sums of other children are in the row above
    ):
        """Add a node's terms to the sums of its children, and the result to those of its parent's."""
        given, here = slot.given, slot.here
        made, first, column = form_of(given, here.number), sums_at(slot), here.table + here.lane
        before, top = last_block_rows(slot)
        for part in range(here.sizes.cells >> lane_bits):
            cell = address(part * lanes)
            best = best_now(slot, column + cell, before, top)
            own, there = first + cell + address(row), first + cell + address(above)
            worth = term(made, given.tables[column + cell + address(row)], best)
            total = np.int32(np.int32(given.subtree_sums[own] & kept) + worth)
            given.subtree_sums[there] = np.int32(np.int32(given.subtree_sums[there] & added) + total)
            given.subtree_sums[own] = total

    @device_function
    def fill(
        slot,  # IN the tree, its order, tables; OUT subtree_sums
    ):
        """Compute the sums of all subtrees: nodes after those below them, row by row as in memory."""
        given, here, base = slot
        for done in range(here.tree_nodes):
            place = here.tree_nodes - _ONE - control(done)
            label = control(given.order[base + address(place)])
            parent = control(given.parent[base + address(label)])
            end = place + control(given.size[base + address(label)])
            last = control(given.position[base + address(parent)]) + control(
                given.size[base + address(parent)]
            )
            fill_row(
                slot,
                row_at(given.places, base + address(place)),
                control(given.row_of[base + address(parent)]),
                np.int32(~equal(end, place + _ONE)),
                np.int32(~equal(end, last)),
            )

    @device_function
    def take_away(
        slot,  # IN the tree before the edit; IN OUT subtree_sums
        moved,  # IN Moved
    ):
        """Take the sums of the shifted subtrees from those above them."""
        given, base = slot.given, slot.base
        for one in range(_ONE - equal(moved.shape, TWO_APART)):
            first = equal(control(one), _ZERO)
            start = choose(first, moved.a1, moved.a2)
            climb(slot, choose(first, moved.x, moved.y), row_at(given.places, base + address(start)), _TAKEN)

    @device_function
    def bring(
        slot,  # IN the tree after the edit, tables, proposed; OUT order; IN OUT subtree_sums
        moved,  # IN Moved: from before the edit
    ):
        """Compute the sums that the edit has changed, except those that `take_away` has made.

        First those of the shifted subtrees, which are added to all above; then, where an octave changes, all.
        """
        fill_order(slot)
        slot = after_writes(slot)
        given, here, base = slot
        apart, nested = equal(moved.shape, TWO_APART), equal(moved.shape, ONE_IN_THE_OTHER)
        width = address(here.sizes.cells)
        subtrees = _ONE - apart
        for one in range(subtrees + _ONE):
            number = control(one)
            everywhere = equal(number, subtrees)
            start, stop = interval_of(slot, choose(equal(number, _ZERO), moved.x, moved.y))
            start = choose(everywhere, _ZERO, choose(nested, moved.a1, start))
            stop = choose(everywhere, here.tree_nodes, choose(nested, moved.b1, stop))
            for part in range(here.sizes.cells >> lane_bits):
                place = proposed_at(slot) + address(part * lanes) + width + width
                if any_lane(given.proposed[place] != np.int32(0)) == everywhere:
                    add_up(slot, control(part), start, stop)
            node = control(given.order[base + address(start)])
            climb(slot, node, row_at(given.places, base + address(start)), _BROUGHT)

    return fill, take_away, bring
