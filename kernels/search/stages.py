"""Stages of a search: each is a kernel for a few sweeps of one kind of move, in the slots that request it.

A stage begins and ends with a mutation tree. Anything else, such as a cell tree, exists only inside the
stage. So a search can be stopped and resumed between any two stages.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.draws import shuffle, taking_turn
from syclade.kernels.search.mutation_tree import keep_best, rebuild
from syclade.kernels.search.slot import make_place
from syclade.kernels.target import control, device_function

_ZERO = control(0)
_ONE = control(1)


class Stage(NamedTuple):
    """Stage of a search.

    Attributes:
        code: value of `stage` in slots that request this stage; 0 requests none.
        run: device function (slot, sweep, repeats, noise) -> (score, next sweep).
    """

    code: int
    run: Any


def make_search(stage: Stage, *, lanes: int) -> Any:
    """Return the kernel's body: a device function of a slot, a lane and the arguments.

    Args:
        stage: the stage that the kernel runs.
        lanes: lanes per slot.
    """
    place, run, code = make_place(lanes), stage.run, np.int64(stage.code)

    @device_function
    def search(
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN OUT record of arguments.py
    ):
        """Run the stage if the slot requests it."""
        if given.stage[number] == code:
            slot = place(given, number, lane)
            score, sweep = run(slot, given.sweep[number], given.repeats[number], given.noise[number])
            given.score[number] = score
            given.sweep[number] = sweep

    return search


def sweeps_of(prepare: Any, move: Any) -> Any:
    """Return `Stage.run` for a move in the mutation tree, with sweeps until one of them changes nothing.

    Args:
        prepare: device function (slot) -> attached.
        move: device function (slot, attached, v, turn, sweep, score, noise) -> (score, attached), for
            mutation v at its turn in the sweep. Only the move itself uses `attached`.
    """

    @device_function
    def sweep_once(
        slot,  # IN OUT record of arguments.py
        sweep,  # IN int64: number of the sweep
        score,  # IN int64: score of the tree
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        shuffle(slot, slot.mutations, sweep)
        attached = prepare(slot)
        changed = _ZERO
        for turn in range(slot.mutations):
            v = taking_turn(slot, turn)
            before = score
            score, attached = move(slot, attached, v, control(turn), sweep, score, noise)
            changed = changed + control(score != before)
        return score, changed

    @device_function
    def sweeps(
        slot,  # IN OUT record of arguments.py
        sweep,  # IN int64: number of the first sweep
        repeats,  # IN int64: maximum number of sweeps
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Move every mutation once per sweep; return (score, next sweep), int64."""
        score = rebuild(slot)
        keep_best(slot, score)
        for _ in range(repeats):
            score, changed = sweep_once(slot, sweep, score, noise)
            keep_best(slot, score)
            sweep = sweep + _ONE
            if changed == _ZERO:
                break
        return score, sweep

    return sweeps
