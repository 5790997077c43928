"""Kill worker processes of this process, or of another one, at random moments."""

from __future__ import annotations

import random
import threading
import time
from types import TracebackType

import psutil

__all__ = ["Killer", "gone", "workers_of"]


def workers_of(pid: int) -> list[psutil.Process]:
    """Return the processes below one that multiprocessing has spawned, without its resource tracker."""
    found = []
    try:
        for child in psutil.Process(pid).children(recursive=True):
            try:
                if any("spawn_main" in word for word in child.cmdline()):
                    found.append(child)
            except psutil.Error:
                pass
    except psutil.NoSuchProcess:
        pass
    return found


class Killer(threading.Thread):
    """Kills random workers with SIGKILL, from its start to the end of its context.

    Args:
        pid: process whose workers to kill.
        most: number of kills.
        seed: seed of the moments and choices.
        seconds: longest time between two kills.
    """

    def __init__(self, pid: int, most: int, seed: int, seconds: float = 1.5) -> None:
        super().__init__(daemon=True)
        self.kills = 0
        self._pid, self._most, self._seconds = pid, most, seconds
        self._random = random.Random(seed)
        self._over = threading.Event()

    @property
    def done(self) -> bool:
        """Return whether it has done all its kills."""
        return self.kills >= self._most

    def run(self) -> None:
        """Kill until there were enough kills, or the context ends."""
        while not self.done and not self._over.wait(self._random.uniform(0.1, self._seconds)):
            workers = workers_of(self._pid)
            if workers:
                try:
                    self._random.choice(workers).kill()
                    self.kills += 1
                except psutil.Error:
                    pass

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._over.set()
        self.join()


def gone(processes: list[psutil.Process], seconds: float) -> bool:
    """Return whether processes end within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
            return True
        time.sleep(0.1)
    return False
