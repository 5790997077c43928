"""Batched stages: kernels that have the results of `search/stages.py`, bit for bit, by many threads."""

from typing import Any

import numpy as np

from syclade.kernels.search.batched.team import begin, make_team
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import device_function
from syclade.kernels.target.blocks import meet


def make_batched(stage: Stage) -> Any:
    """Return the kernel's body: a device function of a slot, a lane and the arguments.

    Args:
        stage: the stage that the kernel runs; it gets a `Team` instead of a `Slot`.
    """
    run, code = stage.run, np.int64(stage.code)

    @device_function
    def search(
        number,  # IN address: the slot
        lane,  # IN address: not used
        given,  # IN OUT record of arguments.py
    ):
        """Run the stage if the slot requests it."""
        if given.stage[number] == code:
            work = make_team(given, number)
            begin(work)
            score, sweep = run(work, given.sweep[number], given.repeats[number], given.noise[number])
            meet()
            if work.team == 0 and work.thread == 0:
                given.score[number] = score
                given.sweep[number] = sweep

    return search
