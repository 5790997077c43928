"""Stages of a search: each is a kernel for a few sweeps of one kind of move, in the slots that request it.

A stage begins and ends with a mutation tree. Anything else, such as a cell tree, exists only inside the
stage. So a search can be stopped and resumed between any two stages.
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
    """Stage of a search.

    Attributes:
        code: value of `stage` in slots that request this stage; 0 requests none.
        make: (lanes) -> device function (given, here, sweep, repeats, noise) -> (score, next sweep).
    """

    code: int
    make: Callable[[int], Any]


def make_search(stage: Stage, *, lanes: int) -> Any:
    """Return the kernel's body: a device function of a slot, a lane and the arguments.

    Args:
        stage: the stage that the kernel runs.
        lanes: lanes per slot.
    """
    place = make_place(lanes.bit_length() - 1, CELL_ROWS, GENE_ROWS)
    run, code = stage.make(lanes), np.int64(stage.code)

    @device_function
    def search(
        number,  # IN uint64: the slot
        lane,  # IN uint64
        given,  # IN OUT record of arguments.py
    ):
        """Run the stage if the slot requests it."""
        if given.stage[number] == code:
            here = place(given, number, lane)
            score, sweep = run(given, here, given.sweep[number], given.repeats[number], given.noise[number])
            given.score[number] = score
            given.sweep[number] = sweep

    return search


def sweeps_of(make_move: Callable[..., Any]) -> Callable[[int], Any]:
    """Return `Stage.make` for a move in the mutation tree, with sweeps until one of them changes nothing.

    Args:
        make_move: (lanes, tree, draw_luck) -> device functions (prepare, move): prepare(given, here) ->
            attached; move(given, here, attached, v, turn, sweep, score, noise) -> (score, attached), for
            mutation v at its turn in the sweep. Only the move itself uses `attached`.
    """

    def make(lanes: int) -> Any:
        shuffle, draw_luck = make_draws(lanes)
        tree = make_mutation_tree(lanes)
        prepare, move = make_move(lanes, tree, draw_luck)
        rebuild = tree.rebuild

        @device_function
        def sweep_once(
            given,  # IN OUT record of arguments.py
            here,  # IN Here
            sweep,  # IN int64: number of the sweep
            score,  # IN int64: score of the tree
            noise,  # IN int64: factor of the noise; 0: no noise
        ):
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
        def sweeps(
            given,  # IN OUT record of arguments.py
            here,  # IN Here
            sweep,  # IN int64: number of the first sweep
            repeats,  # IN int64: maximum number of sweeps
            noise,  # IN int64: factor of the noise; 0: no noise
        ):
            """Move every mutation once per sweep; return (score, next sweep), int64."""
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
