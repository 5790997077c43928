"""Exact move: a mutation goes to the best of four kinds of place at every node; about eight rows per node.

It is taken out of the tree, and these places are compared: as a leaf below t; on the edge above x; below t
with all of t's children; below one t with those of t's children that gain most from it; and with its old
children where it was.
"""

import numpy as np

from syclade.kernels.search.attachment import attach, sum_weights
from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.control import once_if
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
    shift,
    tree_score,
    weights_of,
)
from syclade.kernels.search.rows import LOWEST, add_to, fill
from syclade.kernels.search.slot import at_node, lane_at, spare_row
from syclade.kernels.search.stages import Stage, sweeps_of
from syclade.kernels.target import (
    address,
    choose,
    control,
    device_function,
    equal,
    lane_sum,
    less,
    maximum,
    minimum,
)

LEAF, ON_EDGE, ABOVE_ALL, ABOVE_SOME, AS_BEFORE = (control(kind) for kind in range(5))

_ZERO = control(0)
_ONE = control(1)
_TWO = control(2)
_THREE = control(3)
_HIGHEST_ROW, _SECOND_ROW = control(4), control(5)
_NOBODY = control(-1)


@device_function
def children_of(slot, node):
    """Return the number of children (control)."""
    count = _ZERO
    child = first_child_of(slot, node)
    while child >= _ZERO:
        count = count + _ONE
        child = next_sibling_of(slot, child)
    return count


@device_function
def as_leaf(
    slot,  # IN scores, weights, maxima
    t,  # IN control
    weights,  # IN address: where v's row of weights starts
    now,  # IN address: where the root's row starts
):
    """Return what all columns gain with v as a leaf below t (int64)."""
    given = slot.given
    own = row_of(slot, t)
    share = np.int32(0)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        more = np.int32(
            np.int32(given.scores[own + cell] + given.weights[weights + cell]) - given.maxima[now + cell]
        )
        share = np.int32(share + maximum(more, np.int32(0)))
    return lane_sum(np.int64(share))


@device_function
def above_all(
    slot,  # IN outside, scores, maxima, weights
    t,  # IN control
    weights,  # IN address: where v's row of weights starts
    now,  # IN address: where the root's row starts
):
    """Return the gain with v below t and above all of t's children (int64)."""
    given = slot.given
    own = row_of(slot, t)
    share = np.int32(0)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        others = maximum(given.outside[own + cell], given.scores[own + cell])
        most = maximum(others, np.int32(given.maxima[own + cell] + given.weights[weights + cell]))
        share = np.int32(share + np.int32(most - given.maxima[now + cell]))
    return lane_sum(np.int64(share))


@device_function
def take_two_highest(
    slot,  # IN first_child, next_sibling, maxima; OUT cell_rows
    t,  # IN control
    highest,  # IN address: where the spare row of the highest starts
    second,  # IN address: where the spare row of the second highest starts
):
    """Compute the two highest of the children's maxima, column by column."""
    given = slot.given
    rounds = slot.cell_rounds
    fill(slot, rounds, given.cell_rows, highest, LOWEST)
    fill(slot, rounds, given.cell_rows, second, LOWEST)
    child = first_child_of(slot, t)
    while child >= _ZERO:
        own = row_of(slot, child)
        for part in range(rounds):
            cell = lane_at(slot, part)
            value, one = given.maxima[own + cell], given.cell_rows[highest + cell]
            two = maximum(given.cell_rows[second + cell], minimum(one, value))
            given.cell_rows[second + cell] = two
            given.cell_rows[highest + cell] = maximum(one, value)
        child = next_sibling_of(slot, child)


