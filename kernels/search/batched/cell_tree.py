"""A team's copy of the cell tree, and sums of its mutations' weights on edges; see `search/cell_tree.py`."""

import numpy as np

from syclade.kernels.search.batched.team import at_joint, joint_row, score_at
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet, warp_sum


@device_function
def left_of(work, joint):
    """Return the left child (control); -1 for a leaf."""
    return control(work.given.left[at_joint(work, joint)])


@device_function
def right_of(work, joint):
    """Return the right child (control); -1 for a leaf."""
    return control(work.given.right[at_joint(work, joint)])


@device_function
def above_of(work, joint):
    """Return the parent (control); -1 for the root."""
    return control(work.given.above[at_joint(work, joint)])


@device_function
def sibling_of(work, joint):
    """Return the sibling (control)."""
    upper = above_of(work, joint)
    sibling = left_of(work, upper)
    if sibling == joint:
        sibling = right_of(work, upper)
    return sibling


@device_function
def joint_at(work, place):
    """Return the node at a position of the preorder (control)."""
    return control(work.given.joint_order[at_joint(work, place)])


@device_function
def place_of(work, joint):
    """Return the position of a node (control)."""
    return control(work.given.joint_position[at_joint(work, joint)])


@device_function
def joints_below(work, joint):
    """Return the number of nodes of a node's subtree (control)."""
    return control(work.given.joint_size[at_joint(work, joint)])


@device_function
def put_joint(
    work,  # IN OUT Team
    joint,  # IN control
    left,  # IN control: one child
    right,  # IN control: the other child
):
    """Make two nodes the children of a third; one thread does."""
    given = work.given
    given.left[at_joint(work, joint)] = np.int32(left)
    given.right[at_joint(work, joint)] = np.int32(right)
    given.above[at_joint(work, left)] = np.int32(joint)
    given.above[at_joint(work, right)] = np.int32(joint)


@device_function
def replace_child(
    work,  # IN OUT Team
    upper,  # IN control: the parent; -1: `new` becomes the root
    old,  # IN control: the old child
    new,  # IN control: the new child
):
    """Put `new` in the place of `old` below `upper`; if `upper` is -1, `new` becomes the root; one thread."""
    given = work.given
    given.above[at_joint(work, new)] = np.int32(upper)
    if upper >= 0:
        if left_of(work, upper) == old:
            given.left[at_joint(work, upper)] = np.int32(new)
        else:
            given.right[at_joint(work, upper)] = np.int32(new)


@device_function
def add_sizes(work, joint, more):
    """Add to the sizes of a node, or none if it is -1, and of those above it; one thread does."""
    at = joint
    while at >= 0:
        work.given.joint_size[at_joint(work, at)] = np.int32(joints_below(work, at) + more)
        at = above_of(work, at)


@device_function
def first_gene(work):
    """Return the thread's first mutation of the first block of its warp (control)."""
    return work.first_gene + work.warp * work.lanes + work.lane


@device_function
def gene_step(work):
    """Return how far the next block of the warp is (control)."""
    return work.warps * work.lanes


@device_function
def join(work, joint, gene):
    """Compute a node's sum and best sum from its children's, of one mutation."""
    given, own = work.given, joint_row(work, joint) + gene
    left, right = joint_row(work, left_of(work, joint)) + gene, joint_row(work, right_of(work, joint)) + gene
    both = np.int32(given.sums[left] + given.sums[right])
    given.sums[own] = both
    given.tops[own] = max(both, max(given.tops[left], given.tops[right]))


@device_function
def step_up(work, at, below):
    """Return (whether there is a node, its row, the row of its child beside `below`, the node above).

    Without a node, the rows are those of `below`.
    """
    own, other, above = joint_row(work, below), joint_row(work, below), control(-1)
    if at >= 0:
        beside = left_of(work, at)
        if beside == below:
            beside = right_of(work, at)
        own, other, above = joint_row(work, at), joint_row(work, beside), above_of(work, at)
    return at >= 0, own, other, above


