"""A worker process of the numpy fallback: takes its share of the slots forward, as often as it is asked to.

Its standard input has pickles: first a `Task`, then the arrays of some slots, by name. It answers the latter
with an `Answer` each, or with words why it failed, and ends when its input does. Only `numpy_workers.py`
starts it.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from typing import Any, BinaryIO, NamedTuple

from syclade.host.backends.numpy_steps import numpy_steps
from syclade.host.chains.plan import Plan

__all__ = ["Answer", "Task"]


class Task(NamedTuple):
    """What a worker has to know once."""

    plan: Plan
    seed: int


class Answer(NamedTuple):
    """What comes back of a launch.

    Attributes:
        state: the arrays after it.
        seconds: processor time it took.
        memory_bytes: of the worker's tables.
    """

    state: dict[str, Any]
    seconds: float
    memory_bytes: int


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer all requests."""
    task: Task = pickle.load(requests)
    steps = numpy_steps(task.plan)
    while True:
        try:
            state = pickle.load(requests)
        except EOFError:
            return
        started = time.process_time()
        try:
            steps.advance(state, task.seed)
        except Exception as error:
            answer: Answer | str = f"{type(error).__name__}: {error}"
        else:
            answer = Answer(state, time.process_time() - started, steps.memory_bytes)
        pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


def main() -> None:
    """Serve the process that started this one."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may come between the answers
        try:
            serve(sys.stdin.buffer, answers)
        except (BrokenPipeError, EOFError):
            os._exit(1)  # nobody is there any more


if __name__ == "__main__":
    # As the module by its own name, not as __main__, so that pickles of its classes are of those classes.
    from syclade.host.backends import numpy_worker

    numpy_worker.main()
