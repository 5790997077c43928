"""Regraft move: a subtree of the cell tree goes to the edge that is best for it; O(mutations) per edge.

It is taken off, and all edges are visited from the root downwards, with two rows per depth: the best sum on
the path from the root, which the subtree's cells would join, and the best sum beside the path, which stays.
"""

from typing import Any

import numpy as np

from syclade.kernels.search.attachment import make_attach
from syclade.kernels.search.best_places import no_place, offered
from syclade.kernels.search.cell_tree import (
    CellTree,
    above_of,
    joint_row,
    left_of,
    make_cell_tree,
    put_joint,
    replace_child,
    right_of,
    sibling_of,
)
from syclade.kernels.search.control import once_if
from syclade.kernels.search.conversions import make_to_cell_tree, make_to_mutation_tree
from syclade.kernels.search.draws import BONUS, luck_of, make_draws
from syclade.kernels.search.mutation_tree import keep_best, make_mutation_tree
from syclade.kernels.search.rows import make_rows
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import device_function, equal, lane_sum, maximum

_ZERO = np.int64(0)
_ONE = np.int64(1)
_NOBODY = np.int64(-1)


def make_regraft_move(lanes: int, tree: CellTree, draw_luck: Any) -> tuple[Any, Any]:
    """Return the device functions (regraft, graft): (given, here, x, ..., root, ...) -> root.

    `graft` puts a leaf that is not in the tree yet at its best place, with a free node above it.
    """
    copy = make_rows(lanes).copy
    join, take_off_up = tree.join, tree.take_off_up
    step = np.uint64(lanes)

    @device_function
    def take_reference(
        given,  # IN sums, tops; OUT gene_rows
        here,  # IN Here
        x,  # IN int64: top of the subtree
        root,  # IN int64
        own,  # IN uint64: where the spare row of x's sums starts
        reference,  # IN uint64: where the spare row of reference scores starts
    ):
        """Write two spare rows: x's sums, and the present score of each mutation."""
        copy(here.gene_rounds, here.lane, given.gene_rows, own, given.sums, joint_row(here, x))
        row = joint_row(here, root)
        for part in range(here.gene_rounds):
            gene = np.uint64(part) * step + here.lane
            given.gene_rows[reference + gene] = maximum(given.tops[row + gene], np.int32(0))

    @device_function
    def gain_at_root(
        given,  # IN sums, tops, gene_rows; OUT path_sums, path_tops
        here,  # IN Here
        x,  # IN int64: top of the subtree
        root,  # IN int64
        own,  # IN uint64: where the spare row of x's sums starts
        reference,  # IN uint64: where the spare row of reference scores starts
    ):
        """Return the gain with x beside the whole tree (int64); write the rows of depth 0."""
        row, moving, first = joint_row(here, root), joint_row(here, x), joint_row(here, _ZERO)
        share = np.int32(0)
        for part in range(here.gene_rounds):
            gene = np.uint64(part) * step + here.lane
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
        given,  # IN the cell tree, sums, tops, gene_rows; IN OUT path_sums, path_tops
        here,  # IN Here
        y,  # IN int64: node below the edge
        depth,  # IN int64: y's depth
        own,  # IN uint64: where the spare row of x's sums starts
        reference,  # IN uint64: where the spare row of reference scores starts
    ):
        """Return the gain with x on the edge above y (int64); write the rows of y's depth."""
        row, beside_row = joint_row(here, y), joint_row(here, sibling_of(given, here, y))
        here_row, upper = joint_row(here, depth), joint_row(here, depth - _ONE)
        share = np.int32(0)
        for part in range(here.gene_rounds):
            gene = np.uint64(part) * step + here.lane
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
        given,  # IN the cell tree, sums, tops, gene_rows, luck; OUT path_sums, path_tops
        here,  # IN Here
        x,  # IN int64: top of the subtree
        root,  # IN int64
        present,  # IN int64: node below the edge where x was; -1: none
        luck,  # IN uint64: where the noise of the places starts
        noise,  # IN int64: factor of the noise; 0: no noise
        own,  # IN uint64: where the spare row of x's sums starts
        reference,  # IN uint64: where the spare row of reference scores starts
    ):
        """Return the best edge for x, by the node below it (Best)."""
        at_root = gain_at_root(given, here, x, root, own, reference)
        extra = _ZERO
        if present == root:
            extra = BONUS
        best = offered(no_place(), at_root, luck_of(given, luck, root, noise) + extra, root, _ZERO)
        y, depth = left_of(given, here, root), _ONE
        while y >= _ZERO:
            extra = _ZERO
            if y == present:
                extra = BONUS
            gained = gain_at(given, here, y, depth, own, reference)
            best = offered(best, gained, luck_of(given, luck, y, noise) + extra, y, _ZERO)
            below = left_of(given, here, y)
            if below >= _ZERO:
                y, depth = below, depth + _ONE
            else:
                # Go to the right sibling, or to that of the nearest node above that has one.
                going = _ONE
                while going != _ZERO:
                    upper = above_of(given, here, y)
                    if right_of(given, here, upper) != y:
                        y, going = right_of(given, here, upper), _ZERO
                    else:
                        y, depth = upper, depth - _ONE
                        if y == root:
                            y, going = _NOBODY, _ZERO
        return best

    @device_function
    def put_on_edge(
        given,  # IN gene_rows; IN OUT the cell tree, sums, tops
        here,  # IN Here
        x,  # IN int64: top of the subtree
        free,  # IN int64: node that is not in the tree
        y,  # IN int64: node below the edge
        root,  # IN int64
        own,  # IN uint64: where the spare row of x's sums starts
    ):
        """Put x on the edge above y, with a free node above it; return the root (int64)."""
        upper = above_of(given, here, y)
        replace_child(given, here, upper, y, free)
        put_joint(given, here, free, x, y)
        join(given, here, free)
        take_off_up(given, here, upper, np.int32(1), own)
        if y == root:
            root = free
        return root

    @device_function
    def regraft(
        given,  # IN luck; IN OUT the cell tree, sums, tops; OUT path_sums, path_tops, gene_rows
        here,  # IN Here
        x,  # IN int64: top of the subtree
        root,  # IN int64
        luck,  # IN uint64: where the noise of the places starts
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Move x to its best edge; return the root (int64)."""
        own = here.spare_genes
        reference = own + np.uint64(here.genes)
        for _ in range(once_if(~equal(x, root))):
            free, sibling = above_of(given, here, x), sibling_of(given, here, x)
            take_reference(given, here, x, root, own, reference)
            upper = above_of(given, here, free)
            replace_child(given, here, upper, free, sibling)
            if free == root:
                root = sibling
            take_off_up(given, here, upper, np.int32(-1), own)
            best = best_edge(given, here, x, root, sibling, luck, noise, own, reference)
            root = put_on_edge(given, here, x, free, best.node, root, own)
        return root

    @device_function
    def graft(
        given,  # IN OUT the cell tree, sums, tops; OUT path_sums, path_tops, gene_rows
        here,  # IN Here
        x,  # IN int64: the leaf
        free,  # IN int64: node that is not in the tree
        root,  # IN int64
    ):
        """Put a new leaf at its best edge; return the root (int64)."""
        own = here.spare_genes
        reference = own + np.uint64(here.genes)
        take_reference(given, here, x, root, own, reference)
        best = best_edge(given, here, x, root, _NOBODY, here.luck, _ZERO, own, reference)
        return put_on_edge(given, here, x, free, best.node, root, own)

    return regraft, graft


def _make_sweeps(lanes: int) -> Any:
    shuffle, draw_luck = make_draws(lanes)
    mutations, cells = make_mutation_tree(lanes), make_cell_tree(lanes)
    regraft, _graft = make_regraft_move(lanes, cells, draw_luck)
    to_cell_tree, score_of = make_to_cell_tree(lanes, cells, make_attach(lanes)), cells.score
    to_mutation_tree, rebuild = make_to_mutation_tree(lanes), mutations.rebuild

    @device_function
    def sweep_once(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        root,  # IN int64
        leaves,  # IN int64: number of leaves
        sweep,  # IN int64: number of the sweep
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        joints = leaves + leaves - _ONE
        shuffle(given, here, joints, sweep)
        changed = _ZERO
        score = score_of(given, here, root)
        for turn in range(joints):
            x = np.int64(given.turn[here.turn + np.uint64(turn)])
            luck = draw_luck(given, here, joints, np.int64(turn), sweep, noise)
            root = regraft(given, here, x, root, luck, noise)
            now = score_of(given, here, root)
            changed = changed + np.int64(now != score)
            score = now
        return root, changed

    @device_function
    def sweeps(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        sweep,  # IN int64: number of the first sweep
        repeats,  # IN int64: most sweeps
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Convert to the cell tree, move every node once per sweep, and convert back.

        Returns (score, next sweep), int64.
        """
        keep_best(given, here, rebuild(given, here))
        root, leaves = to_cell_tree(given, here, sweep)
        for _ in range(repeats):
            root, changed = sweep_once(given, here, root, leaves, sweep, noise)
            sweep = sweep + _ONE
            if changed == _ZERO:
                break
        to_mutation_tree(given, here, root)
        score = rebuild(given, here)
        keep_best(given, here, score)
        return score, sweep

    return sweeps


REGRAFT = Stage(3, _make_sweeps)
