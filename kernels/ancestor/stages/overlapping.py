"""All stages in one launch: work-groups take stages of different chain states, and work at the same time.

The pipeline's schedule is divided into tasks: in a tick, each stage works on at most one state. Work-groups
take tasks from a common counter, in the order of the ticks. A task waits until the previous stage of its
state and the previous state of its stage are done. Both have lower numbers, so some work-group has taken them
already: however many work-groups the device runs at once, one of them can always go on.

A device has no clock that all work-groups read, but a common counter orders the beginnings and ends of
stages: a stage that began before another and ended after it began was at work at the same time.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.ancestor.stages.extended_reduction import make_extended_reduction_stage
from syclade.kernels.ancestor.stages.find_parent import make_find_parent_stage
from syclade.kernels.ancestor.stages.learned_propose import make_learned_propose_stage
from syclade.kernels.ancestor.stages.propose import make_propose_stage
from syclade.kernels.ancestor.stages.reduction import make_reduction_stage
from syclade.kernels.ancestor.stages.score_mapping import make_score_mapping_stage
from syclade.kernels.ancestor.stages.tree_update import make_tree_update_stage
from syclade.kernels.chain.parts import Move, Recorder, Score
from syclade.kernels.target import address, control, device_function, in_step
from syclade.kernels.target.sycl_atomics import add_atomically, raise_atomically

PROPOSE, FIND_PARENT, TREE_UPDATE, SCORE_MAPPING, REDUCTION = (control(number) for number in range(5))
STAGES = 5

_STAGES = control(STAGES)
_ZERO, _ONE = control(0), control(1)
_FIRST = address(0)  # lane
_STATES, _STEPS, _TICKS, _TIMED = (address(number) for number in range(4))
_TICKET, _AT_WORK, _MOST, _SUM, _CLOCK, _PASSED = (address(number) for number in range(6))
_NONE, _UP, _DOWN = np.int32(0), np.int32(1), np.int32(-1)


class Task(NamedTuple):
    """A stage of a state; all control.

    Attributes:
        stage: number of the stage.
        state: number of the state among those in flight.
        step: step of the state in this launch, counted from 0.
        entry: how many states have entered the pipeline before, each counted once a step.
        is_empty: 1 if the stage has no state in this tick, else 0.
    """

    stage: Any
    state: Any
    step: Any
    entry: Any
    is_empty: Any


@device_function
def task_of(
    number,  # IN control: number of the task
    states,  # IN control: states in flight
    steps,  # IN control: steps of each
):
    """Return the Task: states enter one after another, and again when they have left the last stage."""
    stage = _STAGES - _ONE - number % _STAGES
    tick = number // _STAGES - stage  # in which the state entered
    turn = max(states, _STAGES)  # ticks from one step of a state to its next
    inside = max(tick, _ZERO)
    step, state = inside // turn, inside % turn
    is_empty = control(tick < _ZERO) | control(state >= states) | control(step >= steps)
    return Task(stage, state, step, step * states + state, is_empty)


@device_function
def wait_for(
    given,  # IN progress: (slots,), counters: (10,) int32
    task,  # IN Task
):
    """Return when the previous stage of the state and the previous state of the stage are done."""
    before = np.int32(task.step * _STAGES + task.stage)
    while add_atomically(given.progress, address(task.state), _NONE) < before:
        pass
    while add_atomically(given.counters, _PASSED + address(task.stage), _NONE) < np.int32(task.entry):
        pass


@device_function
def begin(
    given,  # IN OUT counters: (10,) int32, began: (timed,) int32
    at,  # IN control: number of the task among those that are not empty
):
    """Count the stages at work: their largest number, and the sum over all beginnings; note the order."""
    now = np.int32(add_atomically(given.counters, _AT_WORK, _UP) + _UP)
    raise_atomically(given.counters, _MOST, now)
    add_atomically(given.counters, _SUM, now)
    if at < control(given.pipeline[_TIMED]):
        given.began[address(at)] = add_atomically(given.counters, _CLOCK, _UP)


@device_function
def end(
    given,  # IN OUT counters: (10,), progress: (slots,), ended: (timed,) int32
    task,  # IN Task
    at,  # IN control: number of the task among those that are not empty
):
    """Note the order, and let the tasks go on that wait for this one."""
    if at < control(given.pipeline[_TIMED]):
        given.ended[address(at)] = add_atomically(given.counters, _CLOCK, _UP)
    add_atomically(given.counters, _AT_WORK, _DOWN)
    add_atomically(given.progress, address(task.state), _UP)
    add_atomically(given.counters, _PASSED + address(task.stage), _UP)


def make_overlapping_stage(
    capacity: Callable[..., Any],
    moves: Sequence[Move],
    score: Score,
    recorders: Sequence[Recorder],
    *,
    kinds: int,
    learned: int,
    lanes: int,
    **sizes: int,
) -> Any:
    """Return the kernel's body: a device function of a work-group (not of a slot), a lane and the arguments.

    Args:
        capacity, moves, score, recorders, kinds, learned, lanes, sizes: as for the single stages.
    """
    propose_of = make_learned_propose_stage if learned else make_propose_stage
    propose = propose_of(capacity, moves, **sizes)
    find_parent = make_find_parent_stage(capacity, **sizes)
    tree_update = make_tree_update_stage(capacity, lanes, **sizes)
    score_mapping = make_score_mapping_stage(capacity, lanes, **sizes)
    counts = {"kinds": kinds, "lanes": lanes, **sizes}
    if learned or recorders:
        reduction = make_extended_reduction_stage(capacity, score, recorders, learned=learned, **counts)
    else:
        reduction = make_reduction_stage(capacity, score, **counts)

    @device_function
    def work(
        slot,  # IN address
        lane,  # IN address
        stage,  # IN control
        given,  # IN OUT arguments of all stages
    ):
        """Do a stage of a slot's state; the first two have one lane.

        Each stage is between barriers of its own: then the CPU device's compiler vectorises it.
        """
        if stage == PROPOSE:
            if lane == _FIRST:
                propose(slot, lane, given)
            in_step(slot)
        elif stage == FIND_PARENT:
            if lane == _FIRST:
                find_parent(slot, lane, given)
            in_step(slot)
        elif stage == TREE_UPDATE:
            tree_update(in_step(slot), lane, given)
            in_step(slot)
        elif stage == SCORE_MAPPING:
            score_mapping(in_step(slot), lane, given)
            in_step(slot)
        else:
            reduction(in_step(slot), lane, given)
            in_step(slot)

    @device_function
    def ancestor_overlapping(group, lane, given):
        """Take tasks until none is left."""
        states, steps = control(given.pipeline[_STATES]), control(given.pipeline[_STEPS])
        count = control(given.pipeline[_TICKS]) * _STAGES
        for _ in range(count + _ONE):
            if lane == _FIRST:
                given.claimed[group] = add_atomically(given.counters, _TICKET, _UP)
            group = in_step(group)
            number = control(given.claimed[group])
            group = in_step(group)  # all lanes have read it
            if number >= count:
                break
            task = task_of(number, states, steps)
            if task.is_empty == _ZERO:
                slot = address(given.active[address(task.state)])
                at = task.entry * _STAGES + task.stage
                if lane == _FIRST:
                    wait_for(given, task)
                    begin(given, at)
                slot = in_step(slot)
                work(slot, lane, task.stage, given)
                group = in_step(group)
                if lane == _FIRST:
                    end(given, task, at)

    return ancestor_overlapping
