"""Score change: score mapping for wide tables, where a move changes the best scores of few cells only.

One pass over the sketches of four to six rows finds the groups of cells, one cell per lane, in which a best
score may change; only these are read further. If cells with similar columns are side by side
(`host/chains/encodings/preorder.py`), there are few.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS
from syclade.kernels.chain.parts import Score
from syclade.kernels.preorder.changes import ONE_IN_THE_OTHER, ONE_INTERVAL
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.range_maximum import make_range_maximum
from syclade.kernels.preorder.tables.third_interval import third_interval
from syclade.kernels.preorder.tree.places import block_at, row_at
from syclade.kernels.preorder.wide.sketches import make_sketches, slack_of_equals
from syclade.kernels.target import address, control, device_function, equal, in_step, maximum
from syclade.kernels.words import popcount

_NONE = np.uint64(0)
_ONE = control(1)
_WORD_BITS = 32


def make_score_change(form: Form, score: Score) -> Any:
    """Return a device function that gives the lane's share of what the edit adds to the score.

    Args:
        form: form of the tables.
        score: contribution of a cell.
    """
    may_change = make_sketches(form).may_change
    range_rows, _take_range, range_of_cell = make_range_maximum(form)
    rounds, lanes = form.rounds, form.lanes
    assert rounds < _WORD_BITS, "a lane has more cells of a panel than a word has flags"
    panels_a_word = control(_WORD_BITS // rounds)
    word_cells = control(panels_a_word * rounds * lanes)
    of_cell = score.of_cell

    @device_function
    def cell_of(
        tables,  # IN (slots, rows, cells) int32, flat
        at,  # IN address: a cell in the first row of the slot's tables
        row,  # IN control: where it starts
    ):
        """Return the cell's score in a row (int32)."""
        return tables[at + address(row)]

    @device_function
    def shift_of(
        tables,  # IN (slots, rows, cells) int32, flat
        at,  # IN address: a cell in the first row of the slot's tables
        plus,  # IN control: row that the shift adds
        minus,  # IN control: row that the shift subtracts
    ):
        """Return the cell's shift (int32)."""
        return np.int32(cell_of(tables, at, plus) - cell_of(tables, at, minus))

    @device_function
    def all_lanes(
        flagged,  # IN (slots, cells) uint32, flat
        base,  # IN address: where the word's flags start, one uint32 per lane
    ):
        """Return the flags that any lane has (uint64)."""
        found = np.uint32(0)
        for other in range(lanes):
            found = np.uint32(found | flagged[base + address(other)])
        return np.uint64(found)

    @device_function
    def words_of(here):
        """Return the number of words of flags that a lane's cells have (control)."""
        return (here.sizes.panels + panels_a_word - _ONE) // panels_a_word

    @device_function
    def flag_cells(
        slot,  # IN sketch, places; OUT flagged
        moved,  # IN Moved
        spare,  # IN int32: as in `may_change`
    ):
        """Set a bit in `flagged` for each of the lane's cells whose best score may change."""
        given, here, base = slot
        subtree, panels = here.layout.subtree, here.sizes.panels
        now_row = subtree + row_at(given.places, base)
        first = subtree + row_at(given.places, base + address(moved.a1))
        second = subtree + row_at(given.places, base + address(moved.a2))
        for word in range(words_of(here)):
            first_cell = address(control(word) * word_cells) + here.lane
            count = min(panels_a_word, panels - control(word) * panels_a_word)
            column = here.sketch + first_cell
            own = may_change(given.sketch, column, count, now_row, first, moved.plus_1, moved.minus_1, spare)
            if moved.shape != ONE_INTERVAL:
                others = may_change(
                    given.sketch, column, count, now_row, second, moved.plus_2, moved.minus_2, spare
                )
                own = np.uint32(own | others)
            given.flagged[here.flags + address(word * lanes) + here.lane] = own

    @device_function
    def score_change(
        slot,  # IN tables, sketch, places, multiplicity, weights, the score's arguments; OUT flagged
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Return the sum over the lane's columns of multiplicity * change of the contribution (int64)."""
        given, here, base = slot
        share = np.int64(0)
        tables = given.tables
        layout, width = here.layout, here.sizes.cells
        subtree = layout.subtree
        left, right = base + address(moved.a1 - _ONE), base + address(moved.end)
        before_row = layout.before + block_at(given.places, left) * width
        prefix_row = layout.prefix + row_at(given.places, left)
        after_row = layout.after + block_at(given.places, right) * width
        suffix_row = layout.suffix + row_at(given.places, right)
        now_row = subtree + row_at(given.places, base)
        first = subtree + row_at(given.places, base + address(moved.a1))
        second = subtree + row_at(given.places, base + address(moved.a2))
        one_1, low_1, high_1, inner_1, end_1 = range_rows(slot, moved.a1, moved.end_first)
        third, end_third, plus_3 = third_interval(moved)
        one_3, low_3, high_3, inner_3, end_3 = range_rows(slot, third, end_third)
        # Equal sketches do not imply equal score rows; for weights they may imply equal rows.
        of_weights = equal(proposal.edit, EXCHANGE_LABELS)
        spare = np.int32(
            of_weights
            & slack_of_equals(given.weights, here.number * address(here.sizes.classes), here.sizes.classes)
        )
        flag_cells(slot, moved, spare)
        flags_base = in_step(here.flags)
        for word in range(words_of(here)):
            first_cell = address(control(word) * word_cells) + here.lane
            flags = all_lanes(given.flagged, flags_base + address(word * lanes))
            while flags != _NONE:
                group = popcount(~flags & (flags - np.uint64(1)))  # index of the lowest flag
                flags = flags & (flags - np.uint64(1))
                cell = first_cell + group * address(lanes)
                at = here.table + cell
                best = maximum(cell_of(tables, at, before_row), cell_of(tables, at, prefix_row))
                best = maximum(best, maximum(cell_of(tables, at, after_row), cell_of(tables, at, suffix_row)))
                own = cell_of(tables, at, first)
                if moved.shape == ONE_IN_THE_OTHER:
                    own = range_of_cell(slot, at, one_1, low_1, high_1, inner_1, end_1)
                best = maximum(best, np.int32(own + shift_of(tables, at, moved.plus_1, moved.minus_1)))
                if moved.shape != ONE_INTERVAL:
                    own = cell_of(tables, at, second)
                    best = maximum(best, np.int32(own + shift_of(tables, at, moved.plus_2, moved.minus_2)))
                    own = range_of_cell(slot, at, one_3, low_3, high_3, inner_3, end_3)
                    best = maximum(best, np.int32(own + shift_of(tables, at, plus_3, moved.minus_1)))
                now = cell_of(tables, at, now_row)
                change = np.int64(of_cell(given, here.number, best)) - np.int64(
                    of_cell(given, here.number, now)
                )
                if here.variant.weighted != control(0):
                    change = change * given.multiplicity[cell]
                share = share + change
        return share

    return score_change
