"""Starts: make a tree from nothing; one mutation or one column after another goes to its best place."""

from syclade.kernels.search.cell_tree import column_row, joint_row, put_leaf, put_root
from syclade.kernels.search.conversions import to_mutation_tree
from syclade.kernels.search.exact_move import exact_move, prepare
from syclade.kernels.search.mutation_tree import keep_best, put_parent, rebuild
from syclade.kernels.search.regraft_move import graft
from syclade.kernels.search.rows import copy
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def by_mutations(
    slot,  # IN OUT record of arguments.py
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: not used
    noise,  # IN int64: not used
):
    """Insert the mutations, those seen in most cells first.

    Returns (score, next sweep), int64.
    """
    for node in range(slot.root):
        put_parent(slot, control(node), control(node))
    score = rebuild(slot)
    attached = prepare(slot)
    for turn in range(slot.mutations):
        v = control(slot.given.falling[address(turn)])
        score, attached = exact_move(slot, attached, v, control(turn), sweep, score, _ZERO)
    keep_best(slot, score)
    return score, sweep + _ONE


@device_function
def by_columns(
    slot,  # IN OUT record of arguments.py
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: not used
    noise,  # IN int64: not used
):
    """Insert the columns into a cell tree, those with most mutations first.

    Returns (score, next sweep), int64.
    """
    given = slot.given
    rounds = slot.gene_rounds
    for column in range(slot.columns):
        own = joint_row(slot, control(column))
        source = column_row(slot, column)
        put_leaf(slot, control(column))
        copy(slot, rounds, given.sums, own, given.columns, source)
        copy(slot, rounds, given.tops, own, given.columns, source)
    root = control(given.fullest[address(0)])
    put_root(slot, root)
    for turn in range(_ONE, slot.columns):
        x = control(given.fullest[address(turn)])
        root = graft(slot, x, slot.columns + control(turn) - _ONE, root)
    to_mutation_tree(slot, root)
    score = rebuild(slot)
    keep_best(slot, score)
    return score, sweep + _ONE


BY_MUTATIONS = Stage(5, by_mutations)

BY_COLUMNS = Stage(6, by_columns)
