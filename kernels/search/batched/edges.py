"""Gains of all mutations with a subtree of the cell tree on each edge, and the best edge.

The subtree is taken off. Each warp takes a part of the preorder, after the path from the root to its start.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import WARPS
from syclade.kernels.search.batched.best_places import NO_RANK, NOTHING_YET, best_of_team, better
from syclade.kernels.search.batched.cell_tree import above_of, joint_at, joints_below, place_of, sibling_of
from syclade.kernels.search.batched.team import at_joint, joint_row, luck_of
from syclade.kernels.search.draws import BONUS, SCORE_BITS
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet_warp, read_fresh, warp_sum


@device_function
def path_at(work, step):
    """Return where the steps of the warp's path are (control)."""
    return (work.part * WARPS + work.warp) * work.joints + step


@device_function
def take_path(work, joint):
    """List the nodes above a node, from its parent to the root; return their number; a warp does."""
    length, at = control(0), above_of(work, joint)
    while at >= 0:
        if work.lane == 0:
            work.given.path[path_at(work, length)] = np.int32(at)
        length = length + 1
        at = above_of(work, at)
    meet_warp()
    return length


@device_function
def beside_of(work, joint):
    """Return the row of a node's sibling; for the root, its own (control)."""
    row = joint_row(work, joint)
    if above_of(work, joint) >= 0:
        row = joint_row(work, sibling_of(work, joint))
    return row


@device_function
def walk_path(
    work,  # IN OUT Team
    length,  # IN control: number of nodes
    moving,  # IN int32: the best sum of the moving subtree, at least 0
    gene,  # IN control: the mutation
):
    """Go down the warp's path, of one or more nodes, and store the best sums on it and beside it.

    What four nodes need is loaded at once.
    """
    given = work.given
    on_path, beside = np.int32(LOWEST), moving
    for first in range(0, length, 4):
        last = length - 1
        joint_0 = control(given.path[path_at(work, last - first)])
        joint_1 = control(given.path[path_at(work, last - min(first + 1, last))])
        joint_2 = control(given.path[path_at(work, last - min(first + 2, last))])
        joint_3 = control(given.path[path_at(work, last - min(first + 3, last))])
        sum_0, top_0 = (
            given.sums[joint_row(work, joint_0) + gene],
            given.tops[beside_of(work, joint_0) + gene],
        )
        sum_1, top_1 = (
            given.sums[joint_row(work, joint_1) + gene],
            given.tops[beside_of(work, joint_1) + gene],
        )
        sum_2, top_2 = (
            given.sums[joint_row(work, joint_2) + gene],
            given.tops[beside_of(work, joint_2) + gene],
        )
        sum_3, top_3 = (
            given.sums[joint_row(work, joint_3) + gene],
            given.tops[beside_of(work, joint_3) + gene],
        )
        if first == 0:  # nothing is beside the root, which is all of these if it is the whole path
            top_0 = moving
            if length == 1:
                top_1, top_2, top_3 = moving, moving, moving
        on_path, beside = put_path(work, joint_0, max(on_path, sum_0), max(beside, top_0), gene)
        on_path, beside = put_path(work, joint_1, max(on_path, sum_1), max(beside, top_1), gene)
        on_path, beside = put_path(work, joint_2, max(on_path, sum_2), max(beside, top_2), gene)
        on_path, beside = put_path(work, joint_3, max(on_path, sum_3), max(beside, top_3), gene)


@device_function
def put_path(
    work,  # IN OUT Team
    joint,  # IN control
    on_path,  # IN int32: the best sum on the path
    beside,  # IN int32: the best sum beside the path
    gene,  # IN control: the mutation
):
    """Store the best sums on the path to a node and beside it; return them."""
    at = joint_row(work, joint) + gene
    work.given.on_path[at] = on_path
    work.given.beside[at] = beside
    return on_path, beside


