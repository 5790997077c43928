"""Score of a tree under other weights than those of its tables, which stay as they are: O(nodes * cells).

Only proposals that change the error rates need it, and they are few.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Score, Terms
from syclade.kernels.chain.slot import after_writes
from syclade.kernels.preorder.changes import ONE_INTERVAL, Moved
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.worth import make_worth
from syclade.kernels.preorder.tree.renumber import make_fill_order
from syclade.kernels.target import address, control, device_function, maximum, private_array

_ONE = control(1)


def make_anew(form: Form, score: Score, classes: int) -> Any:
    """Return the device function `share_anew` (see `kernels.rates.evaluation.make_learned`)."""
    rounds, lanes = form.rounds, form.lanes
    fill_order = make_fill_order(form)
    telling = classes - 1
    add_panel = make_worth(form, score, _make_totals)
    row_below = _row_of_level if score.terms is None else _row_of_node

    @device_function
    def fill_rows(
        best,  # OUT (cells of a panel / lanes,) int32, private: the best score of each cell
        slot,  # IN the tree, observed; OUT rate_rows, rate_row
        weights,  # IN (classes,) int32, private
        panel,  # IN integer: the panel
    ):
        """Compute the scores of a panel at all nodes, parents first."""
        given, here, base = slot
        cell = address(panel * rounds * lanes) + here.lane
        width = address(here.sizes.cells)
        column = here.number * address(here.sizes.nodes) * width + cell
        root = address(here.tree_nodes - _ONE)
        row = row_below(address(0) - width, root, width)
        given.rate_row[base + root] = np.int64(row)
        for part in range(rounds):
            given.rate_rows[column + row + address(part * lanes)] = np.int32(0)
            best[part] = np.int32(0)
        for place in range(_ONE, here.tree_nodes):
            node = address(control(given.order[base + address(place)]))
            parent = address(control(given.parent[base + node]))
            row_above = address(control(given.rate_row[base + parent]))
            row = row_below(row_above, node, width)
            given.rate_row[base + node] = np.int64(row)
            above, own, seen = column + row_above, column + row, cell + node * width
            for part in range(rounds):
                at = address(part * lanes)
                value = given.rate_rows[above + at]
                code = np.int32(given.observed[seen + at])
                for one in range(telling):
                    value = np.int32(value + np.int32(code == np.int32(one)) * weights[one])
                given.rate_rows[own + at] = value
                best[part] = maximum(best[part], value)

    @device_function
    def share_anew(
        slot,  # IN the tree, observed, multiplicity, the score's arguments; OUT order, rate_rows, rate_row
        weights,  # IN (classes,) int32, private
    ):
        """Return the lane's share of the tree's score (int64)."""
        here = slot.here
        fill_order(slot)
        slot = after_writes(slot)
        zero = here.layout.zero
        moved = Moved(ONE_INTERVAL, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, zero, zero, zero, zero)
        best = private_array(rounds, np.int32)
        others = private_array(rounds, np.int32)
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            fill_rows(best, slot, weights, panel)
            share = add_panel(share, best, others, slot, panel, moved)
        return share

    return share_anew


@device_function
def _row_of_level(row_above, node, width):
    """Return the row after the parent's, over the one that was on this level before.

    So there are few rows, and they stay in a cache.
    """
    return row_above + width


@device_function
def _row_of_node(row_above, node, width):
    """Return a row for each node, since all rows are read again."""
    return node * width


def _make_totals(form: Form, terms: Terms) -> Any:
    """Return `take_totals` as in totals.py, over the rows of `fill_rows`: no interval is shifted."""
    rounds, lanes = form.rounds, form.lanes
    term = terms.term

    @device_function
    def take_totals(
        totals,  # OUT (cells of a panel / lanes,) int32, private
        best,  # IN, like totals: the scores of the best attachments
        made,  # IN result of `terms.form`
        slot,  # IN rate_rows
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        moved,  # IN not used
    ):
        """Compute totals = the sums of the terms of all nodes."""
        here = slot.here
        width = address(here.sizes.cells)
        first = here.number * address(here.sizes.nodes) * width + (column - here.table)
        for part in range(rounds):
            totals[part] = np.int32(0)
        for node in range(here.tree_nodes):
            row = first + address(node) * width
            for part in range(rounds):
                worth = slot.given.rate_rows[row + address(part * lanes)]
                totals[part] = np.int32(totals[part] + term(made, worth, best[part]))

    return take_totals
