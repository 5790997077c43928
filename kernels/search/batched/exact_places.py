"""Gains of all columns with a mutation at each of its places, and the best place; it is not in the tree.

With S, M, O and B the scores, the best below nodes, the best outside of their subtrees and the best of all,
and w the mutation's weights: as a leaf below t, max(0, S[t] + w - B); above all children of t,
max(O[t], S[t], M[t] + w) - B; on the edge above x, max(O[x], max(M[x], S[parent]) + w) - B. The sums of the
first follow from those of `search/exact_move.py`, since O[x] is the best of all that is not below x.
"""

import numpy as np

from syclade.kernels.search.batched.below import gain_at, hope_at
from syclade.kernels.search.batched.best_places import NO_RANK, NOTHING_YET, best_of_team, better
from syclade.kernels.search.batched.mutation_tree import (
    children_of,
    first_child_of,
    following_of,
    interval_of,
    node_at,
    parent_of,
    size_of,
    start_of,
)
from syclade.kernels.search.batched.rows import column_step, first_column, outside_of, weight_at
from syclade.kernels.search.batched.team import luck_of, own, row_of
from syclade.kernels.search.draws import SCORE_BITS
from syclade.kernels.search.exact_move import ABOVE_ALL, LEAF, ON_EDGE
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, lower_to, read_fresh, warp_sum


@device_function
def leaf_start(work):
    """Return where gains as a leaf start in a buffer of sums, after those of below.py (control)."""
    return 2 * work.nodes


@device_function
def all_start(work):
    """Return where gains above all children start (control)."""
    return 3 * work.nodes


@device_function
def edge_start(work):
    """Return where gains on edges start (control)."""
    return 4 * work.nodes


@device_function
def before_start(work):
    """Return where the gain with the old children starts; in the next buffer, that with some (control)."""
    return 5 * work.nodes


@device_function
def gains_of(
    work,  # IN OUT Team
    place,  # IN control: position
    stop,  # IN control: end of the subtree
    row,  # IN control: where the node's row starts
    upper,  # IN control: where its parent's row starts
    count,  # IN control: number of nodes
    top,  # IN control: where the root's row starts
    v,  # IN control: the mutation
    cell,  # IN control: the column
):
    """Return (score, best score of all, gains as a leaf, above all children, on the edge) of a column."""
    given = work.given
    weight, best = weight_at(work, v, cell), given.maxima[top + cell]
    score, below, parent = given.scores[row + cell], given.maxima[row + cell], given.scores[upper + cell]
    outside = outside_of(work, place, stop, count, cell)
    leaf = max(np.int32(np.int32(score + weight) - best), np.int32(0))
    every = np.int32(max(max(outside, score), np.int32(below + weight)) - best)
    edge = np.int32(max(outside, np.int32(max(below, parent) + weight)) - best)
    return score, best, leaf, every, edge


@device_function
def add_sums(
    work,  # IN OUT Team
    start,  # IN control: where the buffer of sums starts
    node,  # IN control
    leaf,  # IN int32: the gain as a leaf
    every,  # IN int32: the gain above all children
    edge,  # IN int32: the gain on the edge
):
    """Add what the team's columns gain at three kinds of place at a node; a warp does."""
    leaf, every, edge = warp_sum(leaf), warp_sum(every), warp_sum(edge)
    for kind in range(work.lane, 3, work.lanes):
        at, more = leaf_start(work), leaf
        if kind == 1:
            at, more = all_start(work), every
        if kind == 2:
            at, more = edge_start(work), edge
        if more != np.int32(0):
            add_to(work.given.gains, start + at + node, more)


@device_function
def add_places(
    work,  # IN the tree, scores, maxima, before, after, weights; OUT gains, packed
    start,  # IN control: where the buffer of sums starts
    v,  # IN control: the mutation
):
    """Add what the team's columns gain at all places of three kinds, and find their best positions.

    A warp takes two nodes at once, the same one twice at the end.
    """
    given, zero, count = work.given, np.int32(0), size_of(work, work.root)
    top, base = row_of(work, work.root), work.number * max(work.cells, work.genes)
    for first in range(work.warp, count, 2 * work.warps):
        place, other = control(first), min(first + work.warps, count - 1)
        node, twin = node_at(work, place), node_at(work, other)
        stop, upper = place + size_of(work, node), row_of(work, parent_of(work, node))
        end, above = other + size_of(work, twin), row_of(work, parent_of(work, twin))
        row, line = row_of(work, node), row_of(work, twin)
        leaf_0, every_0, edge_0, leaf_1, every_1, edge_1 = zero, zero, zero, zero, zero, zero
        for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
            score_0, best, leaf, every, edge = gains_of(work, place, stop, row, upper, count, top, v, cell)
            leaf_0, every_0 = np.int32(leaf_0 + leaf), np.int32(every_0 + every)
            edge_0 = np.int32(edge_0 + edge)
            score_1, best, leaf, every, edge = gains_of(work, other, end, line, above, count, top, v, cell)
            leaf_1, every_1 = np.int32(leaf_1 + leaf), np.int32(every_1 + every)
            edge_1 = np.int32(edge_1 + edge)
            if score_0 == best:
                lower_to(given.packed, base + cell, np.int64(place))
            if score_1 == best:
                lower_to(given.packed, base + cell, np.int64(other))
        add_sums(work, start, node, leaf_0, every_0, edge_0)
        if first + work.warps < count:
            add_sums(work, start, twin, leaf_1, every_1, edge_1)


