"""Regraft move: a subtree of the cell tree goes to the edge that is best for it; O(mutations) per edge.

It is taken off, and all edges are visited from the root downwards, with two rows per depth: the best sum on
the path from the root, which the subtree's cells would join, and the best sum beside the path, which stays.
"""

import numpy as np

from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.cell_tree import (
    above_of,
    cell_tree_score,
    join,
    joint_row,
    left_of,
    put_joint,
    replace_child,
    right_of,
    sibling_of,
    take_off_up,
)
from syclade.kernels.search.control import once_if
from syclade.kernels.search.conversions import to_cell_tree, to_mutation_tree
from syclade.kernels.search.draws import BONUS, draw_luck, luck_of, shuffle, taking_turn
from syclade.kernels.search.mutation_tree import keep_best, rebuild
from syclade.kernels.search.rows import copy
from syclade.kernels.search.slot import lane_at, spare_gene_row
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import control, device_function, equal, lane_sum, maximum

_ZERO = control(0)
_ONE = control(1)
_NOBODY = control(-1)


@device_function
def take_reference(
    slot,  # IN sums, tops; OUT gene_rows
    x,  # IN control: top of the subtree
    root,  # IN control
    own,  # IN address: where the spare row of x's sums starts
    reference,  # IN address: where the spare row of reference scores starts
):
    """Write two spare rows: x's sums, and the present score of each mutation."""
    given = slot.given
    copy(slot, slot.gene_rounds, given.gene_rows, own, given.sums, joint_row(slot, x))
    row = joint_row(slot, root)
    for part in range(slot.gene_rounds):
        gene = lane_at(slot, part)
        given.gene_rows[reference + gene] = maximum(given.tops[row + gene], np.int32(0))


@device_function
def gain_at_root(
    slot,  # IN sums, tops, gene_rows; OUT path_sums, path_tops
    x,  # IN control: top of the subtree
    root,  # IN control
    own,  # IN address: where the spare row of x's sums starts
    reference,  # IN address: where the spare row of reference scores starts
):
    """Return the gain with x beside the whole tree (int64); write the rows of depth 0."""
    given = slot.given
    row, moving, first = joint_row(slot, root), joint_row(slot, x), joint_row(slot, _ZERO)
    share = np.int32(0)
    for part in range(slot.gene_rounds):
        gene = lane_at(slot, part)
        on_path = given.sums[row + gene]
        beside = maximum(given.tops[moving + gene], np.int32(0))
        given.path_sums[first + gene] = on_path
        given.path_tops[first + gene] = beside
        joined = np.int32(on_path + given.gene_rows[own + gene])
        most = maximum(joined, maximum(beside, given.tops[row + gene]))
        share = np.int32(share + np.int32(most - given.gene_rows[reference + gene]))
    return lane_sum(np.int64(share))


@device_function
def gain_at(
    slot,  # IN the cell tree, sums, tops, gene_rows; IN OUT path_sums, path_tops
    y,  # IN control: node below the edge
    depth,  # IN control: y's depth
    own,  # IN address: where the spare row of x's sums starts
    reference,  # IN address: where the spare row of reference scores starts
):
    """Return the gain with x on the edge above y (int64); write the rows of y's depth."""
    given = slot.given
    row, beside_row = joint_row(slot, y), joint_row(slot, sibling_of(slot, y))
    here_row, upper = joint_row(slot, depth), joint_row(slot, depth - _ONE)
    share = np.int32(0)
    for part in range(slot.gene_rounds):
        gene = lane_at(slot, part)
        on_path = maximum(given.path_sums[upper + gene], given.sums[row + gene])
        beside = maximum(given.path_tops[upper + gene], given.tops[beside_row + gene])
        given.path_sums[here_row + gene] = on_path
        given.path_tops[here_row + gene] = beside
        joined = np.int32(on_path + given.gene_rows[own + gene])
        most = maximum(joined, maximum(beside, given.tops[row + gene]))
        share = np.int32(share + np.int32(most - given.gene_rows[reference + gene]))
    return lane_sum(np.int64(share))


