"""Contributions to the score, from the best attachments of a panel's cells."""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Score, Terms
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.totals import make_totals
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)


def make_worth(form: Form, score: Score, make_sums: Callable[[Form, Terms], Any] = make_totals) -> Any:
    """Return the device function (share, best, others, slot, panel, moved) -> share.

    It adds the panel's cells to the share.

    Args:
        form: form of the tables.
        score: contribution of a cell.
        make_sums: makes the function that adds up all attachments, if all count.
    """
    if score.terms is None:
        return _of_best(form, score)
    return _of_all(form, score.terms, make_sums(form, score.terms))


def _of_best(form: Form, score: Score) -> Any:
    """Return `add_panel` for a score of the best attachment alone."""
    rounds, lanes = form.rounds, form.lanes
    of_cell, always_wide = score.of_cell, control(score.wide)

    @device_function
    def add_panel(
        share,  # IN int64: the lane's share so far
        best,  # IN (cells of a panel / lanes,) int32, private: the best scores
        others,  # IN not used
        slot,  # IN multiplicity, and the score's arguments
        panel,  # IN integer: the panel
        moved,  # IN not used
    ):
        """Add contribution of the cell * multiplicity, cell by cell, no wider than necessary."""
        given, here = slot.given, slot.here
        variant = here.variant
        first_cell = address(panel * rounds * lanes) + here.lane
        if variant.weighted != _ZERO:
            for part in range(rounds):
                # Factors of 32 bits make the product one cheap instruction.
                many = np.int32(given.multiplicity[first_cell + address(part * lanes)])
                share = share + np.int64(of_cell(given, here.number, best[part])) * np.int64(many)
        elif variant.wide | always_wide != _ZERO:
            for part in range(rounds):
                share = share + np.int64(of_cell(given, here.number, best[part]))
        else:
            narrow = np.int32(0)
            for part in range(rounds):
                narrow = np.int32(narrow + of_cell(given, here.number, best[part]))
            share = share + np.int64(narrow)
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
