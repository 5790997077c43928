"""Process pools that wait for ever, because a worker was killed while it sent its answer.

In CPython 3.11 to 3.13, a pool looks for dead workers only while no answer arrives. If a worker dies halfway
through an answer, the pool waits for the rest, and the other workers wait for their turn to answer.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

__all__ = ["break_pool", "dead_workers"]


def dead_workers(pool: ProcessPoolExecutor) -> set[int]:
    """Return the process numbers of workers that have ended, and that the pool has not yet missed."""
    processes: Any = vars(pool).get("_processes")
    return {number for number, process in list((processes or {}).items()) if process.exitcode is not None}


def break_pool(pool: ProcessPoolExecutor) -> None:
    """End all processes of a pool, and its wait for answers: its calls fail with `BrokenProcessPool`."""
    settings: Any = vars(pool)
    for process in list((settings.get("_processes") or {}).values()):
        process.kill()
        process.join()
    answers = settings.get("_result_queue")
    if answers is not None:
        answers._writer.close()
