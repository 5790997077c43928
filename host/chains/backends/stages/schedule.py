"""Schedule of the macro-pipeline: which chain state is in which stage at which time.

Time is counted in ticks: in a tick every stage works on at most one state. A state passes the stages in
order, one per tick. A state that leaves the last stage queues for the first one again until its steps are
done (the thesis's IO kernel, algorithm 3.10). States with fewer steps than others leave earlier, and the next
states in the queue move up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["InStage", "fill", "ticks"]


class InStage(NamedTuple):
    """A chain state in a stage.

    Attributes:
        slot: slot of the state.
        step: step in this run of the pipeline, counted from 0 for every slot.
    """

    slot: int
    step: int


def ticks(steps: Sequence[int], stages: int) -> Iterator[tuple[InStage | None, ...]]:
    """Yield the pipeline's contents tick by tick until every state has done its steps.

    Args:
        steps: number of steps that each slot has to do, 0 or more.
        stages: number of stages in the pipeline, at least 1.

    Yields:
        The state in each stage, or None where the stage is empty.
    """
    queue = deque(InStage(slot, 0) for slot, wanted in enumerate(steps) if wanted > 0)
    inside: deque[InStage | None] = deque([None] * stages)
    left = len(queue)
    while left:
        done = inside.pop()
        if done is not None and done.step + 1 < steps[done.slot]:
            queue.append(InStage(done.slot, done.step + 1))
        elif done is not None:
            left -= 1
        inside.appendleft(queue.popleft() if queue else None)
        if left:
            yield tuple(inside)


def fill(steps: Sequence[int], stages: int) -> float:
    """Return the share of stages that have a state, over all ticks."""
    count = sum(1 for _ in ticks(steps, stages))
    return sum(steps) / count if count else 0.0
