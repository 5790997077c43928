"""Screen of a proposal: an upper bound of its score, without the terms of nodes that stay where they are.

Sums of subtrees give the sum of all terms without those of shifted nodes, exactly, relative to the octave of
the best score. If no octave changes, the sum after the proposal lacks only the terms of shifted nodes: these
are added up one by one (`exact`), or bounded by the sum before the shift.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Terms
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.totals import run_of
from syclade.kernels.preorder.screened.best import make_best_after
from syclade.kernels.preorder.screened.parts import best_now, last_block_rows, proposed_at, sums_at
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.scores.octaves import capped, carried, scaled, upper_of_sum
from syclade.kernels.target import address, control, device_function, private_array

_ZERO = control(0)
_ONE = control(1)
_SHIFTED_RUNS = 3


def make_bound(form: Form, terms: Terms) -> Any:
    """Return the device function `bound_share`.

    Args:
        form: form of the tables.
        terms: terms of the score: powers of two relative to the octave of the best.
    """
    take_best = make_best_after(form)
    take_shift = make_rows(form).take_shift
    rounds, lanes = form.rounds, form.lanes
    form_of, term = terms.form, terms.term

    @device_function
    def add_terms(
        sums,  # OUT (cells of a panel / lanes,) int32, private
        shift,  # OUT like sums: scratch
        best,  # IN like sums: the best scores after the proposal
        made,  # IN result of `terms.form`
        slot,  # IN tables, places
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        moved,  # IN Moved
    ):
        """Compute sums = the sums of the terms of the shifted positions."""
        given = slot.given
        for part in range(rounds):
            sums[part] = np.int32(0)
        for count in range(_SHIFTED_RUNS):
            start, stop, plus, minus = run_of(moved, slot.here, control(count) + _ONE)
            if plus != minus:
                take_shift(shift, given.tables, column, plus, minus)
                for place in range(start, stop):
                    row = column + address(row_at(given.places, slot.base + address(place)))
                    for part in range(rounds):
                        worth = np.int32(given.tables[row + address(part * lanes)] + shift[part])
                        sums[part] = np.int32(sums[part] + term(made, worth, best[part]))

    @device_function
    def bound_terms(
        sums,  # OUT (cells of a panel / lanes,) int32, private
        shift,  # OUT like sums: scratch
        best,  # IN like sums: the best scores after the proposal
        top,  # IN like sums: those of the shifted positions
        made,  # IN result of `terms.form`
        slot,  # IN tables, places, subtree_sums
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        summed,  # IN address: likewise of `subtree_sums`
        moved,  # IN Moved
        shifted,  # IN Shifted
    ):
        """Compute sums = upper bounds of the sums of the terms of the shifted positions."""
        given = slot.given
        fraction, spare = made
        before, top_now = last_block_rows(slot)
        less_1 = np.int32(shifted.mask_1)
        count_1, count_2 = np.int32(shifted.count_1), np.int32(shifted.count_2)
        plus_1, minus_1 = column + address(moved.plus_1), column + address(moved.minus_1)
        plus_2, minus_2 = column + address(moved.plus_2), column + address(moved.minus_2)
        for part in range(rounds):
            at = address(part * lanes)
            octave = np.int32(best[part] >> fraction)
            rise = np.int32(octave - np.int32(best_now(slot, column + at, before, top_now) >> fraction))
            inner = given.subtree_sums[summed + address(shifted.row_2) + at]
            outer = given.subtree_sums[summed + address(shifted.row_1) + at]
            outer = np.int32(outer - np.int32(inner & less_1))
            by_1 = np.int32(given.tables[plus_1 + at] - given.tables[minus_1 + at])
            bound = scaled(outer, count_1, by_1, rise, fraction)
            if shifted.mask_2 != _ZERO:
                by_2 = np.int32(given.tables[plus_2 + at] - given.tables[minus_2 + at])
                bound = bound + scaled(inner, count_2, by_2, rise, fraction)
            sums[part] = capped(bound, np.int32(count_1 + count_2), top[part], octave, fraction, spare)

    @device_function
    def add_cells(
        share,  # IN int64: the lane's share so far
        best,  # IN (cells of a panel / lanes,) int32, private: the best scores after the proposal
        sums,  # IN like best: of the shifted positions
        made,  # IN result of `terms.form`
        slot,  # IN tables, subtree_sums, multiplicity; OUT proposed
        panel,  # IN integer: the panel
        shifted,  # IN Shifted
    ):
        """Add the panel's cells to the share, and write them to `proposed`."""
        given, here = slot.given, slot.here
        fraction, spare = made
        cell = address(panel * rounds * lanes)
        column, summed, place = here.table + cell + here.lane, sums_at(slot) + cell, proposed_at(slot) + cell
        width = address(here.sizes.cells)
        before, top_now = last_block_rows(slot)
        less_1, more_2 = np.int32(shifted.mask_1), np.int32(shifted.mask_2)
        kept = np.int32(here.tree_nodes - shifted.count_1 - shifted.count_2)
        root = summed + address(row_at(given.places, slot.base))
        for part in range(rounds):
            at = address(part * lanes)
            inner = given.subtree_sums[summed + address(shifted.row_2) + at]
            rest = np.int32(
                given.subtree_sums[root + at] - given.subtree_sums[summed + address(shifted.row_1) + at]
            )
            rest = np.int32(rest + np.int32(np.int32(inner & less_1) - np.int32(inner & more_2)))
            old = np.int32(best_now(slot, column + at, before, top_now) >> fraction)
            new = np.int32(best[part] >> fraction)
            total = np.int32(carried(rest, kept, old, new, spare) + sums[part])
            given.proposed[place + at] = best[part]
            given.proposed[place + width + at] = total
            given.proposed[place + width + width + at] = np.int32(old ^ new)
            # Factors of 32 bits make the product one cheap instruction.
            many = np.int32(given.multiplicity[cell + here.lane + at])
            share = share + np.int64(upper_of_sum(best[part], total, fraction, spare)) * np.int64(many)
        return share

    @device_function
    def bound_share(
        slot,  # IN tables, places, subtree_sums, multiplicity, the score's arguments; OUT proposed
        moved,  # IN Moved
        shifted,  # IN Shifted
        exact,  # IN control: 1 to add up the terms of shifted positions, 0 to bound their sum
    ):
        """Return the lane's share of an upper bound of the score after the proposal (int64)."""
        given, here = slot.given, slot.here
        made = form_of(given, here.number)
        best = private_array(rounds, np.int32)
        top = private_array(rounds, np.int32)
        others = private_array(rounds, np.int32)
        sums = private_array(rounds, np.int32)
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            cell = address(panel * rounds * lanes)
            column = here.table + cell + here.lane
            take_best(best, top, others, slot, column, moved)
            if exact != _ZERO:
                add_terms(sums, others, best, made, slot, column, moved)
            else:
                summed = sums_at(slot) + cell
                bound_terms(sums, others, best, top, made, slot, column, summed, moved, shifted)
            share = add_cells(share, best, sums, made, slot, panel, shifted)
        return share

    return bound_share