@device_function
def next_joint(
    work,  # IN OUT Team
    place,  # IN control: position
    stop,  # IN control: end of the positions
    free,  # IN control: node above it, which is not in the tree; -1: none
    first_out,  # IN control: first position of the subtree that is off; -1: none
    last_out,  # IN control: end of its positions
):
    """Return (position, node) of the next node that is not taken off, from a position on; -1 at the end."""
    at, joint = place, control(-1)
    if at == first_out:
        at = last_out
    if at < stop:
        joint = joint_at(work, at)
        if joint == free:
            at = at + 1
            if at == first_out:
                at = last_out
            joint = control(-1)
            if at < stop:
                joint = joint_at(work, at)
    return at, joint


@device_function
def load_edge(work, joint, gene):
    """Return (row, parent, its sums on the path and beside, own sum, own best sum, sibling's best sum)."""
    given = work.given
    row = joint_row(work, max(joint, control(0)))
    upper, before, other = control(-1), row, row
    if joint >= 0:
        upper = above_of(work, joint)
        if upper >= 0:
            before, other = joint_row(work, upper), joint_row(work, sibling_of(work, joint))
    return (
        row, upper, given.on_path[before + gene], given.beside[before + gene],
        given.sums[row + gene], given.tops[row + gene], given.tops[other + gene],
    )  # fmt: skip


@device_function
def use_edge(
    work,  # IN OUT Team
    joint,  # IN control; -1: do nothing
    row,  # IN control: where the node's row starts
    upper,  # IN control: the parent; -1: none
    on_path,  # IN int32: the best sum on the path
    beside,  # IN int32: the best sum beside the path
    own,  # IN control: where its number is
    top,  # IN int32: the best sum below
    other,  # IN int32: the sibling's best sum
    moving,  # IN int32: the best sum of the moving subtree, at least 0
    joins,  # IN int32: the moving subtree's sum
    gene,  # IN control: the mutation
    start,  # IN control: where the buffer of sums starts
):
    """Add what a block of mutations gains on an edge; return the best sums on the path and beside it."""
    if joint >= 0:
        if upper < 0:
            on_path, beside = own, moving
        else:
            on_path, beside = max(on_path, own), max(beside, other)
        if work.given.left[at_joint(work, joint)] >= np.int32(0):
            put_path(work, joint, on_path, beside, gene)
        share = warp_sum(max(np.int32(on_path + joins), max(beside, top)))
        if work.lane == 0:
            add_to(work.given.gains, start + joint, share)
    return on_path, beside


@device_function
def parents_of(
    upper,  # IN control: the parent
    joint,  # IN control: a node just computed
    on_path,  # IN int32: the best sum on the path
    beside,  # IN int32: the best sum beside the path
    new_on_path,  # IN int32: that node's best sum on the path
    new_beside,  # IN int32: that node's best sum beside the path
):
    """Return the parent's best sums: those loaded, or those of a node just computed if that is the parent."""
    if upper == joint:
        on_path, beside = new_on_path, new_beside
    return on_path, beside


