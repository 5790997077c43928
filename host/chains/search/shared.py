"""Searches that several places share: devices of this machine, or workers of an executor.

A job is one phase of some searches. A place that has nothing else to do repeats searches that have been in
another place for longer than it would take: the first answer counts, and both have the same bits. So a slow
device delays a phase by about one search of a fast one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from syclade.host.chains.search.kernel import NO_SCORE, SearchState
from syclade.host.chains.search.policy import Phase, PhaseStopped
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.chains.search.runner import SearchRunner, device_for_search, make_search_runner
from syclade.host.device.choice import Devices, Several, choose_device, first_of, open_first
from syclade.host.device.cluster.job_pool import JobPool, Place
from syclade.host.device.cluster.jobs import IsWanted, divided, named_by_host, work_since
from syclade.host.device.device import Device
from syclade.host.device.work import WorkDone, merged_work
from syclade.host.ground.signals import Stopped

__all__ = ["SearchesToOpen", "SharedSearches", "make_shared_searches"]

WAIT_SECONDS = 0.5
"""Longest wait for an answer before stop requests are checked."""


@dataclass(frozen=True, eq=False)
class SearchesToOpen:
    """All that a place needs to open a runner of searches; see `make_search_runner`.

    Attributes:
        problem, seed, by_columns, stages: as for `make_search_runner`.
        searches: number of all searches.
        names_host: whether the work is reported with the name of the machine.
    """

    problem: SearchProblem
    seed: int
    by_columns: bool
    stages: tuple[str, ...]
    searches: int
    names_host: bool


class OpenSearches(NamedTuple):
    """An open runner of searches."""

    runner: SearchRunner
    names_host: bool

    def close(self) -> None:
        """Close the runner."""
        self.runner.close()


def open_searches(value: SearchesToOpen, device: str) -> OpenSearches:
    """Open a runner of searches on a device, as for `choose_device`."""
    chosen = choose_device(first_of(device))
    if device == "auto":
        chosen = device_for_search(chosen, value.stages)

    def opener(one: Device) -> SearchRunner:
        slots = value.searches if one.kind == "cuda" else min(value.searches, 2 * one.units)
        return make_search_runner(
            one, value.problem, slots, value.seed, by_columns=value.by_columns, stages=value.stages
        )

    return OpenSearches(open_first(chosen, opener, explicit=device != "auto"), value.names_host)


class PhaseDone(NamedTuple):
    """Answer of a job.

    Attributes:
        states: the searches after their phase.
        complete: whether they are at its end.
        work: the work that this was.
        units: compute units of the device.
    """

    states: list[SearchState]
    complete: bool
    work: tuple[WorkDone, ...]
    units: int


def do_phase(
    opened: OpenSearches, argument: tuple[Sequence[SearchState], Sequence[Phase]], is_wanted: IsWanted
) -> PhaseDone:
    """Run a phase of some searches; stop between two launches if the answer is not wanted."""
    runner, (states, phases) = opened.runner, argument
    before = runner.work

    def launched(_scores: Sequence[int]) -> None:
        if not is_wanted():
            raise Stopped

    try:
        ended, complete = runner.run_phase(states, phases, launched), True
    except PhaseStopped as stopped:
        ended, complete = list(stopped.states), False
    work = work_since(before, runner.work)
    return PhaseDone(
        ended, complete, named_by_host(work) if opened.names_host else work, runner.executor.units
    )


class _SharedPhase:
    """A phase of all searches.

    Attributes:
        states: states of the searches so far.
        phases: what each does.
        waiting: searches that no place has got.
        open: searches that have not ended.
        repeated: searches that a second place has got.
    """

    def __init__(self, states: Sequence[SearchState], phases: Sequence[Phase]) -> None:
        self.states, self.phases = list(states), phases
        self.waiting = list(range(len(states)))
        self.open = set(self.waiting)
        self.repeated: set[int] = set()

    @property
    def best(self) -> int:
        """Best score so far."""
        return max((state.best_score for state in self.states), default=NO_SCORE)


_JobPool: TypeAlias = JobPool[tuple[_SharedPhase, list[int]], PhaseDone]
"""Its tags are the phase and the numbers of the searches."""


class SharedSearches:
    """Searches that a job pool runs.

    Attributes:
        problem: input of the searches.

    Args:
        problem: as the attribute.
        job_pool: the job pool.
        equal: whether all places are equally fast, so that each takes its part at once.
    """

    def __init__(self, problem: SearchProblem, job_pool: _JobPool, *, equal: bool = False) -> None:
        self.problem = problem
        self._job_pool = job_pool
        self._equal = equal
        self._work: tuple[WorkDone, ...] = ()
        self._seconds = 0.0

    def run_phase(
        self,
        states: Sequence[SearchState],
        phases: Sequence[Phase],
        launched: Callable[[Sequence[int]], None],
    ) -> list[SearchState]:
        """Run one phase of every search; see `SearchRunner.run_phase`.

        Raises:
            PhaseStopped: `launched` raised `Stopped`.
        """
        begun = time.perf_counter()
        phase = _SharedPhase(states, phases)
        try:
            while phase.open:
                self._give(phase)
                self._collect(phase, WAIT_SECONDS)
                launched([phase.best])
        except Stopped:
            self._unwanted()
            while any(place.is_here for place, _, _ in self._job_pool.under_way()):
                self._collect(phase, WAIT_SECONDS)
            raise PhaseStopped(phase.states) from None
        finally:
            self._unwanted()
            self._seconds += time.perf_counter() - begun
        return phase.states

    def _unwanted(self) -> None:
        """Let devices of this machine end their jobs between two launches."""
        for place, _, _ in self._job_pool.under_way():
            place.wanted = False

    def _give(self, phase: _SharedPhase) -> None:
        """Give searches to idle places, the fastest first."""
        idle = sorted(self._job_pool.idle(), key=lambda place: -(place.rate or 0.0))
        for at, place in enumerate(idle):
            if self._equal:
                share = -(-len(phase.waiting) // (len(idle) - at))
            else:
                # Groups become smaller towards the end, but have a search for each core of the place.
                share = max(place.units, -(-len(phase.waiting) // (2 * len(self._job_pool.places))))
            numbers = phase.waiting[:share]
            del phase.waiting[: len(numbers)]
            numbers = numbers or self._late(phase, place)
            if numbers:
                argument = [phase.states[one] for one in numbers], [phase.phases[one] for one in numbers]
                self._job_pool.submit(place, do_phase, argument, (phase, numbers))

    def _late(self, phase: _SharedPhase, place: Place) -> list[int]:
        """Return searches that have been in another place for longer than the last ones were in this one."""
        for _, (of, numbers), seconds in self._job_pool.under_way():
            left = [one for one in numbers if one in phase.open and one not in phase.repeated]
            if of is phase and left and place.rate is not None and seconds > 1 / place.rate:
                phase.repeated.update(left)
                return left
        return []

    def _collect(self, phase: _SharedPhase, seconds: float) -> None:
        """Take the answers that come within some seconds."""
        for one in self._job_pool.collect(seconds):
            of, numbers = one.tag
            done = one.answer
            one.place.units = done.units
            if done.complete:
                one.place.rate = 1 / max(sum(work.seconds for work in done.work), 1e-6)
            fresh = [number for number in numbers if of is phase and number in phase.open]
            for number, state in zip(numbers, done.states, strict=True):
                if number in fresh:
                    phase.states[number] = state
            if done.complete:
                phase.open.difference_update(fresh)
            if len(fresh) == len(numbers):
                self._work = merged_work([self._work, done.work])

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The sweeps so far, without those of searches that another place ended sooner."""
        return divided(self._work, self._seconds)

    def close(self) -> None:
        """Cancel the jobs in progress, and close the devices of this machine."""
        self._job_pool.close()


def make_shared_searches(
    where: Several,
    problem: SearchProblem,
    searches: int,
    seed: int,
    *,
    by_columns: bool,
    stages: Sequence[str] = (),
) -> SharedSearches:
    """Return searches that several places share; see `make_search_runner`.

    Args:
        where: the places.
        searches: number of searches.

    Raises:
        DeviceError: a device of this machine cannot be used.
    """
    names = where.names if isinstance(where, Devices) else ()
    devices = [choose_device(name) for name in names]
    value = SearchesToOpen(problem, seed, by_columns, tuple(stages), searches, names_host=not devices)
    equal = len({(one.kind, one.name) for one in devices}) == 1 and devices[0].kind == "cuda"
    return SharedSearches(problem, _JobPool(where, partial(open_searches, value)), equal=equal)
