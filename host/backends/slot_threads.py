"""Threads of this process that work on slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from syclade.host.devices.cores import usable_cores

__all__ = ["SlotThreads", "far_apart"]


class SlotThreads:
    """One thread per core; each thread takes the next slot when it has finished one."""

    def __init__(self, slots: int) -> None:
        self._threads = min(usable_cores(), slots)
        self._order = far_apart(slots, self._threads)
        self._pool = ThreadPoolExecutor(self._threads)

    def run(self, work: Callable[[int], None]) -> None:
        """Do the work of every slot, and wait.

        Args:
            work: function of the slot. It should release the GIL, as compiled kernels do.
        """
        waiting = iter(self._order)
        for thread in [self._pool.submit(_run, work, waiting) for _ in range(self._threads)]:
            thread.result()

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()


def _run(work: Callable[[int], None], waiting: Iterator[int]) -> None:
    for slot in waiting:
        work(slot)


def far_apart(slots: int, threads: int) -> list[int]:
    """Return all slots, ordered so that slots that run at the same time are far apart in memory.

    Neighbouring slots share cache lines, or pairs of lines that processors fetch together: four threads on
    neighbouring slots took 79 instead of 55 ns per step at 32 cells x 31 mutations.
    """
    distance = -(-slots // threads)
    return [slot for first in range(distance) for slot in range(first, slots, distance)]
