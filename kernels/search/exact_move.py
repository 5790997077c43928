"""Exact move: a mutation goes to the best of four kinds of place at every node; about eight rows per node.

It is taken out of the tree, and these places are compared: as a leaf below t; on the edge above x; below t
with all of t's children; below one t with those of t's children that gain most from it; and with its old
children where it was.
"""

from typing import Any

import numpy as np

from syclade.kernels.search.attachment import make_attach, sum_weights
from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.control import once_if
from syclade.kernels.search.draws import BONUS, luck_of
from syclade.kernels.search.mutation_tree import (
    MutationTree,
    node_at,
    number,
    parent_of,
    place_of,
    put_parent,
    row_of,
    weights_of,
)
from syclade.kernels.search.rows import LOWEST, make_rows
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import choose, device_function, equal, lane_sum, less, maximum, minimum

LEAF, ON_EDGE, ABOVE_ALL, ABOVE_SOME, AS_BEFORE = (np.int64(kind) for kind in range(5))

_ZERO = np.int64(0)
_ONE = np.int64(1)
_TWO = np.int64(2)
_THREE = np.int64(3)
_HIGHEST_ROW, _SECOND_ROW = 4, 5
_NOBODY = np.int64(-1)


@device_function
def children_of(given, here, node):
    """Return the number of children (int64)."""
    count = _ZERO
    child = np.int64(given.first_child[here.tree + np.uint64(node)])
    while child >= _ZERO:
        count = count + _ONE
        child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
    return count


