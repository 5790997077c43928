"""Subtree move: a subtree goes below the node that is best for it; O(columns) per place.

With O the best attachment outside of the subtree, and R the subtree's own best minus its parent's score, a
column gains max(0, S[t] + R - O) below t.
"""

from typing import Any

import numpy as np

from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.draws import BONUS, luck_of
from syclade.kernels.search.mutation_tree import (
    MutationTree,
    node_at,
    number,
    parent_of,
    place_of,
    put_parent,
    row_of,
)
from syclade.kernels.search.rows import LOWEST, make_rows
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import device_function, lane_sum, maximum

_ZERO = np.int64(0)
_ONE = np.int64(1)


def make_subtree_move(lanes: int, tree: MutationTree, draw_luck: Any) -> tuple[Any, Any]:
    """Return the device functions (prepare, move) for `sweeps_of`."""
    rows = make_rows(lanes)
    fill, raise_by, subtract, add = rows.fill, rows.raise_by, rows.subtract, rows.add
    renew_up = tree.renew_up
    step = np.uint64(lanes)

    @device_function
    def gain_below(
        given,  # IN scores, cell_rows
        here,  # IN Here
        t,  # IN int64
        outside,  # IN uint64: where the spare row of O starts
        rise,  # IN uint64: where the spare row of R starts
    ):
        """Return what all columns gain with the subtree below t (int64)."""
        own = row_of(here, t)
        share = np.int32(0)
        for part in range(here.cell_rounds):
            cell = np.uint64(part) * step + here.lane
            more = np.int32(
                np.int32(given.scores[own + cell] + given.cell_rows[rise + cell])
                - given.cell_rows[outside + cell]
            )
            share = np.int32(share + maximum(more, np.int32(0)))
        return lane_sum(np.int64(share))

    @device_function
    def take_outside(
        given,  # IN the tree, scores, maxima; OUT cell_rows
        here,  # IN Here
        v,  # IN int64: top of the subtree
        outside,  # IN uint64: where the spare row of O starts
    ):
        """Compute the best attachment of each column that is not below v."""
        rounds, lane = here.cell_rounds, here.lane
        fill(rounds, lane, given.cell_rows, outside, LOWEST)
        below = v
        node = parent_of(given, here, v)
        going = _ONE
        while going != _ZERO:
            raise_by(rounds, lane, given.cell_rows, outside, given.scores, row_of(here, node))
            child = np.int64(given.first_child[here.tree + np.uint64(node)])
            while child >= _ZERO:
                if child != below:
                    raise_by(rounds, lane, given.cell_rows, outside, given.maxima, row_of(here, child))
                child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
            going = np.int64(node != here.root)
            below = node
            node = parent_of(given, here, node)

    @device_function
    def prepare(given, here):
        """Return a placeholder: nothing has to be known before."""
        return here.spare_cells

    @device_function
    def subtree_move(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        attached,  # IN uint64: returned unchanged
        v,  # IN int64: top of the subtree
        turn,  # IN int64: its turn in the sweep
        sweep,  # IN int64: number of the sweep
        score,  # IN int64: score of the tree
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Move v's subtree to its best place; return (score of the tree, `attached`)."""
        rounds, lane = here.cell_rounds, here.lane
        outside = here.spare_cells
        rise = outside + np.uint64(here.cells)
        start, stop = place_of(given, here, v)
        old = parent_of(given, here, v)
        take_outside(given, here, v, outside)
        subtract(
            rounds,
            lane,
            given.cell_rows,
            rise,
            given.maxima,
            row_of(here, v),
            given.scores,
            row_of(here, old),
        )
        luck = draw_luck(given, here, here.root + _ONE, turn, sweep, noise)
        now = gain_below(given, here, old, outside, rise)
        best = offered(no_place(), now, luck_of(given, luck, old, noise) + BONUS, old, _ZERO)
        for place in range(here.root + _ONE - (stop - start)):  # all but those of the subtree
            at = np.int64(place) + np.int64(place >= start) * (stop - start)
            t = node_at(given, here, at)
            gained = gain_below(given, here, t, outside, rise)
            best = offered(best, gained, luck_of(given, luck, t, noise), t, _ZERO)
        if best.node != old:
            put_parent(given, here, v, best.node)
            subtract(
                rounds, lane, given.cell_rows, outside,
                given.scores, row_of(here, best.node), given.scores, row_of(here, old),
            )  # fmt: skip
            for place in range(start, stop):
                own = row_of(here, node_at(given, here, np.int64(place)))
                add(rounds, lane, given.scores, own, given.cell_rows, outside, np.int32(1))
                add(rounds, lane, given.maxima, own, given.cell_rows, outside, np.int32(1))
            number(given, here)
            renew_up(given, here, old)
            renew_up(given, here, best.node)
            score = score + best.score - now
        return score, attached

    return prepare, subtree_move


SUBTREES = Stage(2, sweeps_of(make_subtree_move))
