"""Estimated move: a mutation goes where it adds most while all columns stay attached; O(nodes + columns).

The estimate is a lower bound of the tree's gain, so the best place never loses.
"""

import numpy as np

from syclade.kernels.search.attachment import attach, sum_weights
from syclade.kernels.search.best_places import no_place, offered, offered_if
from syclade.kernels.search.draws import BONUS, draw_luck, luck_of
from syclade.kernels.search.mutation_tree import (
    number,
    parent_of,
    place_of,
    put_parent,
    renew_up,
    row_of,
    shift,
    tree_score,
    weights_of,
)
from syclade.kernels.search.rows import add_to
from syclade.kernels.search.slot import at_node
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import choose, control, device_function, equal, less

_ZERO = control(0)
_ONE = control(1)


@device_function
def take_children(
    slot,  # IN gain; IN OUT parent
    v,  # IN control: the mutation
    node,  # IN control
):
    """Give v those of the node's children below which it gains."""
    for other in range(slot.root):
        child = control(other)
        above = parent_of(slot, child)
        gains = less(_ZERO, slot.given.gain[at_node(slot, child)])
        goes = equal(above, node) & ~equal(child, v) & ~equal(child, node) & gains
        put_parent(slot, child, choose(goes, v, above))


@device_function
def release_children(
    slot,  # IN OUT parent
    v,  # IN control: the mutation
    old,  # IN control: v's parent
):
    """Give v's children to its parent."""
    for other in range(slot.root):
        child = control(other)
        above = parent_of(slot, child)
        put_parent(slot, child, choose(equal(above, v) & ~equal(child, v), old, above))


@device_function
def prepare(slot):
    """Attach the columns; return where they are attached (address)."""
    return attach(slot, slot.root + _ONE)


@device_function
def estimated_move(
    slot,  # IN OUT record of arguments.py
    attached,  # IN address: result of `attach`
    v,  # IN control: the mutation
    turn,  # IN control: its turn in the sweep
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: score of the tree
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move v to where it adds most; return (score of the tree, where columns are then attached)."""
    given = slot.given
    count = slot.root + _ONE
    old = parent_of(slot, v)
    now = sum_weights(slot, attached, v, count)
    luck = draw_luck(slot, count, turn, sweep, noise)
    best = offered(no_place(), now, luck_of(slot, luck, v, noise) + BONUS, v, _ZERO)
    for node in range(count):
        t = control(node)
        hope = given.hope[at_node(slot, t)]
        allowed = ~equal(t, v) & (~equal(t, old) | less(now, hope))
        best = offered_if(allowed, best, hope, luck_of(slot, luck, t, noise), t, _ZERO)
    if best.node != v:
        start, stop = place_of(slot, v)
        shift(slot, start + _ONE, stop, np.int32(-1), v)
        release_children(slot, v, old)
        take_children(slot, v, best.node)
        put_parent(slot, v, best.node)
        number(slot)
        add_to(
            slot, slot.cell_rounds, given.scores, row_of(slot, v),
            given.scores, row_of(slot, best.node), given.weights, weights_of(slot, v),
        )  # fmt: skip
        start, stop = place_of(slot, v)
        shift(slot, start + _ONE, stop, np.int32(1), v)
        renew_up(slot, old)
        renew_up(slot, v)
        score = tree_score(slot)
        attached = attach(slot, count)
    return score, attached


ESTIMATED = Stage(1, sweeps_of(prepare, estimated_move))
