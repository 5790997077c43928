"""Worth: from the best attachments of a panel's cells to what these add to the score."""

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
    """Device function (share, best, others, given, here, base, panel, moved) -> share with the panel's cells.

    Args:
        form: of the tables.
        score: what a cell is worth.
        weighted: 1 if columns have multiplicities.
        long: 1 if the share has 64 bits.
        make_sums: makes what adds up all attachments, where all count.
    """
    if score.terms is None:
        return _of_best(form, score, weighted, long)
    return _of_all(form, score.terms, make_sums(form, score.terms))


def _of_best(form: Form, score: Score, weighted: int, long: int) -> Any:
    """Where the best attachment says all."""
    rounds, lanes = form.rounds, form.lanes
    of_cell = score.of_cell

    @device_function
    def add(given, here, share, best, cell):
        """share + what the cell is worth * multiplicity, no wider than need be."""
        worth = of_cell(given, here.number, best)
        if weighted:
            # Factors of 32 bits make the product one cheap instruction.
            return share + np.int64(worth) * np.int64(np.int32(given.multiplicity[cell]))
        if long:
            return share + np.int64(worth)
        return np.int32(share + worth)

    @device_function
    def add_panel(share, best, others, given, here, base, panel, moved):
        """Cell by cell."""
        first_cell = address(panel * rounds * lanes) + here.lane
        for part in range(rounds):
            share = add(given, here, share, best[part], first_cell + address(part * lanes))
        return share

    return add_panel


def _of_all(form: Form, terms: Terms, take_totals: Any) -> Any:
    """Where all attachments count."""
    rounds, lanes = form.rounds, form.lanes
    form_of, of_sum = terms.form, terms.of_sum

    @device_function
    def add_panel(share, best, others, given, here, base, panel, moved):
        """The sums first; `others` gets them."""
        first_cell = address(panel * rounds * lanes) + here.lane
        made = form_of(given, here.number)
        take_totals(others, best, made, given, here, base, here.table + first_cell, moved)
        for part in range(rounds):
            worth = of_sum(made, best[part], others[part])
            share = share + worth * given.multiplicity[first_cell + address(part * lanes)]
        return share

    return add_panel