@device_function
def on_edge(
    slot,  # IN scores, maxima, weights, cell_rows; IN OUT outside
    t,  # IN control
    x,  # IN control: a child of t
    weights,  # IN address: where v's row of weights starts
    now,  # IN address: where the root's row starts
    highest,  # IN address: where the spare row of the children's highest maxima starts
    second,  # IN address: where the spare row of their second highest starts
):
    """Return the gain with v below t and above its child x (int64); write the best outside of x, too."""
    given = slot.given
    upper, own = row_of(slot, t), row_of(slot, x)
    share = np.int32(0)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
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
    slot,  # IN first_child, next_sibling, scores, maxima, outside, weights; OUT cell_rows
    t,  # IN control
    marks,  # IN (slots, nodes) int32, flat: 1 for marked children
    weights,  # IN address: where v's row of weights starts
    now,  # IN address: where the root's row starts
    without,  # IN address: where the spare row of the best that is not below v starts
    below,  # IN address: where the spare row of the best below v starts, at first without v's weights
):
    """Return the gain with v below t and above those of t's children that are marked (int64)."""
    given = slot.given
    rounds, own = slot.cell_rounds, row_of(slot, t)
    for part in range(rounds):
        cell = lane_at(slot, part)
        upper_score = given.scores[own + cell]
        given.cell_rows[without + cell] = maximum(given.outside[own + cell], upper_score)
        given.cell_rows[below + cell] = upper_score
    child = first_child_of(slot, t)
    while child >= _ZERO:
        marked = address(marks[at_node(slot, child)])
        target = without + marked * (below - without)
        other = row_of(slot, child)
        for part in range(rounds):
            cell = lane_at(slot, part)
            given.cell_rows[target + cell] = maximum(
                given.cell_rows[target + cell], given.maxima[other + cell]
            )
        child = next_sibling_of(slot, child)
    share = np.int32(0)
    for part in range(rounds):
        cell = lane_at(slot, part)
        with_v = np.int32(given.cell_rows[below + cell] + given.weights[weights + cell])
        most = maximum(given.cell_rows[without + cell], with_v)
        share = np.int32(share + np.int32(most - given.maxima[now + cell]))
    return lane_sum(np.int64(share))


@device_function
def take_out(slot, v):
    """Take v out of the tree; its children go to its parent.

    Returns (v's old parent, how many children it had, number of nodes left in the tree), int64.
    """
    old = parent_of(slot, v)
    kids = _ZERO
    for other in range(slot.root):
        node = control(other)
        is_kid = (parent_of(slot, node) == v) & (node != v)
        slot.given.kid[at_node(slot, node)] = np.int32(is_kid)
        kids = kids + control(is_kid)
    if old != v:
        start, stop = place_of(slot, v)
        shift(slot, start + _ONE, stop, np.int32(-1), v)
        for other in range(slot.root):
            node = control(other)
            is_kid = equal(control(slot.given.kid[at_node(slot, node)]), _ONE)
            put_parent(slot, node, choose(is_kid, old, parent_of(slot, node)))
        put_parent(slot, v, v)
    count = number(slot)
    if old != v:
        renew_up(slot, old)
    return old, kids, count