@device_function
def put_up(
    work,  # IN OUT Team
    there,  # IN bool: whether there is a node
    own,  # IN control: where its number is
    value,  # IN int32: its sum
    beside,  # IN int32: the best sum beside the path
    top,  # IN int32: the best sum below
):
    """Store a node's sum and best sum; return the best sum (int32). Without a node, return the one below."""
    if there:
        top = max(value, max(beside, top))
        work.given.sums[own] = value
        work.given.tops[own] = top
    return top


@device_function
def add_up(
    work,  # IN OUT Team
    node,  # IN control; -1: do nothing
    below,  # IN control: its child on the path
    more,  # IN int32: what is added
    gene,  # IN control: the mutation
):
    """Add a number to the sums of a node and of those above it, and renew the best sums.

    `below` is the node's child on the path, whose best sum is known. What four levels need is loaded at once.
    """
    given, at, under = work.given, node, below
    top = np.int32(0)
    if at >= 0:
        top = given.tops[joint_row(work, below) + gene]
    while at >= 0:
        there_0, own_0, other_0, next_0 = step_up(work, at, under)
        there_1, own_1, other_1, next_1 = step_up(work, next_0, at)
        under_2 = at
        if there_1:
            under_2 = next_0
        there_2, own_2, other_2, next_2 = step_up(work, next_1, under_2)
        under_3 = under_2
        if there_2:
            under_3 = next_1
        there_3, own_3, other_3, next_3 = step_up(work, next_2, under_3)
        value_0, beside_0 = given.sums[own_0 + gene], given.tops[other_0 + gene]
        value_1, beside_1 = given.sums[own_1 + gene], given.tops[other_1 + gene]
        value_2, beside_2 = given.sums[own_2 + gene], given.tops[other_2 + gene]
        value_3, beside_3 = given.sums[own_3 + gene], given.tops[other_3 + gene]
        top = put_up(work, there_0, own_0 + gene, np.int32(value_0 + more), beside_0, top)
        top = put_up(work, there_1, own_1 + gene, np.int32(value_1 + more), beside_1, top)
        top = put_up(work, there_2, own_2 + gene, np.int32(value_2 + more), beside_2, top)
        top = put_up(work, there_3, own_3 + gene, np.int32(value_3 + more), beside_3, top)
        under = next_2
        at = control(-1)
        if there_3:
            at = next_3


@device_function
def number_joints(work, joints):
    """Compute sizes, positions and order from children and parents; the team meets before and after."""
    given = work.given
    for joint in range(work.thread, joints, work.threads):
        given.joint_size[at_joint(work, joint)] = np.int32(0)
    meet()
    for joint in range(work.thread, joints, work.threads):
        at = control(joint)
        while at >= 0:
            add_to(given.joint_size, at_joint(work, at), np.int32(1))
            at = above_of(work, at)
    meet()
    for joint in range(work.thread, joints, work.threads):
        at, place = control(joint), control(0)
        upper = above_of(work, at)
        while upper >= 0:
            place = place + 1
            left = left_of(work, upper)
            if left != at:
                place = place + joints_below(work, left)
            at = upper
            upper = above_of(work, at)
        given.joint_position[at_joint(work, joint)] = np.int32(place)
        given.joint_order[at_joint(work, place)] = np.int32(joint)
    meet()


@device_function
def add_cell_score(work, root, turn):
    """Add the team's part of the score after a turn: each mutation on its best edge, or on none."""
    given, top, share = work.given, joint_row(work, root), np.int32(0)
    for gene in range(work.first_gene + work.thread, work.end_gene, work.threads):
        share = np.int32(share + max(given.tops[top + gene], np.int32(0)))
    share = warp_sum(share)
    if work.lane == 0 and share != np.int32(0):
        add_to(given.turn_scores, score_at(work, turn), share)
