"""Regraft move: what all mutations gain with a subtree of the cell tree on all edges is summed at once."""

import numpy as np

from syclade.kernels.search.batched.cell_tree import (
    above_of,
    add_cell_score,
    add_sizes,
    add_up,
    first_gene,
    gene_step,
    join,
    joints_below,
    place_of,
    put_joint,
    replace_child,
    sibling_of,
)
from syclade.kernels.search.batched.conversions import to_cell_tree, to_mutation_tree
from syclade.kernels.search.batched.edges import add_edges, best_edge
from syclade.kernels.search.batched.mutation_tree import load_tree, store_tree
from syclade.kernels.search.batched.rows import score_tree
from syclade.kernels.search.batched.shuffle import shuffle, v_of
from syclade.kernels.search.batched.team import (
    SCORE,
    at_joint,
    clear_scores,
    count_changes,
    draw_luck,
    everyone,
    gains_at,
    joint_row,
    put_number,
    score_at,
)
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import meet, read_fresh


@device_function
def take_off(
    work,  # IN OUT Team
    x,  # IN control: top of the subtree that moves
    free,  # IN control: node above it
    sibling,  # IN control: its sibling
):
    """Take x and the free node above it off the tree; they stay in the order."""
    given, upper = work.given, above_of(work, free)
    meet()
    if work.thread == 0:
        replace_child(work, upper, free, sibling)
        add_sizes(work, upper, -(joints_below(work, x) + 1))
    meet()
    for gene in range(first_gene(work), work.end_gene, gene_step(work)):
        add_up(work, upper, sibling, np.int32(-given.sums[joint_row(work, x) + gene]), gene)
    meet()


@device_function
def reorder(
    work,  # IN OUT joint_position; OUT joint_order
    x,  # IN control: top of the subtree that moves
    free,  # IN control: the node above it
    y,  # IN control: the node below its new edge
    count,  # IN control: number of nodes in the order
    below,  # IN control: nodes of x's subtree
    inside,  # IN control: 1: x and free are in the order; 0: they are new
):
    """Put the free node and x's subtree before y in the preorder; the team meets before and after."""
    given = work.given
    gap, start, goal = count, count, place_of(work, y)
    if inside == 1:
        gap, start = place_of(work, free), place_of(work, x)
    to = goal - control(goal > gap) - below * control(goal >= start)
    meet()
    for joint in range(work.thread, work.joints, work.threads):
        place = place_of(work, joint)
        if place >= 0:
            new = place - control(place > gap) - below * control(place >= start)
            if new >= to:
                new = new + below + 1
            if place >= start and place < start + below:
                new = to + 1 + place - start
            if joint == free:
                new = to
            given.joint_position[at_joint(work, joint)] = np.int32(new)
            given.joint_order[at_joint(work, new)] = np.int32(joint)
    meet()


@device_function
def put_on_edge(
    work,  # IN OUT Team
    x,  # IN control: top of the subtree that moves
    free,  # IN control: node above it, which is not in the tree
    y,  # IN control: node below the edge
    root,  # IN control
):
    """Put x on the edge above y, with a free node above it; return the root (control); the team meets."""
    given, upper = work.given, above_of(work, y)
    meet()
    if work.thread == 0:
        replace_child(work, upper, y, free)
        put_joint(work, free, x, y)
        more = joints_below(work, x) + 1
        given.joint_size[at_joint(work, free)] = np.int32(more + joints_below(work, y))
        add_sizes(work, upper, more)
    meet()
    for gene in range(first_gene(work), work.end_gene, gene_step(work)):
        join(work, free, gene)
        add_up(work, upper, free, given.sums[joint_row(work, x) + gene], gene)
    if y == root:
        root = free
    return root