@device_function
def best_of_all(
    slot,  # IN the tree, scores, maxima, weights, luck; OUT outside, cell_rows
    v,  # IN control: the mutation
    count,  # IN control: number of nodes in the tree
    luck,  # IN address: where the noise of the places starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return the best leaf, edge, or node all of whose children go along (Best); fill `outside`."""
    given = slot.given
    weights, now = weights_of(slot, v), row_of(slot, slot.root)
    highest = spare_row(slot, _HIGHEST_ROW)
    second = spare_row(slot, _SECOND_ROW)
    fill(slot, slot.cell_rounds, given.outside, now, LOWEST)
    nodes = slot.root + _ONE
    best = no_place()
    for place in range(count):
        t = node_at(slot, control(place))
        children = children_of(slot, t)
        best = offered(best, as_leaf(slot, t, weights, now), luck_of(slot, luck, t, noise), t, LEAF)
        for _ in range(once_if(less(_ONE, children))):
            gained = above_all(slot, t, weights, now)
            best = offered(best, gained, luck_of(slot, luck, _TWO * nodes + t, noise), t, ABOVE_ALL)
        for _ in range(once_if(less(_ZERO, children))):
            take_two_highest(slot, t, highest, second)
        x = first_child_of(slot, t)
        for _ in range(children):
            gained = on_edge(slot, t, x, weights, now, highest, second)
            best = offered(best, gained, luck_of(slot, luck, nodes + x, noise), x, ON_EDGE)
            x = next_sibling_of(slot, x)
    return best


@device_function
def mark_wanting(slot, count):
    """Find the node with three or more children where v adds most; mark those below which it gains.

    Returns the node (int64), or -1 if there is none, if fewer than two children are marked, or if all
    are.
    """
    given = slot.given
    node, most = _NOBODY, _ZERO
    for place in range(count):
        t = node_at(slot, control(place))
        hope = given.hope[at_node(slot, t)]
        allowed = less(_TWO, children_of(slot, t))
        better = allowed & (equal(node, _NOBODY) | less(most, hope))
        node, most = choose(better, t, node), choose(better, hope, most)
    if node != _NOBODY:
        marked, children = _ZERO, _ZERO
        child = first_child_of(slot, node)
        while child >= _ZERO:
            gains = given.gain[at_node(slot, child)] > _ZERO
            given.taken[at_node(slot, child)] = np.int32(gains)
            marked, children = marked + control(gains), children + _ONE
            child = next_sibling_of(slot, child)
        node = choose(less(marked, _TWO) | equal(marked, children), _NOBODY, node)
    return node


@device_function
def insert(
    slot,  # IN taken, kid, first_child, next_sibling; IN OUT parent
    v,  # IN control: the mutation
    best,  # IN Best
):
    """Put v at its best place."""
    given = slot.given
    node, above = best.node, parent_of(slot, best.node)
    edge = equal(best.kind, ON_EDGE)
    put_parent(slot, node, choose(edge, v, above))
    child = first_child_of(slot, node)
    while child >= _ZERO:
        at = at_node(slot, child)
        some = equal(best.kind, ABOVE_SOME) & equal(control(given.taken[at]), _ONE)
        before = equal(best.kind, AS_BEFORE) & equal(control(given.kid[at]), _ONE)
        goes = equal(best.kind, ABOVE_ALL) | some | before
        put_parent(slot, child, choose(goes, v, node))
        child = next_sibling_of(slot, child)
    put_parent(slot, v, choose(edge, above, node))


@device_function
def prepare(slot):
    """Return a placeholder: nothing has to be known before."""
    return slot.spare_cells


@device_function
def exact_move(
    slot,  # IN OUT record of arguments.py
    attached,  # IN address: not used
    v,  # IN control: the mutation
    turn,  # IN control: its turn in the sweep
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: not used
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move v to its best place; return (score of the tree, where columns were attached without v)."""
    given = slot.given
    old, kids, count = take_out(slot, v)
    weights, now = weights_of(slot, v), row_of(slot, slot.root)
    nodes = slot.root + _ONE
    luck = draw_luck(slot, control(4) * nodes, turn, sweep, noise)
    best = best_of_all(slot, v, count, luck, noise)
    attached = attach(slot, count)
    sum_weights(slot, attached, v, count)
    without = spare_row(slot, _ZERO)
    below = spare_row(slot, _ONE)
    wanting = mark_wanting(slot, count)
    for _ in range(once_if(~equal(wanting, _NOBODY))):
        gained = above_marked(slot, wanting, given.taken, weights, now, without, below)
        best = offered(
            best, gained, luck_of(slot, luck, _THREE * nodes + wanting, noise), wanting, ABOVE_SOME
        )
    for _ in range(once_if(less(_ONE, kids))):
        gained = above_marked(slot, old, given.kid, weights, now, without, below)
        luck_now = luck_of(slot, luck, _THREE * nodes + v, noise) + BONUS
        best = offered(best, gained, luck_now, old, AS_BEFORE)
    insert(slot, v, best)
    number(slot)
    add_to(
        slot, slot.cell_rounds, given.scores, row_of(slot, v),
        given.scores, row_of(slot, parent_of(slot, v)), given.weights, weights,
    )  # fmt: skip
    start, stop = place_of(slot, v)
    shift(slot, start + _ONE, stop, np.int32(1), v)
    renew_up(slot, v)
    return tree_score(slot), attached


EXACT = Stage(4, sweeps_of(prepare, exact_move))
