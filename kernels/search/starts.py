"""Starts: make a tree from nothing; one mutation or one column after another goes to its best place."""

from typing import Any

import numpy as np

from syclade.kernels.search.cell_tree import joint_row, make_cell_tree, put_leaf, put_root
from syclade.kernels.search.conversions import make_to_mutation_tree
from syclade.kernels.search.draws import make_draws
from syclade.kernels.search.exact_move import make_exact_move
from syclade.kernels.search.mutation_tree import keep_best, make_mutation_tree, put_parent
from syclade.kernels.search.regraft_move import make_regraft_move
from syclade.kernels.search.rows import make_rows
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import device_function

_ZERO = np.int64(0)
_ONE = np.int64(1)


def _make_by_mutations(lanes: int) -> Any:
    tree = make_mutation_tree(lanes)
    _shuffle, draw_luck = make_draws(lanes)
    prepare, move = make_exact_move(lanes, tree, draw_luck)
    rebuild = tree.rebuild

    @device_function
    def by_mutations(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        sweep,  # IN int64: number of the sweep
        repeats,  # IN int64: not used
        noise,  # IN int64: not used
    ):
        """Insert the mutations, those seen in most cells first.

        Returns (score, next sweep), int64.
        """
        for node in range(here.root):
            put_parent(given, here, np.int64(node), np.int64(node))
        score = rebuild(given, here)
        attached = prepare(given, here)
        for turn in range(here.mutations):
            v = np.int64(given.falling[np.uint64(turn)])
            score, attached = move(given, here, attached, v, np.int64(turn), sweep, score, _ZERO)
        keep_best(given, here, score)
        return score, sweep + _ONE

    return by_mutations


def _make_by_columns(lanes: int) -> Any:
    tree, cells = make_mutation_tree(lanes), make_cell_tree(lanes)
    _shuffle, draw_luck = make_draws(lanes)
    _regraft, graft = make_regraft_move(lanes, cells, draw_luck)
    to_mutation_tree, copy, rebuild = make_to_mutation_tree(lanes), make_rows(lanes).copy, tree.rebuild

    @device_function
    def by_columns(
        given,  # IN OUT record of arguments.py
        here,  # IN Here
        sweep,  # IN int64: number of the sweep
        repeats,  # IN int64: not used
        noise,  # IN int64: not used
    ):
        """Insert the columns into a cell tree, those with most mutations first.

        Returns (score, next sweep), int64.
        """
        rounds, lane = here.gene_rounds, here.lane
        for column in range(here.columns):
            own = joint_row(here, np.int64(column))
            source = np.uint64(np.int64(column) * here.genes)
            put_leaf(given, here, np.int64(column))
            copy(rounds, lane, given.sums, own, given.columns, source)
            copy(rounds, lane, given.tops, own, given.columns, source)
        root = np.int64(given.fullest[np.uint64(0)])
        put_root(given, here, root)
        for turn in range(_ONE, here.columns):
            x = np.int64(given.fullest[np.uint64(turn)])
            root = graft(given, here, x, here.columns + np.int64(turn) - _ONE, root)
        to_mutation_tree(given, here, root)
        score = rebuild(given, here)
        keep_best(given, here, score)
        return score, sweep + _ONE

    return by_columns


BY_MUTATIONS = Stage(5, _make_by_mutations)

BY_COLUMNS = Stage(6, _make_by_columns)
