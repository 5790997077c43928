"""Contributions to the score, from the best attachments of a panel's cells."""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Score, Terms
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.totals import make_totals
from syclade.kernels.target import address, device_function


def make_worth(
    form: Form, score: Score, weighted: int, long: int, make_sums: Callable[[Form, Terms], Any] = make_totals
) -> Any:
    """Return the device function (share, best, others, slot, panel, moved) -> share.

    It adds the panel's cells to the share.

    Args:
        form: form of the tables.
        score: contribution of a cell.
        weighted: 1 if columns have multiplicities.
        long: 1 if the share has 64 bits.
        make_sums: makes the function that adds up all attachments, if all count.
    """
    if score.terms is None:
        return _of_best(form, score, weighted, long)
    return _of_all(form, score.terms, make_sums(form, score.terms))


def _of_best(form: Form, score: Score, weighted: int, long: int) -> Any:
    """Return `add_panel` for a score of the best attachment alone."""
    rounds, lanes = form.rounds, form.lanes
    of_cell = score.of_cell

    @device_function
    def add(
        slot,  # IN multiplicity, and the score's arguments
        share,  # IN int32 or int64: the lane's share so far
        best,  # IN int32, one per lane: best score of the cell
        cell,  # IN address: the cell
    ):
        """Return share + contribution of the cell * multiplicity, no wider than necessary."""
        given = slot.given
        worth = of_cell(given, slot.here.number, best)
        if weighted:
            # Factors of 32 bits make the product one cheap instruction.
            return share + np.int64(worth) * np.int64(np.int32(given.multiplicity[cell]))
        if long:
            return share + np.int64(worth)
        return np.int32(share + worth)

    @device_function
    def add_panel(
        share,  # IN int32 or int64: the lane's share so far
        best,  # IN (cells of a panel / lanes,) int32, private: the best scores
        others,  # IN not used
        slot,  # IN multiplicity, and the score's arguments
        panel,  # IN integer: the panel
        moved,  # IN not used
    ):
        """Add the panel's cells one by one."""
        first_cell = address(panel * rounds * lanes) + slot.here.lane
        for part in range(rounds):
            share = add(slot, share, best[part], first_cell + address(part * lanes))
        return share

    return add_panel


def _of_all(form: Form, terms: Terms, take_totals: Any) -> Any:
    """Return `add_panel` for a score of all attachments."""
    rounds, lanes = form.rounds, form.lanes
    form_of, of_sum = terms.form, terms.of_sum

    @device_function
    def add_panel(
        share,  # IN int64: the lane's share so far
        best,  # IN (cells of a panel / lanes,) int32, private: the best scores
        others,  # OUT (cells of a panel / lanes,) int32, private: scratch
        slot,  # IN tables, places, multiplicity, and the score's arguments
        panel,  # IN integer: the panel
        moved,  # IN Moved
    ):
        """Compute the sums first, in `others`, then add the cells."""
        given, here = slot.given, slot.here
        first_cell = address(panel * rounds * lanes) + here.lane
        made = form_of(given, here.number)
        take_totals(others, best, made, slot, here.table + first_cell, moved)
        for part in range(rounds):
            worth = of_sum(made, best[part], others[part])
            share = share + worth * given.multiplicity[first_cell + address(part * lanes)]
        return share

    return add_panel