@device_function
def regraft(
    work,  # IN OUT Team
    x,  # IN control: top of the subtree that moves
    root,  # IN control
    joints,  # IN control: number of nodes
    turn,  # IN control: turn in the sweep
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move x, which is not the root, to its best edge; return the root (control)."""
    free, sibling = above_of(work, x), sibling_of(work, x)
    below = joints_below(work, x)
    take_off(work, x, free, sibling)
    if free == root:
        root = sibling
    add_edges(work, x, free, joints, gains_at(work, 0))
    draw_luck(work, control(0), joints, turn, sweep, noise)
    gains, luck = everyone(work)
    y = best_edge(work, x, free, sibling, joints, gains, luck, noise)
    reorder(work, x, free, y, joints, below, control(1))
    return put_on_edge(work, x, free, y, root)


@device_function
def graft(
    work,  # IN OUT Team
    x,  # IN control: the leaf
    free,  # IN control: node that is not in the tree
    root,  # IN control
    count,  # IN control: number of nodes
):
    """Put a new leaf at its best edge, in a tree of `count` nodes; return the root (control)."""
    add_edges(work, x, control(-1), count, gains_at(work, 0))
    gains, luck = everyone(work)
    y = best_edge(work, x, control(-1), control(-1), count, gains, luck, control(0))
    if work.thread == 0:
        work.given.joint_position[at_joint(work, free)] = np.int32(count)
        work.given.joint_position[at_joint(work, x)] = np.int32(count)
    reorder(work, x, free, y, count, control(1), control(0))
    return put_on_edge(work, x, free, y, root)


@device_function
def sweep_once(
    work,  # IN OUT Team
    root,  # IN control
    joints,  # IN control: number of nodes
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move every node once; return (root, how often the score changed), control."""
    shuffle(work, joints, sweep)
    clear_scores(work, joints + 1)
    add_cell_score(work, root, joints)
    for turn in range(joints):
        x = v_of(work, turn)
        if x != root:
            root = regraft(work, x, root, joints, control(turn), sweep, noise)
        meet()
        add_cell_score(work, root, control(turn))
    everyone(work)
    if work.thread == 0:
        put_number(work, SCORE, control(read_fresh(work.given.turn_scores, score_at(work, joints))))
    meet()
    changed, _ = count_changes(work, joints)
    return root, changed


@device_function
def finish(work, joints):
    """Convert to the mutation tree, and keep it; return its score (int64)."""
    to_mutation_tree(work, joints)
    score = score_tree(work)
    store_tree(work)
    return score


@device_function
def sweeps(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Convert to the cell tree, move every node once per sweep, and convert back.

    Returns (score, next sweep), int64.
    """
    load_tree(work)
    score_tree(work)
    root, joints = to_cell_tree(work, sweep)
    for _ in range(repeats):
        root, changed = sweep_once(work, root, joints, sweep, noise)
        sweep = sweep + 1
        if changed == 0:
            break
    return finish(work, joints), sweep


@device_function
def by_columns(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Insert the columns into a cell tree, those with most mutations first; return (score, next sweep)."""
    given = work.given
    load_tree(work)
    for joint in range(work.thread, work.joints, work.threads):
        given.left[at_joint(work, joint)] = np.int32(-1)
        given.right[at_joint(work, joint)] = np.int32(-1)
        given.above[at_joint(work, joint)] = np.int32(-1)
        given.joint_size[at_joint(work, joint)] = np.int32(1)
        given.joint_position[at_joint(work, joint)] = np.int32(-1)
    for column in range(work.warp, work.columns, work.warps):
        row = joint_row(work, column)
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            weight = given.columns[column * work.genes + gene]
            given.sums[row + gene] = weight
            given.tops[row + gene] = weight
    meet()
    root, count = control(given.fullest[0]), control(1)
    if work.thread == 0:
        given.joint_position[at_joint(work, root)] = np.int32(0)
        given.joint_order[at_joint(work, 0)] = np.int32(root)
    meet()
    for turn in range(1, work.columns):
        root = graft(work, control(given.fullest[turn]), work.columns + turn - 1, root, count)
        count = count + 2
        meet()
    return finish(work, count), sweep + 1


REGRAFT = Stage(3, sweeps)

BY_COLUMNS = Stage(6, by_columns)
