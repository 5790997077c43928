"""Subtree move: a subtree goes below the node that is best for it; O(columns) per place.

With O the best attachment outside of the subtree, and R the subtree's own best minus its parent's score, a
column gains max(0, S[t] + R - O) below t.
"""

import numpy as np

from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.draws import BONUS, draw_luck, luck_of
from syclade.kernels.search.mutation_tree import (
    first_child_of,
    next_sibling_of,
    node_at,
    number,
    parent_of,
    place_of,
    put_parent,
    renew_up,
    row_of,
)
from syclade.kernels.search.rows import LOWEST, add, fill, raise_by, subtract
from syclade.kernels.search.slot import lane_at, spare_row
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import control, device_function, lane_sum, maximum

_ZERO = control(0)
_ONE = control(1)


@device_function
def gain_below(
    slot,  # IN scores, cell_rows
    t,  # IN control
    outside,  # IN address: where the spare row of O starts
    rise,  # IN address: where the spare row of R starts
):
    """Return what all columns gain with the subtree below t (int64)."""
    given = slot.given
    own = row_of(slot, t)
    share = np.int32(0)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        more = np.int32(
            np.int32(given.scores[own + cell] + given.cell_rows[rise + cell])
            - given.cell_rows[outside + cell]
        )
        share = np.int32(share + maximum(more, np.int32(0)))
    return lane_sum(np.int64(share))


@device_function
def take_outside(
    slot,  # IN the tree, scores, maxima; OUT cell_rows
    v,  # IN control: top of the subtree
    outside,  # IN address: where the spare row of O starts
):
    """Compute the best attachment of each column that is not below v."""
    given = slot.given
    rounds = slot.cell_rounds
    fill(slot, rounds, given.cell_rows, outside, LOWEST)
    below = v
    node = parent_of(slot, v)
    going = _ONE
    while going != _ZERO:
        raise_by(slot, rounds, given.cell_rows, outside, given.scores, row_of(slot, node))
        child = first_child_of(slot, node)
        while child >= _ZERO:
            if child != below:
                raise_by(slot, rounds, given.cell_rows, outside, given.maxima, row_of(slot, child))
            child = next_sibling_of(slot, child)
        going = control(node != slot.root)
        below = node
        node = parent_of(slot, node)


@device_function
def prepare(slot):
    """Return a placeholder: nothing has to be known before."""
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
    rounds = slot.cell_rounds
    outside = spare_row(slot, _ZERO)
    rise = spare_row(slot, _ONE)
    start, stop = place_of(slot, v)
    old = parent_of(slot, v)
    take_outside(slot, v, outside)
    subtract(
        slot, rounds, given.cell_rows, rise, given.maxima, row_of(slot, v), given.scores, row_of(slot, old)
    )
    luck = draw_luck(slot, slot.root + _ONE, turn, sweep, noise)
    now = gain_below(slot, old, outside, rise)
    best = offered(no_place(), now, luck_of(slot, luck, old, noise) + BONUS, old, _ZERO)
    for place in range(slot.root + _ONE - (stop - start)):  # all but those of the subtree
        at = control(place) + control(place >= start) * (stop - start)
        t = node_at(slot, at)
        gained = gain_below(slot, t, outside, rise)
        best = offered(best, gained, luck_of(slot, luck, t, noise), t, _ZERO)
    if best.node != old:
        put_parent(slot, v, best.node)
        subtract(
            slot, rounds, given.cell_rows, outside,
            given.scores, row_of(slot, best.node), given.scores, row_of(slot, old),
        )  # fmt: skip
        for place in range(start, stop):
            own = row_of(slot, node_at(slot, control(place)))
            add(slot, rounds, given.scores, own, given.cell_rows, outside, np.int32(1))
            add(slot, rounds, given.maxima, own, given.cell_rows, outside, np.int32(1))
        number(slot)
        renew_up(slot, old)
        renew_up(slot, best.node)
        score = score + best.score - now
    return score, attached


SUBTREES = Stage(2, sweeps_of(prepare, subtree_move))