@device_function
def best_edge(
    slot,  # IN the cell tree, sums, tops, gene_rows, luck; OUT path_sums, path_tops
    x,  # IN control: top of the subtree
    root,  # IN control
    present,  # IN control: node below the edge where x was; -1: none
    luck,  # IN address: where the noise of the places starts
    noise,  # IN int64: factor of the noise; 0: no noise
    own,  # IN address: where the spare row of x's sums starts
    reference,  # IN address: where the spare row of reference scores starts
):
    """Return the best edge for x, by the node below it (Best)."""
    at_root = gain_at_root(slot, x, root, own, reference)
    extra = _ZERO
    if present == root:
        extra = BONUS
    best = offered(no_place(), at_root, luck_of(slot, luck, root, noise) + extra, root, _ZERO)
    y, depth = left_of(slot, root), _ONE
    while y >= _ZERO:
        extra = _ZERO
        if y == present:
            extra = BONUS
        gained = gain_at(slot, y, depth, own, reference)
        best = offered(best, gained, luck_of(slot, luck, y, noise) + extra, y, _ZERO)
        below = left_of(slot, y)
        if below >= _ZERO:
            y, depth = below, depth + _ONE
        else:
            # Go to the right sibling, or to that of the nearest node above that has one.
            going = _ONE
            while going != _ZERO:
                upper = above_of(slot, y)
                if right_of(slot, upper) != y:
                    y, going = right_of(slot, upper), _ZERO
                else:
                    y, depth = upper, depth - _ONE
                    if y == root:
                        y, going = _NOBODY, _ZERO
    return best


@device_function
def put_on_edge(
    slot,  # IN gene_rows; IN OUT the cell tree, sums, tops
    x,  # IN control: top of the subtree
    free,  # IN control: node that is not in the tree
    y,  # IN control: node below the edge
    root,  # IN control
    own,  # IN address: where the spare row of x's sums starts
):
    """Put x on the edge above y, with a free node above it; return the root (int64)."""
    upper = above_of(slot, y)
    replace_child(slot, upper, y, free)
    put_joint(slot, free, x, y)
    join(slot, free)
    take_off_up(slot, upper, np.int32(1), own)
    if y == root:
        root = free
    return root


@device_function
def regraft(
    slot,  # IN luck; IN OUT the cell tree, sums, tops; OUT path_sums, path_tops, gene_rows
    x,  # IN control: top of the subtree
    root,  # IN control
    luck,  # IN address: where the noise of the places starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move x to its best edge; return the root (int64)."""
    own = spare_gene_row(slot, _ZERO)
    reference = spare_gene_row(slot, _ONE)
    for _ in range(once_if(~equal(x, root))):
        free, sibling = above_of(slot, x), sibling_of(slot, x)
        take_reference(slot, x, root, own, reference)
        upper = above_of(slot, free)
        replace_child(slot, upper, free, sibling)
        if free == root:
            root = sibling
        take_off_up(slot, upper, np.int32(-1), own)
        best = best_edge(slot, x, root, sibling, luck, noise, own, reference)
        root = put_on_edge(slot, x, free, best.node, root, own)
    return root


@device_function
def graft(
    slot,  # IN OUT the cell tree, sums, tops; OUT path_sums, path_tops, gene_rows
    x,  # IN control: the leaf
    free,  # IN control: node that is not in the tree
    root,  # IN control
):
    """Put a new leaf at its best edge; return the root (int64)."""
    own = spare_gene_row(slot, _ZERO)
    reference = spare_gene_row(slot, _ONE)
    take_reference(slot, x, root, own, reference)
    best = best_edge(slot, x, root, _NOBODY, slot.luck, _ZERO, own, reference)
    return put_on_edge(slot, x, free, best.node, root, own)


@device_function
def sweep_once(
    slot,  # IN OUT record of arguments.py
    root,  # IN control
    leaves,  # IN control: number of leaves
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move every node once; return (root, how often the score changed), control."""
    joints = leaves + leaves - _ONE
    shuffle(slot, joints, sweep)
    changed = _ZERO
    score = cell_tree_score(slot, root)
    for turn in range(joints):
        x = taking_turn(slot, turn)
        luck = draw_luck(slot, joints, control(turn), sweep, noise)
        root = regraft(slot, x, root, luck, noise)
        now = cell_tree_score(slot, root)
        changed = changed + control(now != score)
        score = now
    return root, changed


@device_function
def sweeps(
    slot,  # IN OUT record of arguments.py
    sweep,  # IN int64: number of the first sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Convert to the cell tree, move every node once per sweep, and convert back.

    Returns (score, next sweep), int64.
    """
    keep_best(slot, rebuild(slot))
    root, leaves = to_cell_tree(slot, sweep)
    for _ in range(repeats):
        root, changed = sweep_once(slot, root, leaves, sweep, noise)
        sweep = sweep + _ONE
        if changed == _ZERO:
            break
    to_mutation_tree(slot, root)
    score = rebuild(slot)
    keep_best(slot, score)
    return score, sweep


REGRAFT = Stage(3, sweeps)