@device_function
def add_block(
    work,  # IN OUT Team
    x,  # IN control: top of the subtree that moves
    free,  # IN control: node above it, which is not in the tree; -1: none
    first,  # IN control: first position of the part
    stop,  # IN control: its end
    length,  # IN control: nodes on the path to the part
    first_out,  # IN control: first position of the subtree that is off; -1: none
    last_out,  # IN control: end of its positions
    gene,  # IN control: the mutation
    start,  # IN control: where the buffer of sums starts
):
    """Add what a block of mutations gains with x on the edges of a part of the preorder; a warp does."""
    given, moved = work.given, joint_row(work, x) + gene
    joins, moving = given.sums[moved], max(given.tops[moved], np.int32(0))
    if length > 0:
        walk_path(work, length, moving, gene)
    place = first
    while place < stop:
        at_0, joint_0 = next_joint(work, place, stop, free, first_out, last_out)
        at_1, joint_1 = next_joint(work, at_0 + 1, stop, free, first_out, last_out)
        at_2, joint_2 = next_joint(work, at_1 + 1, stop, free, first_out, last_out)
        at_3, joint_3 = next_joint(work, at_2 + 1, stop, free, first_out, last_out)
        row_0, upper_0, on_0, by_0, own_0, top_0, other_0 = load_edge(work, joint_0, gene)
        row_1, upper_1, on_1, by_1, own_1, top_1, other_1 = load_edge(work, joint_1, gene)
        row_2, upper_2, on_2, by_2, own_2, top_2, other_2 = load_edge(work, joint_2, gene)
        row_3, upper_3, on_3, by_3, own_3, top_3, other_3 = load_edge(work, joint_3, gene)
        on_0, by_0 = use_edge(
            work, joint_0, row_0, upper_0, on_0, by_0, own_0, top_0, other_0, moving, joins, gene, start
        )  # fmt: skip
        on_1, by_1 = parents_of(upper_1, joint_0, on_1, by_1, on_0, by_0)
        on_1, by_1 = use_edge(
            work, joint_1, row_1, upper_1, on_1, by_1, own_1, top_1, other_1, moving, joins, gene, start
        )  # fmt: skip
        on_2, by_2 = parents_of(upper_2, joint_0, on_2, by_2, on_0, by_0)
        on_2, by_2 = parents_of(upper_2, joint_1, on_2, by_2, on_1, by_1)
        on_2, by_2 = use_edge(
            work, joint_2, row_2, upper_2, on_2, by_2, own_2, top_2, other_2, moving, joins, gene, start
        )  # fmt: skip
        on_3, by_3 = parents_of(upper_3, joint_0, on_3, by_3, on_0, by_0)
        on_3, by_3 = parents_of(upper_3, joint_1, on_3, by_3, on_1, by_1)
        on_3, by_3 = parents_of(upper_3, joint_2, on_3, by_3, on_2, by_2)
        use_edge(
            work, joint_3, row_3, upper_3, on_3, by_3, own_3, top_3, other_3, moving, joins, gene, start
        )  # fmt: skip
        place = at_3 + 1


@device_function
def add_edges(
    work,  # IN the cell tree, sums, tops; OUT on_path, beside, gains
    x,  # IN control: top of the subtree, which is taken off
    free,  # IN control: the node above it, which is not in the tree, but may be in the order; -1: none
    count,  # IN control: number of nodes in the order
    start,  # IN control: where the buffer of sums starts
):
    """Add what the team's mutations gain with x on each edge."""
    first_out, last_out = control(-1), control(-1)
    if free >= 0:
        first_out = place_of(work, x)
        last_out = first_out + joints_below(work, x)
    each = (count + work.warps - 1) // work.warps
    first, stop = work.warp * each, min((work.warp + 1) * each, count)
    if first > first_out and first < last_out:
        first = last_out
    first, joint = next_joint(work, first, stop, free, first_out, last_out)
    if joint >= 0:
        length = take_path(work, joint)
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            add_block(work, x, free, first, stop, length, first_out, last_out, gene, start)


@device_function
def best_edge(
    work,  # IN joint_order, joint_position, joint_size, gains, luck
    x,  # IN control: top of the subtree
    free,  # IN control: as for `add_edges`
    present,  # IN control: node below the edge where x was; -1: none
    count,  # IN control: number of nodes in the order
    gains,  # IN control: where the sums start
    luck,  # IN control: where the noise starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return the node below the best edge, the first one in preorder (control); the team meets."""
    given = work.given
    first_out, last_out = control(0), control(0)
    if free >= 0:
        first_out = place_of(work, x)
        last_out = first_out + joints_below(work, x)
    best_key, best_rank = NOTHING_YET, NO_RANK
    for place in range(work.thread, count, work.threads):
        joint = joint_at(work, place)
        if joint != free and (place < first_out or place >= last_out):
            key = control(read_fresh(given.gains, gains + joint)) << SCORE_BITS
            key = key + luck_of(work, luck + joint, noise)
            if joint == present:
                key = key + BONUS
            best_key, best_rank = better(key, control(place), best_key, best_rank)
    _, rank = best_of_team(work, best_key, best_rank)
    return joint_at(work, rank)
