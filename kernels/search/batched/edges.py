"""What all mutations gain with a subtree of the cell tree on each edge, and the best edge.

The subtree is taken off. Each warp takes a part of the preorder, after the path from the root to its start.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import WARPS
from syclade.kernels.search.batched.best_places import NO_RANK, NOTHING_YET, best_of_team, better
from syclade.kernels.search.batched.cell_tree import above_of, joint_at, joints_below, place_of, sibling_of
from syclade.kernels.search.batched.team import joint_row, luck_of
from syclade.kernels.search.draws import BONUS, SCORE_BITS
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet_warp, read_fresh, warp_sum


@device_function
def path_at(work, step):
    """Return where the steps of the warp's path are (control)."""
    return (work.part * WARPS + work.warp) * work.joints + step


@device_function
def take_path(work, joint):
    """List the nodes above a node, from its parent to the root; return their number (control); a warp does."""
    length, at = control(0), above_of(work, joint)
    while at >= 0:
        if work.lane == 0:
            work.given.path[path_at(work, length)] = np.int32(at)
        length = length + 1
        at = above_of(work, at)
    meet_warp()
    return length


@device_function
def put_path(work, joint, x):
    """Compute the best sums on the path to a node and beside it, from those of its parent; a warp does."""
    given, upper = work.given, above_of(work, joint)
    row, moving = joint_row(work, joint), joint_row(work, x)
    if upper < 0:
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            given.on_path[row + gene] = given.sums[row + gene]
            given.beside[row + gene] = max(given.tops[moving + gene], np.int32(0))
    else:
        before, other = joint_row(work, upper), joint_row(work, sibling_of(work, joint))
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            given.on_path[row + gene] = max(given.on_path[before + gene], given.sums[row + gene])
            given.beside[row + gene] = max(given.beside[before + gene], given.tops[other + gene])


@device_function
def add_edge(work, joint, x, start):
    """Add what the team's mutations gain with x on the edge above a node, whose path is known; a warp does."""
    given, share = work.given, np.int32(0)
    row, moving = joint_row(work, joint), joint_row(work, x)
    for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
        joined = np.int32(given.on_path[row + gene] + given.sums[moving + gene])
        most = max(joined, max(given.beside[row + gene], given.tops[row + gene]))
        share = np.int32(share + most)
    share = warp_sum(share)
    if work.lane == 0 and share != np.int32(0):
        add_to(given.gains, start + joint, share)


@device_function
def add_edges(
    work,  # IN the cell tree, sums, tops; OUT on_path, beside, gains
    x,  # IN control: top of the subtree, which is taken off
    free,  # IN control: the node above it, which is not in the tree, but may be in the order; -1: none
    count,  # IN control: number of nodes in the order
    start,  # IN control: where the buffer of sums starts
):
    """Add what the team's mutations gain with x on each edge."""
    first_out, last_out = control(0), control(0)
    if free >= 0:
        first_out = place_of(work, x)
        last_out = first_out + joints_below(work, x)
    each = (count + work.warps - 1) // work.warps
    fresh = True
    for place in range(work.warp * each, min((work.warp + 1) * each, count)):
        joint = joint_at(work, place)
        if joint != free and (place < first_out or place >= last_out):
            if fresh:
                length = take_path(work, joint)
                for done in range(length):
                    above = control(work.given.path[path_at(work, length - 1 - done)])
                    put_path(work, above, x)
                fresh = False
            put_path(work, joint, x)
            add_edge(work, joint, x, start)


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
