"""Jobs: a function of something that a process keeps open, such as a runner of chains, and of an argument.

A job is pure: every process that does it gives the same answer, however often. So a job whose process was
lost is repeated elsewhere. The work done by jobs is a value that can be added up.
"""

from __future__ import annotations

import hashlib
import pickle
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from syclade.host.device.work import WorkDone
from syclade.host.ground.errors import WorkersError
from syclade.host.ground.packages import version_of

__all__ = [
    "Closable",
    "IsWanted",
    "Job",
    "JobRunner",
    "NotOpen",
    "Opening",
    "always",
    "divided",
    "host_name",
    "named_by_host",
    "packed",
    "run_job",
    "work_since",
]


MOST_KEPT = 4
"""Number of things that a worker keeps open: the chains, searches and samples of one run, and one more."""

VERSION = version_of("syclade")

IsWanted = Callable[[], bool]
"""Returns whether the answer of a job is still wanted; called between two launches."""


def always() -> bool:
    """Return that the answer is wanted."""
    return True


def host_name() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


class Closable(Protocol):
    """A value that a process keeps open between jobs."""

    def close(self) -> None:
        """Free its memory."""


Opening: TypeAlias = Callable[[str], Closable]
"""Opens what jobs work on: (device as for `choose_device`) -> what to keep. It can be pickled: a function at
the top of a module, or a `partial` of one."""

Answer = TypeVar("Answer")


def packed(opening: Opening) -> bytes:
    """Return an opening, pickled."""
    return pickle.dumps(opening, protocol=5)


def digest_of(packed: bytes) -> str:
    """Return the name under which a process keeps what it opens."""
    return hashlib.sha256(packed).hexdigest()


class NotOpen(NamedTuple):
    """Answer of a process that has not opened what a job works on, and got no instructions to."""


@dataclass(frozen=True, eq=False)
class Job(Generic[Answer]):
    """One job.

    Attributes:
        key: names what the job works on.
        opening: how to open it; pickled for other processes; None if the process should have it open.
        device: device to open it on.
        function: a function at the top of a module: (what is open, argument, is_wanted) -> answer.
        argument: its second argument.
        attempt: number of earlier attempts; makes equal jobs different for schedulers that merge them.
        version: version of syclade that submitted it.
    """

    key: str
    opening: Opening | bytes | None
    device: str
    function: Callable[..., Answer]
    argument: object
    attempt: int = 0
    version: str | None = VERSION


class JobRunner:
    """Things that one process, or one thread, keeps open; the least recently used is closed first.

    Args:
        most: number of things to keep.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._cached: dict[tuple[str, str], Closable] = {}
        self._lock = threading.Lock()

    def run(self, job: Job[Answer], is_wanted: IsWanted = always) -> Answer | NotOpen:
        """Do a job; jobs of one holder wait for each other."""
        with self._lock:
            name = job.key, job.device
            cached = self._cached.pop(name, None)
            if cached is None:
                if job.opening is None:
                    return NotOpen()
                cached = self._opened(job.opening, job.device)
            self._cached[name] = cached  # the last one is the most recently used
            return job.function(cached, job.argument, is_wanted)

    def _opened(self, opening: Opening | bytes, device: str) -> Closable:
        while len(self._cached) >= self._most:
            self._cached.pop(next(iter(self._cached))).close()
        made: Opening = pickle.loads(opening) if isinstance(opening, bytes) else opening
        return made(device)

    def open(self, key: str, opening: Opening, device: str) -> None:
        """Open something before the first job does."""
        with self._lock:
            self._cached[key, device] = self._opened(opening, device)

    def close(self) -> None:
        """Close everything."""
        with self._lock:
            while self._cached:
                self._cached.popitem()[1].close()


_RUNNER = JobRunner()


def run_job(job: Job[Answer]) -> Answer | NotOpen:
    """Do a job in a worker process.

    Raises:
        WorkersError: the worker has another version of syclade.
    """
    if job.version != VERSION:
        raise WorkersError(
            f"a worker on {host_name()} has syclade {VERSION}, and the run has {job.version}",
            hint="install the same version on all machines",
        )
    return _RUNNER.run(job)


def work_since(before: Iterable[WorkDone], after: Iterable[WorkDone]) -> tuple[WorkDone, ...]:
    """Return the work that was added to a runner's."""
    had = {(one.executor, one.kernel, one.unit): one for one in before}
    added = []
    for one in after:
        old = had.get((one.executor, one.kernel, one.unit))
        count, seconds = (0, 0.0) if old is None else (old.count, old.seconds)
        if one.count > count:
            added.append(replace(one, count=one.count - count, seconds=one.seconds - seconds))
    return tuple(added)


def named_by_host(work: Iterable[WorkDone]) -> tuple[WorkDone, ...]:
    """Return work with the name of this machine in the names of its executors."""
    return tuple(
        replace(one, executor=replace(one.executor, name=f"{one.executor.name}, on {host_name()}"))
        for one in work
    )


def divided(work: Iterable[WorkDone], seconds: float) -> tuple[WorkDone, ...]:
    """Return work of executors at the same time: the wall time is divided among them, as they were busy.

    Args:
        work: the work.
        seconds: wall time of all of it.
    """
    work = tuple(work)
    busy = sum(one.seconds for one in work)
    scale = seconds / busy if busy else 0.0
    return tuple(replace(one, seconds=one.seconds * scale) for one in work)
