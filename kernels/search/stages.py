"""Stages of a search: each is a kernel that does a few sweeps of one kind of move in the slots that want it.

A stage takes a mutation tree and gives one; what lies between, such as a cell tree, is its own. So a search
can be cut and taken up between any two stages.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.arguments import CELL_ROWS, GENE_ROWS
from syclade.kernels.search.draws import make_draws
from syclade.kernels.search.here import make_place
from syclade.kernels.search.mutation_tree import keep_best, make_mutation_tree
from syclade.kernels.target import device_function

_ZERO = np.int64(0)
_ONE = np.int64(1)


class Stage(NamedTuple):
    """A stage.

    Attributes:
        code: what a slot's `stage` is that wants it; 0 is nothing.
        make: (lanes) -> device function (given, here, sweep, repeats, noise) -> (score, next sweep).
    """

    code: int
    make: Callable[[int], Any]


def make_search(stage: Stage, *, lanes: int) -> Any:
    """The kernel's body: a device function of a slot, a lane and the arguments.

    Args:
        stage: which.
        lanes: of a slot.
    """
    place = make_place(lanes.bit_length() - 1, CELL_ROWS, GENE_ROWS)
    run, code = stage.make(lanes), np.int64(stage.code)

    @device_function
    def search(
        number,  # IN uint64: the slot
        lane,  # IN uint64
        given,  # IN OUT record of arguments.py
    ):
        """Do the stage if the slot wants it."""
        if given.stage[number] == code:
            here = place(given, number, lane)
            score, sweep = run(given, here, given.sweep[number], given.repeats[number], given.noise[number])
            given.score[number] = score
            given.sweep[number] = sweep

    return search


def sweeps_of(make_move: Callable[..., Any]) -> Callable[[int], Any]:
    """`Stage.make` of moves in the mutation tree: sweeps until one of them changes nothing.

    Args:
        make_move: (lanes, tree, draw_luck) -> device functions (prepare, move): prepare(given, here) ->
            attached; move(given, here, attached, v, turn, sweep, score, noise) -> (score, attached), for
            mutation v, whose turn in the sweep it is; `attached` is the move's own business.
    """

    def make(lanes: int) -> Any:
        shuffle, draw_luck = make_draws(lanes)
        tree = make_mutation_tree(lanes)
        prepare, move = make_move(lanes, tree, draw_luck)
        rebuild = tree.rebuild

        @device_function
        def sweep_once(given, here, sweep, score, noise):
            shuffle(given, here, here.mutations, sweep)
            attached = prepare(given, here)
            changed = _ZERO
            for turn in range(here.mutations):
                v = np.int64(given.turn[here.turn + np.uint64(turn)])
                before = score
                score, attached = move(given, here, attached, v, np.int64(turn), sweep, score, noise)
                changed = changed + np.int64(score != before)
            return score, changed

        @device_function
        def sweeps(given, here, sweep, repeats, noise):
            """One move of every mutation a sweep."""
            score = rebuild(given, here)
            keep_best(given, here, score)
            for _ in range(repeats):
                score, changed = sweep_once(given, here, sweep, score, noise)
                keep_best(given, here, score)
                sweep = sweep + _ONE
                if changed == _ZERO:
                    break
            return score, sweep

        return sweeps

    return make