def make_exact_move(lanes: int, tree: MutationTree, draw_luck: Any) -> tuple[Any, Any]:
    """Return the device functions (prepare, move) for `sweeps_of`; v may be absent before."""
    attach = make_attach(lanes)
    rows = make_rows(lanes)
    fill, add_to = rows.fill, rows.add_to
    renew_up, shift, total = tree.renew_up, tree.shift, tree.score
    step = np.uint64(lanes)

    @device_function
    def as_leaf(
        given,  # IN scores, weights, maxima
        here,  # IN Here
        t,  # IN int64
        weights,  # IN uint64: where v's row of weights starts
        now,  # IN uint64: where the root's row starts
    ):
        """Return what all columns gain with v as a leaf below t (int64)."""
        own = row_of(here, t)
        share = np.int32(0)
        for part in range(here.cell_rounds):
            cell = np.uint64(part) * step + here.lane
            more = np.int32(
                np.int32(given.scores[own + cell] + given.weights[weights + cell]) - given.maxima[now + cell]
            )
            share = np.int32(share + maximum(more, np.int32(0)))
        return lane_sum(np.int64(share))

    @device_function
    def above_all(
        given,  # IN outside, scores, maxima, weights
        here,  # IN Here
        t,  # IN int64
        weights,  # IN uint64: where v's row of weights starts
        now,  # IN uint64: where the root's row starts
    ):
        """Return the gain with v below t and above all of t's children (int64)."""
        own = row_of(here, t)
        share = np.int32(0)
        for part in range(here.cell_rounds):
            cell = np.uint64(part) * step + here.lane
            others = maximum(given.outside[own + cell], given.scores[own + cell])
            most = maximum(others, np.int32(given.maxima[own + cell] + given.weights[weights + cell]))
            share = np.int32(share + np.int32(most - given.maxima[now + cell]))
        return lane_sum(np.int64(share))

    @device_function
    def take_two_highest(
        given,  # IN first_child, next_sibling, maxima; OUT cell_rows
        here,  # IN Here
        t,  # IN int64
        highest,  # IN uint64: where the spare row of the highest starts
        second,  # IN uint64: where the spare row of the second highest starts
    ):
        """Compute the two highest of the children's maxima, column by column."""
        rounds, lane = here.cell_rounds, here.lane
        fill(rounds, lane, given.cell_rows, highest, LOWEST)
        fill(rounds, lane, given.cell_rows, second, LOWEST)
        child = np.int64(given.first_child[here.tree + np.uint64(t)])
        while child >= _ZERO:
            own = row_of(here, child)
            for part in range(rounds):
                cell = np.uint64(part) * step + lane
                value, one = given.maxima[own + cell], given.cell_rows[highest + cell]
                two = maximum(given.cell_rows[second + cell], minimum(one, value))
                given.cell_rows[second + cell] = two
                given.cell_rows[highest + cell] = maximum(one, value)
            child = np.int64(given.next_sibling[here.tree + np.uint64(child)])

    @device_function
    def on_edge(
        given,  # IN scores, maxima, weights, cell_rows; IN OUT outside
        here,  # IN Here
        t,  # IN int64
        x,  # IN int64: a child of t
        weights,  # IN uint64: where v's row of weights starts
        now,  # IN uint64: where the root's row starts
        highest,  # IN uint64: where the spare row of the children's highest maxima starts
        second,  # IN uint64: where the spare row of their second highest starts
    ):
        """Return the gain with v below t and above its child x (int64); write the best outside of x, too."""
        upper, own = row_of(here, t), row_of(here, x)
        share = np.int32(0)
        for part in range(here.cell_rounds):
            cell = np.uint64(part) * step + here.lane
            below, one = given.maxima[own + cell], given.cell_rows[highest + cell]
            is_highest = np.int32(below == one)
            siblings = np.int32(one + np.int32(is_highest * np.int32(given.cell_rows[second + cell] - one)))
            upper_score = given.scores[upper + cell]
            others = maximum(siblings, maximum(given.outside[upper + cell], upper_score))
            given.outside[own + cell] = others
            with_v = np.int32(maximum(below, upper_score) + given.weights[weights + cell])
            share = np.int32(share + np.int32(maximum(others, with_v) - given.maxima[now + cell]))
        return lane_sum(np.int64(share))

    @device_function
    def above_marked(
        given,  # IN first_child, next_sibling, scores, maxima, outside, weights; OUT cell_rows
        here,  # IN Here
        t,  # IN int64
        marks,  # IN (slots, nodes) int32, flat: 1 for marked children
        weights,  # IN uint64: where v's row of weights starts
        now,  # IN uint64: where the root's row starts
        without,  # IN uint64: where the spare row of the best that is not below v starts
        below,  # IN uint64: where the spare row of the best below v starts, at first without v's weights
    ):
        """Return the gain with v below t and above those of t's children that are marked (int64)."""
        rounds, lane, own = here.cell_rounds, here.lane, row_of(here, t)
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            upper_score = given.scores[own + cell]
            given.cell_rows[without + cell] = maximum(given.outside[own + cell], upper_score)
            given.cell_rows[below + cell] = upper_score
        child = np.int64(given.first_child[here.tree + np.uint64(t)])
        while child >= _ZERO:
            marked = np.uint64(marks[here.tree + np.uint64(child)])
            target = without + marked * (below - without)
            other = row_of(here, child)
            for part in range(rounds):
                cell = np.uint64(part) * step + lane
                given.cell_rows[target + cell] = maximum(
                    given.cell_rows[target + cell], given.maxima[other + cell]
                )
            child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
        share = np.int32(0)
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            with_v = np.int32(given.cell_rows[below + cell] + given.weights[weights + cell])
            most = maximum(given.cell_rows[without + cell], with_v)
            share = np.int32(share + np.int32(most - given.maxima[now + cell]))
        return lane_sum(np.int64(share))

    @device_function
    def take_out(given, here, v):
        """Take v out of the tree; its children go to its parent.

        Returns (v's old parent, how many children it had, number of nodes left in the tree), int64.
        """
        old = parent_of(given, here, v)
        kids = _ZERO
        for other in range(here.root):
            node = np.int64(other)
            is_kid = (parent_of(given, here, node) == v) & (node != v)
            given.kid[here.tree + np.uint64(node)] = np.int32(is_kid)
            kids = kids + np.int64(is_kid)
        if old != v:
            start, stop = place_of(given, here, v)
            shift(given, here, start + _ONE, stop, np.int32(-1), v)
            for other in range(here.root):
                node = np.int64(other)
                is_kid = equal(np.int64(given.kid[here.tree + np.uint64(node)]), _ONE)
                put_parent(given, here, node, choose(is_kid, old, parent_of(given, here, node)))
            put_parent(given, here, v, v)
        count = number(given, here)
        if old != v:
            renew_up(given, here, old)
        return old, kids, count

    @device_function
    def best_of_all(
        given,  # IN the tree, scores, maxima, weights, luck; OUT outside, cell_rows
        here,  # IN Here
        v,  # IN int64: the mutation
        count,  # IN int64: number of nodes in the tree
        luck,  # IN uint64: where the noise of the places starts
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Return the best leaf, edge, or node all of whose children go along (Best); fill `outside`."""
        weights, now = weights_of(here, v), row_of(here, here.root)
        highest = here.spare_cells + np.uint64(np.int64(_HIGHEST_ROW) * here.cells)
        second = here.spare_cells + np.uint64(np.int64(_SECOND_ROW) * here.cells)
        fill(here.cell_rounds, here.lane, given.outside, now, LOWEST)
        nodes = here.root + _ONE
        best = no_place()
        for place in range(count):
            t = node_at(given, here, np.int64(place))
            children = children_of(given, here, t)
            best = offered(
                best, as_leaf(given, here, t, weights, now), luck_of(given, luck, t, noise), t, LEAF
            )
            for _ in range(once_if(less(_ONE, children))):
                gained = above_all(given, here, t, weights, now)
                best = offered(best, gained, luck_of(given, luck, _TWO * nodes + t, noise), t, ABOVE_ALL)
            for _ in range(once_if(less(_ZERO, children))):
                take_two_highest(given, here, t, highest, second)
            x = np.int64(given.first_child[here.tree + np.uint64(t)])
            for _ in range(children):
                gained = on_edge(given, here, t, x, weights, now, highest, second)
                best = offered(best, gained, luck_of(given, luck, nodes + x, noise), x, ON_EDGE)
                x = np.int64(given.next_sibling[here.tree + np.uint64(x)])
        return best

    @device_function
    def mark_wanting(given, here, count):
        """Find the node with three or more children where v adds most; mark those below which it gains.

        Returns the node (int64), or -1 if there is none, if fewer than two children are marked, or if all
        are.
        """
        node, most = _NOBODY, _ZERO
        for place in range(count):
            t = node_at(given, here, np.int64(place))
            hope = given.hope[here.tree + np.uint64(t)]
            allowed = less(_TWO, children_of(given, here, t))
            better = allowed & (equal(node, _NOBODY) | less(most, hope))
            node, most = choose(better, t, node), choose(better, hope, most)
        if node != _NOBODY:
            marked, children = _ZERO, _ZERO
            child = np.int64(given.first_child[here.tree + np.uint64(node)])
            while child >= _ZERO:
                gains = given.gain[here.tree + np.uint64(child)] > _ZERO
                given.taken[here.tree + np.uint64(child)] = np.int32(gains)
                marked, children = marked + np.int64(gains), children + _ONE
                child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
            node = choose(less(marked, _TWO) | equal(marked, children), _NOBODY, node)
        return node

    @device_function
    def insert(
        given,  # IN taken, kid, first_child, next_sibling; IN OUT parent
        here,  # IN Here
        v,  # IN int64: the mutation
        best,  # IN Best
        old,  # IN int64: not used
    ):
        """Put v at its best place."""
        node, above = best.node, parent_of(given, here, best.node)
        edge = equal(best.kind, ON_EDGE)
        put_parent(given, here, node, choose(edge, v, above))
        child = np.int64(given.first_child[here.tree + np.uint64(node)])
        while child >= _ZERO:
            at = here.tree + np.uint64(child)
            some = equal(best.kind, ABOVE_SOME) & equal(np.int64(given.taken[at]), _ONE)
            before = equal(best.kind, AS_BEFORE) & equal(np.int64(given.kid[at]), _ONE)
            goes = equal(best.kind, ABOVE_ALL) | some | before
            put_parent(given, here, child, choose(goes, v, node))
            child = np.int64(given.next_sibling[at])
        put_parent(given, here, v, choose(edge, above, node))

    @device_function
    def prepare(given, here):
        """Return a placeholder: nothing has to be known before."""
        return here.spare_cells

    @device_function
    def exact_move(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        attached,  # IN uint64: not used
        v,  # IN int64: the mutation
        turn,  # IN int64: its turn in the sweep
        sweep,  # IN int64: number of the sweep
        score,  # IN int64: not used
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Move v to its best place; return (score of the tree, where columns were attached without v)."""
        old, kids, count = take_out(given, here, v)
        weights, now = weights_of(here, v), row_of(here, here.root)
        nodes = here.root + _ONE
        luck = draw_luck(given, here, np.int64(4) * nodes, turn, sweep, noise)
        best = best_of_all(given, here, v, count, luck, noise)
        attached = attach(given, here, count)
        sum_weights(given, here, attached, v, count)
        without = here.spare_cells
        below = without + np.uint64(here.cells)
        wanting = mark_wanting(given, here, count)
        for _ in range(once_if(~equal(wanting, _NOBODY))):
            gained = above_marked(given, here, wanting, given.taken, weights, now, without, below)
            best = offered(
                best, gained, luck_of(given, luck, _THREE * nodes + wanting, noise), wanting, ABOVE_SOME
            )
        for _ in range(once_if(less(_ONE, kids))):
            gained = above_marked(given, here, old, given.kid, weights, now, without, below)
            luck_now = luck_of(given, luck, _THREE * nodes + v, noise) + BONUS
            best = offered(best, gained, luck_now, old, AS_BEFORE)
        insert(given, here, v, best, old)
        number(given, here)
        add_to(
            here.cell_rounds, here.lane, given.scores, row_of(here, v),
            given.scores, row_of(here, parent_of(given, here, v)), given.weights, weights,
        )  # fmt: skip
        start, stop = place_of(given, here, v)
        shift(given, here, start + _ONE, stop, np.int32(1), v)
        renew_up(given, here, v)
        return total(given, here), attached

    return prepare, exact_move


EXACT = Stage(4, sweeps_of(make_exact_move))
