"""Exact move, sparse: a mutation that no place but its own can be best for is not taken out of the tree.

For most mutations of a sweep, bounds show that. Let S, M and B be the scores, the best scores below nodes
and the best scores of all, without the mutation. Only a column with a positive weight w can gain: as a leaf
below t at most max(0, S[t] + w - B), on the edge above x max(0, max(M[x], S[t]) + w - B), above children of t
max(0, M[t] + w - B). A column with a negative weight loses at least min(gap, -w) if all its best nodes are
below the mutation, where `gap` is how far the best node outside of that one's subtree is below the best.

All other mutations move as in `search/exact_move.py`, so the results are the same, bit for bit.
"""

import numpy as np

from syclade.kernels.search.attachment import attach
from syclade.kernels.search.exact_move import exact_move
from syclade.kernels.search.mutation_tree import (
    first_child_of,
    next_sibling_of,
    node_at,
    parent_of,
    place_of,
    row_of,
    weights_of,
)
from syclade.kernels.search.rows import LOWEST, fill
from syclade.kernels.search.slot import at_node, lane_at, spare_row
from syclade.kernels.search.sparse.by_column import (
    GAIN,
    LISTED,
    MASK,
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
from syclade.kernels.target import address, control, device_function, in_step, lane_sum, maximum

LEAF = GAIN
HERE, BELOW, EDGE, ABOVE, ON_EDGE, HITS, LOSS, SURE, HELD, UPPER = (control(row) for row in range(3, 13))
"""Rows over nodes.

HERE, BELOW, EDGE: a column's scores, the best below each node, and the best there or at its parent.
LEAF, ABOVE, ON_EDGE: what columns gain at most with the mutation below each node, above all or some of its
children, and on the edge above it. HITS: its positive weights over columns that may be attached below.
LOSS: what columns lose at least if it is above the node. SURE: its negative weights over these columns.
HELD: its weights over the columns that are attached below for sure, or may be if they are negative.
UPPER: by position, the parent without the mutation; its own is itself.
"""

NOW, HOLDER, GAP = control(1), control(2), control(3)
"""Rows over columns: B; the best node of the tree; by how much nodes outside of its subtree are worse."""

_ZERO = control(0)
_ONE = control(1)
_TWO = control(2)
_SIGN = np.int32(31)
_FAR = np.int64(1 << 40)


@device_function
def find_gaps(
    slot,  # IN the tree, scores, maxima; OUT cell_rows, more_rows
):
    """Find each column's best node, and by how much all nodes outside of its subtree are worse."""
    given = slot.given
    attached = attach(slot, slot.root + _ONE)
    first, end, top = spare_row(slot, _ZERO), spare_row(slot, _ONE), row_of(slot, slot.root)
    holders, gaps = more_row(slot, HOLDER), more_row(slot, GAP)
    for column in range(slot.columns):
        node = given.cell_rows[attached + address(column)]
        start, stop = place_of(slot, control(node))
        given.more_rows[holders + address(column)] = node
        given.cell_rows[first + address(column)] = np.int32(start)
        given.cell_rows[end + address(column)] = np.int32(stop)
    first = in_step(first)
    fill(slot, slot.cell_rounds, given.more_rows, gaps, LOWEST)
    for place in range(slot.root + _ONE):
        own, at = row_of(slot, node_at(slot, control(place))), np.int32(place)
        for part in range(slot.cell_rounds):
            cell = lane_at(slot, part)
            after = np.int32(given.cell_rows[first + cell] <= at)
            before = np.int32(at < given.cell_rows[end + cell])
            outside = np.int32(given.scores[own + cell] + np.int32(np.int32(after * before) * LOWEST))
            given.more_rows[gaps + cell] = maximum(given.more_rows[gaps + cell], outside)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        given.more_rows[gaps + cell] = np.int32(given.maxima[top + cell] - given.more_rows[gaps + cell])


@device_function
def clear_sums(
    slot,  # OUT node_rows
):
    """Set all sums over columns to 0."""
    given = slot.given
    leaf, above, edge = node_row(slot, LEAF), node_row(slot, ABOVE), node_row(slot, ON_EDGE)
    hits, loss, sure = node_row(slot, HITS), node_row(slot, LOSS), node_row(slot, SURE)
    held = node_row(slot, HELD)
    for part in range(node_rounds_of(slot)):
        node = lane_at(slot, part)
        given.node_rows[leaf + node] = np.int32(0)
        given.node_rows[above + node] = np.int32(0)
        given.node_rows[edge + node] = np.int32(0)
        given.node_rows[hits + node] = np.int32(0)
        given.node_rows[loss + node] = np.int32(0)
        given.node_rows[sure + node] = np.int32(0)
        given.node_rows[held + node] = np.int32(0)


@device_function
def take_losses(
    slot,  # IN the tree, weights, maxima, more_rows; OUT more_rows, node_rows
    v,  # IN control: the mutation
    start,  # IN control: its position
    stop,  # IN control: the end of its subtree
):
    """List the columns with a positive weight; sum what others lose at least.

    Returns the number of listed columns, and the sum of the negative weights of other columns that may be
    attached below v (control).
    """
    given = slot.given
    weights, below, top = weights_of(slot, v), row_of(slot, v), row_of(slot, slot.root)
    listed, holders, gaps = more_row(slot, LISTED), more_row(slot, HOLDER), more_row(slot, GAP)
    losses, sure = in_step(node_row(slot, LOSS)), in_step(node_row(slot, SURE))
    count, doubtful = _ZERO, _ZERO
    for column in range(slot.columns):
        at = address(column)
        weight = given.weights[weights + at]
        given.more_rows[listed + address(count)] = np.int32(column)
        count = count + control(weight > np.int32(0))
        if weight < np.int32(0):
            holder = control(given.more_rows[holders + at])
            first, end = place_of(slot, holder)
            loss = min(control(given.more_rows[gaps + at]), -control(weight))
            # The nodes below the mutation rise by -weight without it.
            ahead = control(given.maxima[top + at]) - control(given.maxima[below + at]) + control(weight)
            if (stop <= first) | (end <= start):  # apart from the holder's subtree
                loss = min(loss, ahead)
            if loss > _ZERO:
                lost, held = losses + address(holder), sure + address(holder)
                given.node_rows[lost] = np.int32(given.node_rows[lost] + np.int32(loss))
                given.node_rows[held] = np.int32(given.node_rows[held] + weight)
            elif ahead <= _ZERO:
                doubtful = doubtful + control(weight)
    return count, doubtful


@device_function
def sum_up(
    slot,  # IN order, parent; IN OUT node_rows
    row,  # IN control
):
    """Add the numbers of all nodes below to each number of a row over nodes."""
    given = slot.given
    start = node_row(slot, row)
    for done in range(slot.root):
        node = node_at(slot, slot.root - control(done))
        at = start + address(parent_of(slot, node))
        given.node_rows[at] = np.int32(given.node_rows[at] + given.node_rows[start + address(node)])


@device_function
def take_uppers(
    slot,  # IN order, parent; OUT node_rows
    v,  # IN control: the mutation
):
    """Write each node's parent without the mutation, by position; return how many children it has."""
    old, kids, uppers = parent_of(slot, v), _ZERO, node_row(slot, UPPER)
    for place in range(_ONE, slot.root + _ONE):
        node = node_at(slot, control(place))
        upper = parent_of(slot, node)
        if upper == v:
            upper, kids = old, kids + _ONE
        if node == v:
            upper = v
        slot.given.node_rows[uppers + address(place)] = np.int32(upper)
    return kids


@device_function
def spread(
    slot,  # IN order, column_scores; IN OUT node_rows
    column,  # IN control
    weight,  # IN int32: the mutation's
):
    """Write a column's rows HERE, BELOW and EDGE."""
    given = slot.given
    rounds, row, mask = node_rounds_of(slot), scores_of(slot, column), node_row(slot, MASK)
    here, below, edge = node_row(slot, HERE), node_row(slot, BELOW), node_row(slot, EDGE)
    uppers = node_row(slot, UPPER)
    for part in range(rounds):
        node = lane_at(slot, part)
        less = np.int32(np.int32(given.node_rows[mask + node] >> _SIGN) & weight)
        value = np.int32(given.column_scores[row + node] - less)
        given.node_rows[here + node] = value
        given.node_rows[below + node] = value
    here, below = in_step(here), in_step(below)
    for done in range(slot.root):
        place = address(slot.root - control(done))
        node = address(given.order[slot.tree + place])
        upper = address(given.node_rows[uppers + place])
        value = given.node_rows[below + node]
        given.node_rows[edge + node] = max(value, given.node_rows[here + upper])
        given.node_rows[below + upper] = max(value, given.node_rows[below + upper])
    in_step(edge)


@device_function
def take_gains(
    slot,  # IN the tree, weights, maxima, column_scores; IN OUT more_rows, node_rows
    v,  # IN control: the mutation, whose subtree is masked
    count,  # IN control: number of listed columns
):
    """Sum what the listed columns gain at most at each place; complete the row NOW."""
    given = slot.given
    rounds, weights = node_rounds_of(slot), weights_of(slot, v)
    top, own, held = row_of(slot, slot.root), row_of(slot, v), node_row(slot, HELD)
    listed, nows = more_row(slot, LISTED), more_row(slot, NOW)
    holders, gaps = more_row(slot, HOLDER), more_row(slot, GAP)
    here, below, edge = node_row(slot, HERE), node_row(slot, BELOW), node_row(slot, EDGE)
    leaf, above = node_row(slot, LEAF), node_row(slot, ABOVE)
    on_edge, hits = node_row(slot, ON_EDGE), node_row(slot, HITS)
    for turn in range(count):
        column = control(given.more_rows[listed + address(turn)])
        at = address(column)
        weight = given.weights[weights + at]
        now = given.more_rows[nows + at]
        if given.maxima[own + at] == given.maxima[top + at]:
            outside, without = best_outside(slot, column), np.int32(given.maxima[own + at] - weight)
            now = max(outside, without)
            given.more_rows[nows + at] = np.int32(now)
            if (without > outside) & (given.more_rows[gaps + at] > np.int32(0)):
                holder = held + address(given.more_rows[holders + at])
                given.node_rows[holder] = np.int32(given.node_rows[holder] + weight)
        spread(slot, column, weight)
        needed = np.int32(now - weight)
        for part in range(rounds):
            node = lane_at(slot, part)
            most = given.node_rows[below + node]
            given.node_rows[leaf + node] = np.int32(
                given.node_rows[leaf + node]
                + maximum(np.int32(given.node_rows[here + node] - needed), np.int32(0))
            )
            given.node_rows[above + node] = np.int32(
                given.node_rows[above + node] + maximum(np.int32(most - needed), np.int32(0))
            )
            given.node_rows[on_edge + node] = np.int32(
                given.node_rows[on_edge + node]
                + maximum(np.int32(given.node_rows[edge + node] - needed), np.int32(0))
            )
            given.node_rows[hits + node] = np.int32(
                given.node_rows[hits + node] + np.int32(np.int32(most >= now) * weight)
            )


@device_function
def take_now(
    slot,  # IN weights, maxima; OUT more_rows
    v,  # IN control: the mutation
):
    """Write the row NOW, except for columns with positive weights whose best node may be below v."""
    given = slot.given
    weights, own, top, nows = (
        weights_of(slot, v),
        row_of(slot, v),
        row_of(slot, slot.root),
        more_row(slot, NOW),
    )
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        without = np.int32(given.maxima[own + cell] - given.weights[weights + cell])
        given.more_rows[nows + cell] = maximum(given.maxima[top + cell], without)
    in_step(nows)


@device_function
def present_gain(
    slot,  # IN maxima, more_rows
):
    """Return what all columns gain by the mutation where it is (int64)."""
    given = slot.given
    top, nows = row_of(slot, slot.root), more_row(slot, NOW)
    share = np.int32(0)
    for part in range(slot.cell_rounds):
        cell = lane_at(slot, part)
        share = np.int32(share + np.int32(given.maxima[top + cell] - given.more_rows[nows + cell]))
    return lane_sum(np.int64(share))


@device_function
def number_at(slot, row, node):
    """Return a node's number in a row over nodes (int64)."""
    return np.int64(slot.given.node_rows[node_row(slot, row) + address(node)])


@device_function
def leaves_and_edges_are_worse(
    slot,  # IN the tree, node_rows
    v,  # IN control: the mutation
    kids,  # IN control: how many children it has
    now,  # IN int64: what it gains where it is
):
    """Return 1 if it gains less as a leaf and on an edge, except where it is, else 0 (control)."""
    old, worse = parent_of(slot, v), _ONE
    for other in range(slot.root + _ONE):
        t = control(other)
        present = (kids == _ZERO) & (t == old)
        if (number_at(slot, LEAF, t) >= now) & (t != v) & (not present):
            worse = _ZERO
        present = (kids == _ONE) & (parent_of(slot, t) == v)
        most = number_at(slot, ON_EDGE, t) - number_at(slot, LOSS, t)
        if (most >= now) & (t != v) & (t != slot.root) & (not present):
            worse = _ZERO
    return worse


@device_function
def take_children(
    slot,  # IN the tree, node_rows; OUT kid, taken, gain, hope, luck
    v,  # IN control: the mutation
):
    """Write of each node, without the mutation, what is known of its children.

    `kid` gets their number, `gain` what they lose at least. Of those below which the mutation may gain,
    without its own children, `taken` gets the number, `hope` the least loss, `luck` what they gain at most.
    """
    given = slot.given
    for node in range(slot.root + _ONE):
        at = at_node(slot, control(node))
        given.kid[at] = np.int32(0)
        given.taken[at] = np.int32(0)
        given.gain[at] = np.int64(0)
        given.hope[at] = _FAR
        given.luck[slot.luck + address(node)] = np.int64(0)
    uppers = node_row(slot, UPPER)
    for place in range(_ONE, slot.root + _ONE):
        x = node_at(slot, control(place))
        if x != v:
            upper = control(given.node_rows[uppers + address(place)])
            at, loss = at_node(slot, upper), number_at(slot, LOSS, x)
            given.kid[at] = np.int32(given.kid[at] + np.int32(1))
            given.gain[at] = given.gain[at] + loss
            gains = number_at(slot, HITS, x) + number_at(slot, SURE, x) > np.int64(0)
            if gains & (parent_of(slot, x) != v):
                given.taken[at] = np.int32(given.taken[at] + np.int32(1))
                given.hope[at] = min(given.hope[at], loss)
                most, sums = number_at(slot, ABOVE, x) - loss, slot.luck + address(upper)
                given.luck[sums] = given.luck[sums] + max(most, np.int64(0))


@device_function
def kids_stay_together(
    slot,  # IN the tree, node_rows
    v,  # IN control: the mutation
    doubtful,  # IN control: its weights over columns that may be attached below any child
):
    """Return 1 if it gains below each of its children for sure, so that all of them go along, else 0."""
    together = _ONE
    child = first_child_of(slot, v)
    while child >= _ZERO:
        if number_at(slot, HELD, child) + number_at(slot, SURE, child) + doubtful <= np.int64(0):
            together = _ZERO
        child = next_sibling_of(slot, child)
    return together


@device_function
def above_some_is_worse(
    slot,  # IN the tree, node_rows, kid, taken, hope, luck
    v,  # IN control: the mutation
    t,  # IN control: another node
    kids,  # IN control: how many children v has
    now,  # IN int64: what it gains where it is
    doubtful,  # IN control: as above
):
    """Return 1 if it gains less above some of t's children, except where it is, else 0 (control)."""
    given = slot.given
    at, most, worse = at_node(slot, t), number_at(slot, ABOVE, t), _ONE
    gaining, least = control(given.taken[at]), given.hope[at]
    if control(given.kid[at]) > _TWO:
        if t == parent_of(slot, v):
            # At least one other child goes along, or all of its own and no other do, or not all of them.
            if (gaining > _ZERO) & (most - least >= now):
                worse = _ZERO
            if kids > _TWO:
                worse = worse & kids_stay_together(slot, v, doubtful)
        elif (gaining > _ONE) & (most - least - least >= now):
            worse = control(number_at(slot, LEAF, t) + given.luck[slot.luck + address(t)] < now)
    return worse


@device_function
def places_above_children_are_worse(
    slot,  # IN the tree, node_rows; OUT kid, taken, gain, hope, luck
    v,  # IN control: the mutation
    kids,  # IN control: how many children it has
    now,  # IN int64: what it gains where it is
    doubtful,  # IN control: as above
):
    """Return 1 if it gains less above several children of a node, except where it is, else 0 (control)."""
    given = slot.given
    take_children(slot, v)
    old, worse = parent_of(slot, v), _ONE
    for other in range(slot.root + _ONE):
        t = control(other)
        if t != v:
            children = control(given.kid[at_node(slot, t)])
            present = (t == old) & (kids == children)
            most = number_at(slot, ABOVE, t) - given.gain[at_node(slot, t)]
            if (children > _ONE) & (most >= now) & (not present):
                worse = _ZERO
            worse = worse & above_some_is_worse(slot, v, t, kids, now, doubtful)
    return worse


@device_function
def stays(
    slot,  # IN the tree, scores, maxima, weights, column_scores, more_rows; OUT node_rows, more_rows
    v,  # IN control: the mutation
):
    """Return 1 if every other place is worse than the present one, 0 if that is not sure (control)."""
    start, stop = place_of(slot, v)
    clear_sums(slot)
    take_now(slot, v)
    count, doubtful = take_losses(slot, v, start, stop)
    sum_up(slot, LOSS)
    sum_up(slot, SURE)
    kids = take_uppers(slot, v)
    mask_subtree(slot, start, stop, LOWEST)
    take_gains(slot, v, count)
    mask_subtree(slot, start, stop, np.int32(0))
    sum_up(slot, HELD)
    now = present_gain(slot)
    sure = leaves_and_edges_are_worse(slot, v, kids, now)
    if sure != _ZERO:
        sure = places_above_children_are_worse(slot, v, kids, now, doubtful)
    return sure


@device_function
def renew_columns(
    slot,  # IN OUT record of arguments.py
    v,  # IN control: the mutation; `kid` marks the children that it had
    old,  # IN control: the parent that it had
):
    """Renew what is known of columns if the exact move has changed the tree."""
    given = slot.given
    changed = control(parent_of(slot, v) != old)
    for other in range(slot.root):
        node = control(other)
        was, is_now = given.kid[at_node(slot, node)] != np.int32(0), parent_of(slot, node) == v
        changed = changed | control(was != is_now)
    if changed != _ZERO:
        for other in range(slot.root):
            node = control(other)
            if given.kid[at_node(slot, node)] != np.int32(0):
                start, stop = place_of(slot, node)
                lay_out(slot, start, stop)
        start, stop = place_of(slot, v)
        lay_out(slot, start, stop)
        find_gaps(slot)


@device_function
def prepare(slot):
    """Compute the scores by columns, and the gaps; return a placeholder."""
    prepare_columns(slot)
    find_gaps(slot)
    return slot.spare_cells


@device_function
def screened_move(
    slot,  # IN OUT record of arguments.py
    attached,  # IN address: not used
    v,  # IN control: the mutation
    turn,  # IN control: its turn in the sweep
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: score of the tree
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move v to its best place; return (score of the tree, where columns were attached without v)."""
    sure = _ZERO
    if noise == np.int64(0):
        sure = stays(slot, v)
    if sure == _ZERO:
        old = parent_of(slot, v)
        score, attached = exact_move(slot, attached, v, turn, sweep, score, noise)
        if noise == np.int64(0):
            renew_columns(slot, v, old)
    return score, attached


EXACT = Stage(4, sweeps_of(prepare, screened_move))