@device_function
def clear_positions(work):
    """Forget the best positions of the team's columns."""
    base = work.number * max(work.cells, work.genes)
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        work.given.packed[base + cell] = np.int64(1 << 40)


@device_function
def take_holders(work):
    """Note the best node of each of the team's columns, from its best position."""
    given, base = work.given, work.number * max(work.cells, work.genes)
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        place = control(read_fresh(given.packed, base + cell))
        given.holder[work.number * work.cells + cell] = np.int32(node_at(work, place))


@device_function
def goes_along(work, child, item):
    """Return whether a child goes below the mutation: an old child of it (item -1), or one with a gain."""
    goes = work.given.kid[own(work, child)] == np.int32(1)
    if item >= 0:
        goes = gain_at(work, item, child) > np.int32(0)
    return goes


@device_function
def add_marked(
    work,  # IN the tree, scores, maxima, before, after, weights; OUT gains
    at,  # IN control: where the sum is
    v,  # IN control: the mutation
    node,  # IN control
    item,  # IN control: as for `goes_along`
):
    """Add what the team's columns gain with v below a node and above some of its children."""
    given, count, share = work.given, size_of(work, work.root), np.int32(0)
    start, stop = interval_of(work, node)
    row, top = row_of(work, node), row_of(work, work.root)
    for cell in range(first_column(work), work.end_cell, column_step(work)):
        score = given.scores[row + cell]
        without = max(outside_of(work, start, stop, count, cell), score)
        below = score
        child = first_child_of(work, node)
        while child >= 0:
            value = given.maxima[row_of(work, child) + cell]
            if goes_along(work, child, item):
                below = max(below, value)
            else:
                without = max(without, value)
            child = following_of(work, child)
        most = max(without, np.int32(below + weight_at(work, v, cell)))
        share = np.int32(share + np.int32(most - given.maxima[top + cell]))
    share = warp_sum(share)
    if work.lane == 0 and share != np.int32(0):
        add_to(given.gains, at, share)


@device_function
def wanting_node(work):
    """Return the node with three or more children where v adds most, the first in preorder; -1: none.

    None either if v gains below all of its children, or below fewer than two.
    """
    best_key, best_rank = NOTHING_YET, NO_RANK
    for place in range(work.thread, size_of(work, work.root), work.threads):
        node = node_at(work, place)
        if children_of(work, node) > 2:
            best_key, best_rank = better(
                hope_at(work, control(0), node), control(place), best_key, best_rank
            )  # fmt: skip
    _, rank = best_of_team(work, best_key, best_rank)
    found = control(-1)
    if rank < NO_RANK:
        node = node_at(work, rank)
        marked, child = control(0), first_child_of(work, node)
        while child >= 0:
            marked = marked + control(goes_along(work, child, control(0)))
            child = following_of(work, child)
        if marked > 1 and marked < children_of(work, node):
            found = node
    return found


@device_function
def best_place(
    work,  # IN the tree, gains, luck
    gains,  # IN control: where the sums start
    luck,  # IN control: where the noise starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return (key, rank) of the best leaf, edge, or node all of whose children go along, int64."""
    given, nodes = work.given, work.root + 1
    best_key, best_rank = NOTHING_YET, NO_RANK
    for place in range(work.thread, size_of(work, work.root), work.threads):
        node, at = node_at(work, place), control(place)
        gain = control(read_fresh(given.gains, gains + leaf_start(work) + node))
        key = (gain << SCORE_BITS) + luck_of(work, luck + node, noise)
        best_key, best_rank = better(key, rank_of(work, at, control(0)), best_key, best_rank)
        if children_of(work, node) > 1:
            gain = control(read_fresh(given.gains, gains + all_start(work) + node))
            key = (gain << SCORE_BITS) + luck_of(work, luck + 2 * nodes + node, noise)
            best_key, best_rank = better(key, rank_of(work, at, control(1)), best_key, best_rank)
        if node != work.root:
            gain = control(read_fresh(given.gains, gains + edge_start(work) + node))
            key = (gain << SCORE_BITS) + luck_of(work, luck + nodes + node, noise)
            rank = rank_of(work, start_of(work, parent_of(work, node)), at + 2)
            best_key, best_rank = better(key, rank, best_key, best_rank)
    return best_of_team(work, best_key, best_rank)


@device_function
def rank_of(work, place, which):
    """Return the rank of a place at a node: nodes in preorder, and at each the leaf, all, and the edges."""
    return place * (work.nodes + 2) + which


@device_function
def place_of_rank(work, rank):
    """Return (kind, node) of a place, control."""
    at, which = rank // (work.nodes + 2), rank % (work.nodes + 2)
    kind, node = LEAF, node_at(work, at)
    if which == 1:
        kind = ABOVE_ALL
    if which > 1:
        kind, node = ON_EDGE, node_at(work, which - 2)
    return kind, node


@device_function
def later_place(
    key,  # IN int64: the best key so far
    kind,  # IN control: its kind of place
    node,  # IN control: its node
    gain,  # IN int64: score of the other place
    luck,  # IN int64: its noise
    new_kind,  # IN control: its kind
    new_node,  # IN control: its node
):
    """Return (key, kind, node) of the better one of the best place and another, which comes later."""
    other = (gain << SCORE_BITS) + luck
    if other > key:
        key, kind, node = other, new_kind, new_node
    return key, kind, node
