"""Job pool: the places of a run that do its jobs at the same time, and the running jobs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import Generic, TypeVar

from syclade.host.device.choice import Devices, Several
from syclade.host.device.cluster.jobs import (
    Answer,
    IsWanted,
    Job,
    JobRunner,
    NotOpen,
    Opening,
    digest_of,
    packed,
)
from syclade.host.device.cluster.workers import MOST_ATTEMPTS, Workers, is_loss, lost_too_often

__all__ = ["Finished", "JobPool", "Place"]

logger = logging.getLogger("syclade.workers")

Tag = TypeVar("Tag")
Argument = TypeVar("Argument")
Held = TypeVar("Held")

COUNT_SECONDS = 1.0
"""Time between two counts of workers that come and go."""


class Place:
    """One place: a thread for a device of this machine, or one of an executor's workers, whichever is free.

    Attributes:
        number: number of the place.
        device: its device, as for `choose_device`.
        rate: work that it does in a second; None if unknown.
        units: its cores, as far as known.
        wanted: whether the answer of its job is wanted; a thread ends its job early if not.
    """

    def __init__(self, number: int, device: str, workers: Workers | None) -> None:
        self.number, self.device = number, device
        self.rate: float | None = None
        self.units = 1
        self.wanted = True
        self._workers = workers
        self._runner = JobRunner()
        self._thread: Executor | None = None if workers else ThreadPoolExecutor(1, f"syclade-{device}")

    @property
    def is_here(self) -> bool:
        """Return whether the place is a device of this process."""
        return self._workers is None

    def open(self, key: str, opening: Opening) -> None:
        """Open a device of this process at once, so that its errors and Ctrl-C end the run at its start."""
        self._runner.open(key, opening, self.device)

    def submit(self, job: Job[Answer]) -> Future[Answer | NotOpen]:
        """Submit a job."""
        if self._workers is not None:
            return self._workers.submit(job)
        assert self._thread is not None
        return self._thread.submit(self._runner.run, job, self._is_wanted)

    def _is_wanted(self) -> bool:
        return self.wanted

    def close(self) -> None:
        """Free the device; wait for the end of a launch."""
        self.wanted = False
        if self._thread is not None:
            self._thread.submit(self._runner.close)
            self._thread.shutdown()


class Finished(Generic[Tag, Answer]):
    """A job and its answer.

    Attributes:
        place: the place that did it.
        tag: the object that it was submitted with.
        answer: its answer.
        seconds: time since it was submitted.
    """

    def __init__(self, place: Place, tag: Tag, answer: Answer, seconds: float) -> None:
        self.place, self.tag, self.answer, self.seconds = place, tag, answer, seconds


class _UnderWay(Generic[Tag, Answer]):
    """A job that a place does."""

    def __init__(self, place: Place, job: Job[Answer], tag: Tag, future: Future[Answer | NotOpen]) -> None:
        self.place, self.job, self.tag, self.future = place, job, tag, future
        self.begun = time.perf_counter()
        self.attempts = 1


class JobPool(Generic[Tag, Answer]):
    """Places that share the work on one problem. What they opened stays open until the pool is closed.

    The type variables are that of the tags that jobs are submitted with, and that of their answers.

    Args:
        where: the places.
        opening: what they open.
        depth: number of jobs at once for each worker, so that the next one is there when one ends.
    """

    def __init__(self, where: Several, opening: Opening, depth: int = 1) -> None:
        self._opening, self._depth = opening, depth
        self._workers = where if isinstance(where, Workers) else None
        names = where.names if isinstance(where, Devices) else ()
        self.places = [Place(at, name, None) for at, name in enumerate(names)]
        self._jobs: list[_UnderWay[Tag, Answer]] = []
        self._answered = False
        self._counted = -COUNT_SECONDS
        self._most = len(self.places)
        try:
            for place in self.places:
                place.open(self._key, opening)
            self._count()
        except BaseException:
            self.close()
            raise

    @cached_property
    def _packed(self) -> bytes:
        return packed(self._opening)

    @cached_property
    def _key(self) -> str:
        return digest_of(self._packed) if self._workers is not None else "here"

    def _count(self) -> None:
        """Adjust the number of places to that of the workers, at most once in `COUNT_SECONDS`."""
        if self._workers is None or time.perf_counter() - self._counted < COUNT_SECONDS:
            return
        if self._counted > 0 and not self._workers.comes_and_goes:
            return
        before, self._most = self._most, self._depth * self._workers.count()
        if self._most == 0 and (before or self._counted < 0):
            logger.info("waiting for workers")
        self._counted = time.perf_counter()
        while len(self.places) < self._most:
            self.places.append(Place(len(self.places), self._workers.device, self._workers))

    def idle(self) -> list[Place]:
        """Return the places without a job."""
        self._count()
        busy = {one.place for one in self._jobs}
        return [place for place in self.places if place not in busy][: max(0, self._most - len(busy))]

    def under_way(self) -> Iterator[tuple[Place, Tag, float]]:
        """Yield place, tag and seconds so far of each job under way."""
        now = time.perf_counter()
        return ((one.place, one.tag, now - one.begun) for one in self._jobs)

    def submit(
        self,
        place: Place,
        function: Callable[[Held, Argument, IsWanted], Answer],
        argument: Argument,
        tag: Tag,
    ) -> None:
        """Submit a job to an idle place; its answer comes with the tag."""
        place.wanted = True
        opening = self._opening if place.is_here else None if self._answered else self._packed
        job = Job(self._key, opening, place.device, function, argument)
        self._jobs.append(_UnderWay(place, job, tag, place.submit(job)))

    def collect(self, seconds: float) -> list[Finished[Tag, Answer]]:
        """Wait for the next answers, for some seconds at most; return all that have come.

        Raises:
            WorkersError: a job was lost too often, or the executor is closed.
            Exception: what a job raised.
        """
        ended, _ = wait([one.future for one in self._jobs], seconds, FIRST_COMPLETED)
        if not self._jobs:
            time.sleep(seconds)
        found = []
        for one in [one for one in self._jobs if one.future in ended]:
            error = _error_of(one.future)
            if error is not None:
                self._repeat(one, error)
            elif isinstance(answer := one.future.result(), NotOpen):
                self._again(one)
            else:
                self._answered = True
                self._jobs.remove(one)
                found.append(Finished(one.place, one.tag, answer, time.perf_counter() - one.begun))
        return found

    def _repeat(self, one: _UnderWay[Tag, Answer], error: BaseException) -> None:
        """Submit a job again if its worker was lost; else raise the error."""
        if one.place.is_here or not is_loss(error):
            raise error
        if one.attempts >= MOST_ATTEMPTS:
            raise lost_too_often(one.attempts, error) from error
        assert self._workers is not None
        self._workers.renew_after(error)
        one.attempts += 1
        self._again(one)

    def _again(self, one: _UnderWay[Tag, Answer]) -> None:
        job = one.job
        one.job = Job(job.key, self._packed, job.device, job.function, job.argument, job.attempt + 1)
        one.future = one.place.submit(one.job)

    def close(self) -> None:
        """Cancel all jobs and free the devices of this machine."""
        for one in self._jobs:
            one.future.cancel()
        self._jobs.clear()
        for place in self.places:
            place.wanted = False
        for place in self.places:
            place.close()


def _error_of(future: Future[Answer]) -> BaseException | None:
    """Return the error of a future that has ended, also if it was cancelled; None if it succeeded."""
    if future.cancelled():
        return CancelledError("the scheduler has dropped the job")
    return future.exception()
