"""Subtree move, sparse: only columns that are better off below the subtree's top than at its parent can gain.

With the names of `search/subtree_move.py`, a column gains max(0, S[t] + R - O) below t, where S[t] is at most
the best of all, and R = M[v] - S[parent]. If R is not positive, O is that best, and nothing gains. If M[v] is
below the best, O is the best. The result is that of the other form, bit for bit.
"""

import numpy as np

from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.draws import BONUS, draw_luck, luck_of
from syclade.kernels.search.mutation_tree import (
    node_at,
    number,
    parent_of,
    place_of,
    put_parent,
    renew_up,
    row_of,
)
from syclade.kernels.search.rows import LOWEST, add, subtract
from syclade.kernels.search.slot import lane_at, spare_row
from syclade.kernels.search.sparse.by_column import (
    GAIN,
    LISTED,
    best_outside,
    lay_out,
    mask_subtree,
    more_row,
    node_rounds_of,
    node_row,
    prepare_columns,
    scores_of,
)
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import address, control, device_function, in_step, maximum

_ZERO = control(0)
_ONE = control(1)


@device_function
def list_rising(
    slot,  # IN scores, maxima; OUT more_rows
    v,  # IN control: top of the subtree
    old,  # IN control: its parent
):
    """List the columns whose best score below v exceeds that at its parent; return their number (control)."""
    given = slot.given
    own, upper, listed = row_of(slot, v), row_of(slot, old), more_row(slot, LISTED)
    count = _ZERO
    for column in range(slot.columns):
        at = address(column)
        given.more_rows[listed + address(count)] = np.int32(column)
        count = count + control(given.maxima[own + at] > given.scores[upper + at])
    return count


@device_function
def sum_gains(
    slot,  # IN scores, maxima, column_scores, more_rows; OUT node_rows
    v,  # IN control: top of the subtree, which is masked
    old,  # IN control: its parent
    count,  # IN control: number of listed columns
):
    """Sum what the listed columns gain with the subtree below each node."""
    given = slot.given
    rounds, gains, listed = node_rounds_of(slot), node_row(slot, GAIN), more_row(slot, LISTED)
    own, upper, top = row_of(slot, v), row_of(slot, old), row_of(slot, slot.root)
    for part in range(rounds):
        given.node_rows[gains + lane_at(slot, part)] = np.int32(0)
    for turn in range(count):
        column = control(given.more_rows[listed + address(turn)])
        below, outside = given.maxima[own + address(column)], given.maxima[top + address(column)]
        if below == outside:
            outside = best_outside(slot, column)
        needed = np.int32(outside - np.int32(below - given.scores[upper + address(column)]))
        row = scores_of(slot, column)
        for part in range(rounds):
            node = lane_at(slot, part)
            more = maximum(np.int32(given.column_scores[row + node] - needed), np.int32(0))
            given.node_rows[gains + node] = np.int32(given.node_rows[gains + node] + more)


@device_function
def move_rows(
    slot,  # IN OUT record of arguments.py
    start,  # IN control: first position of the subtree
    stop,  # IN control: its end
    old,  # IN control: its parent until now
    new,  # IN control: its parent from now on
):
    """Add the difference of two parents to the rows of a subtree's nodes."""
    given = slot.given
    rounds, difference = slot.cell_rounds, spare_row(slot, _ZERO)
    subtract(
        slot, rounds, given.cell_rows, difference,
        given.scores, row_of(slot, new), given.scores, row_of(slot, old),
    )  # fmt: skip
    for place in range(start, stop):
        own = row_of(slot, node_at(slot, control(place)))
        add(slot, rounds, given.scores, own, given.cell_rows, difference, np.int32(1))
        add(slot, rounds, given.maxima, own, given.cell_rows, difference, np.int32(1))


@device_function
def prepare(slot):
    """Compute the scores by columns; return a placeholder."""
    prepare_columns(slot)
    return slot.spare_cells


@device_function
def subtree_move(
    slot,  # IN OUT record of arguments.py
    attached,  # IN address: returned unchanged
    v,  # IN control: top of the subtree
    turn,  # IN control: its turn in the sweep
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: score of the tree
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move v's subtree to its best place; return (score of the tree, `attached`)."""
    given = slot.given
    start, stop = place_of(slot, v)
    old = parent_of(slot, v)
    count = list_rising(slot, v, old)
    mask_subtree(slot, start, stop, LOWEST)
    sum_gains(slot, v, old, count)
    mask_subtree(slot, start, stop, np.int32(0))
    gains = in_step(node_row(slot, GAIN))
    luck = draw_luck(slot, slot.root + _ONE, turn, sweep, noise)
    now = np.int64(given.node_rows[gains + address(old)])
    best = offered(no_place(), now, luck_of(slot, luck, old, noise) + BONUS, old, _ZERO)
    for place in range(slot.root + _ONE - (stop - start)):  # all but those of the subtree
        at = control(place) + control(place >= start) * (stop - start)
        t = node_at(slot, at)
        gained = np.int64(given.node_rows[gains + address(t)])
        best = offered(best, gained, luck_of(slot, luck, t, noise), t, _ZERO)
    if best.node != old:
        move_rows(slot, start, stop, old, best.node)
        put_parent(slot, v, best.node)
        number(slot)
        renew_up(slot, old)
        renew_up(slot, best.node)
        start, stop = place_of(slot, v)
        lay_out(slot, start, stop)
        score = score + best.score - now
    return score, attached


SUBTREES = Stage(2, sweeps_of(prepare, subtree_move))
