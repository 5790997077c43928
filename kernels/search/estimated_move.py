"""Estimated move: a mutation goes where it adds most while all columns stay attached; O(nodes + columns).

The estimate is a lower bound of the tree's gain, so the best place never loses.
"""

from typing import Any

import numpy as np

from syclade.kernels.search.attachment import make_attach, sum_weights
from syclade.kernels.search.best_places import no_place, offered, offered_if
from syclade.kernels.search.draws import BONUS, luck_of
from syclade.kernels.search.mutation_tree import (
    MutationTree,
    number,
    parent_of,
    place_of,
    put_parent,
    row_of,
    weights_of,
)
from syclade.kernels.search.rows import make_rows
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import choose, device_function, equal, less

_ZERO = np.int64(0)
_ONE = np.int64(1)


@device_function
def take_children(
    given,  # IN gain; IN OUT parent
    here,  # IN Here
    v,  # IN int64: the mutation
    node,  # IN int64
):
    """Give v those of the node's children below which it gains."""
    for other in range(here.root):
        child = np.int64(other)
        above = parent_of(given, here, child)
        gains = less(_ZERO, given.gain[here.tree + np.uint64(child)])
        goes = equal(above, node) & ~equal(child, v) & ~equal(child, node) & gains
        put_parent(given, here, child, choose(goes, v, above))


@device_function
def release_children(
    given,  # IN OUT parent
    here,  # IN Here
    v,  # IN int64: the mutation
    old,  # IN int64: v's parent
):
    """Give v's children to its parent."""
    for other in range(here.root):
        child = np.int64(other)
        above = parent_of(given, here, child)
        put_parent(given, here, child, choose(equal(above, v) & ~equal(child, v), old, above))


def make_estimated_move(lanes: int, tree: MutationTree, draw_luck: Any) -> tuple[Any, Any]:
    """Return the device functions (prepare, move) for `sweeps_of`."""
    attach = make_attach(lanes)
    add_to = make_rows(lanes).add_to
    renew_up, shift, total = tree.renew_up, tree.shift, tree.score

    @device_function
    def prepare(given, here):
        """Attach the columns; return where they are attached (uint64)."""
        return attach(given, here, here.root + _ONE)

    @device_function
    def estimated_move(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        attached,  # IN uint64: result of `attach`
        v,  # IN int64: the mutation
        turn,  # IN int64: its turn in the sweep
        sweep,  # IN int64: number of the sweep
        score,  # IN int64: score of the tree
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Move v to where it adds most; return (score of the tree, where columns are then attached)."""
        count = here.root + _ONE
        old = parent_of(given, here, v)
        now = sum_weights(given, here, attached, v, count)
        luck = draw_luck(given, here, count, turn, sweep, noise)
        best = offered(no_place(), now, luck_of(given, luck, v, noise) + BONUS, v, _ZERO)
        for node in range(count):
            t = np.int64(node)
            hope = given.hope[here.tree + np.uint64(t)]
            allowed = ~equal(t, v) & (~equal(t, old) | less(now, hope))
            best = offered_if(allowed, best, hope, luck_of(given, luck, t, noise), t, _ZERO)
        if best.node != v:
            start, stop = place_of(given, here, v)
            shift(given, here, start + _ONE, stop, np.int32(-1), v)
            release_children(given, here, v, old)
            take_children(given, here, v, best.node)
            put_parent(given, here, v, best.node)
            number(given, here)
            add_to(
                here.cell_rounds, here.lane, given.scores, row_of(here, v),
                given.scores, row_of(here, best.node), given.weights, weights_of(here, v),
            )  # fmt: skip
            start, stop = place_of(given, here, v)
            shift(given, here, start + _ONE, stop, np.int32(1), v)
            renew_up(given, here, old)
            renew_up(given, here, v)
            score = total(given, here)
            attached = attach(given, here, count)
        return score, attached

    return prepare, estimated_move


ESTIMATED = Stage(1, sweeps_of(make_estimated_move))
