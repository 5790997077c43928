"""Chains that several places advance: devices of this machine, or workers of an executor.

The states are here, and a place gets some of them for a segment (`segment.py`) at a time. So any place can
continue any chain, and a lost segment is repeated. The schedule decides which chains a place advances next,
and for how long. Results do not depend on it; only the time does.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.opening import ChainsToOpen, Opened
from syclade.host.chains.backends.runner import Advanced
from syclade.host.chains.backends.shared.segment import (
    Segment,
    SegmentDone,
    advance_segment,
    open_chains,
)
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState, Event, no_tallies
from syclade.host.device.choice import Devices, Several, choose_device
from syclade.host.device.cluster.job_pool import Finished, JobPool, Place
from syclade.host.device.cluster.jobs import divided
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.device import native_device
from syclade.host.device.work import WorkDone, merged_work

__all__ = ["ELSEWHERE", "HERE", "Pace", "SharedRunner", "choose", "open_shared", "patience_of", "seconds_of"]


class Pace(NamedTuple):
    """Lengths of segments, in seconds.

    Attributes:
        first: until the speed of places is known.
        least: at the end of a round, when segments become shorter so that places end together.
        most: otherwise.
        each: seconds by which segments are longer for each place, so that the process that gives them out is
            not the bottleneck.
    """

    first: float
    least: float
    most: float
    each: float = 0.0

    def longest(self, places: int) -> float:
        """Return the longest segment for a number of places."""
        return max(self.most, self.each * places)


HERE = Pace(0.1, 0.02, 0.25)
"""Segments on devices of this process: long compared with 1 ms for the states."""

ELSEWHERE = Pace(0.5, 0.2, 2.0, each=0.02)
"""Segments in other processes: long compared with some 10 ms for a job, 5 ms of which are the giver's."""

_LAG = 4.0
"""Segments by which a chain may fall behind in a slow place before a faster one must have it."""

_SLOW = 0.5
"""A place is slow if it does less than this part of the mean steps per second of all places."""


_WORTH = 5.0
"""Length of a segment at least, in times of what its states take to come and go."""


def seconds_of(pace: Pace, left: int, speed: float, places: int = 1, moving: float = 0.0) -> float:
    """Return the length of the next segment: half of the time that the round still takes, within limits.

    Args:
        pace: the limits.
        left: steps left, over all chains.
        speed: steps per second of all places together; 0 if unknown.
        places: number of places.
        moving: seconds that the states of a segment take to come and go.
    """
    if speed <= 0:
        return pace.first
    least = _WORTH * moving
    return max(least, min(pace.longest(places), max(pace.least, 0.5 * left / speed)))


def choose(
    left: Mapping[int, int],
    waiting: Collection[int],
    rate: float | None,
    rates: Sequence[float | None],
    units: int,
    others_idle: int,
    patience: float,
) -> list[int]:
    """Return the chains for an idle place: its share of all, those with most steps left first.

    A slow place takes those with the fewest steps left, and none that is too far behind: the last chain to
    end must be in a fast place.

    Args:
        left: steps left of each chain that is not at its target.
        waiting: those of them that are in no place.
        rate: steps per second of the place; None if unknown.
        rates: those of all places.
        units: number of its cores; each has a chain before other places have any.
        others_idle: number of other places that wait for chains; one chain is left for each.
        patience: steps by which a chain in a slow place may be behind the mean.
    """
    known = [one for one in rates if one is not None]
    mean = sum(known) / len(known) if known else 0.0
    share = 1 / len(rates) if rate is None or not mean else rate / (mean * len(rates))
    count = max(1, units, min(int(len(left) * share), len(waiting) - others_idle))
    order = sorted(waiting, key=lambda chain: (-left[chain], chain))
    if rate is None or rate >= _SLOW * mean:
        return order[:count]
    bound = sum(left.values()) / max(1, len(left)) + patience
    return [chain for chain in reversed(order) if left[chain] <= bound][:count]


def patience_of(pace: Pace, speed: float, unfinished: int) -> float:
    """Return the steps by which a chain may fall behind in a slow place."""
    return _LAG * pace.most * speed / max(1, unfinished)


WAIT_SECONDS = 0.5
"""Longest wait for an answer before stop requests are checked."""

TOGETHER_SECONDS = 0.002
"""Time in which answers count as simultaneous, so that their places can exchange chains."""

STUCK_SECONDS = 60.0
"""Time after which, with four segments more, a segment is given to another place: its place may be stuck."""


_JobPool: TypeAlias = JobPool[dict[int, int], SegmentDone]
"""Its tags are the slots of a segment, with the versions of their chains."""


class SharedRunner:
    """Chain states that a job pool advances; the methods are those of `Runner`.

    Attributes:
        plan, seed: as for `Runner`.
        slots: number of chains; each stays in its slot.
        returns_early: as for `Slots`.

    Args:
        plan, seed, slots: as the attributes.
        job_pool: the job pool; the runner closes it.
    """

    returns_early = True

    def __init__(self, plan: Plan, seed: int, slots: int, job_pool: _JobPool) -> None:
        self.plan, self.seed, self.slots = plan, seed, slots
        here = all(place.is_here for place in job_pool.places) and bool(job_pool.places)
        self._pace, self._least_round = (HERE, 2.0) if here else (ELSEWHERE, 20.0)
        self._job_pool = job_pool
        self._chains: dict[int, tuple[ChainState, ChainInfo]] = {}
        self._versions = np.zeros(slots, dtype=np.int64)
        self._out: dict[int, int] = {}
        self._work: tuple[WorkDone, ...] = ()
        self._seconds = 0.0
        self._moving = 0.0

    @property
    def round_seconds(self) -> float:
        """See `Slots`: a few segments at least."""
        return max(self._least_round, 4.0 * _WORTH * self._moving)

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """See `Runner.put`."""
        self._chains[slot] = state, info or ChainInfo(no_tallies(len(self.plan.kinds)))
        self._versions[slot] += 1  # answers for the chain that was here do not count
        self._out.pop(slot, None)

    def put_all(self, states: Sequence[ChainState]) -> None:
        """See `Runner.put_all`."""
        if len(states) != self.slots:
            raise ValueError(f"{len(states)} states for {self.slots} slots")
        for slot, state in enumerate(states):
            self.put(slot, state)

    def get(self, slot: int) -> ChainState:
        """See `Runner.get`."""
        return self._chains[slot][0]

    def info(self, slot: int) -> ChainInfo:
        """See `Runner.info`."""
        return self._chains[slot][1]

    def best_scores(self) -> NDArray[np.int64]:
        """See `Runner.best_scores`; 0 for a slot without a chain."""
        scores = np.zeros(self.slots, dtype=np.int64)
        for slot, (state, _) in self._chains.items():
            scores[slot] = state.best_score
        return scores

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """Advance chains as `Runner.advance` does, but return as soon as an answer came, or none in a while.

        Segments that are still under way go on.
        """
        begun = time.perf_counter()
        events: list[Event] = []
        left = self._left(targets)
        if left:
            self._repeat_stuck()
            self._give(targets, left)
            found = self._job_pool.collect(WAIT_SECONDS)
            if found and len(self._job_pool.places) > len(found):
                found += self._job_pool.collect(TOGETHER_SECONDS)
            for one in found:
                events += self._take(one)
        self._seconds += time.perf_counter() - begun
        steps = np.zeros(self.slots, dtype=np.int64)
        for slot, (state, _) in self._chains.items():
            steps[slot] = state.step
        return Advanced(steps, events)

    def _left(self, targets: NDArray[np.int64]) -> dict[int, int]:
        """Return the steps left of each chain that is not at its target."""
        left = {slot: int(targets[slot]) - state.step for slot, (state, _) in self._chains.items()}
        return {slot: steps for slot, steps in left.items() if steps > 0}

    def _give(self, targets: NDArray[np.int64], left: dict[int, int]) -> None:
        """Give segments to idle places, the fastest first."""
        idle = sorted(self._job_pool.idle(), key=lambda place: -(place.rate or 0.0))
        rates = [place.rate for place in self._job_pool.places]
        speed = sum(one for one in rates if one is not None) if None not in rates else 0.0
        seconds = seconds_of(self._pace, sum(left.values()), speed, len(rates), self._moving)
        patience = patience_of(self._pace, speed, len(left))
        for number, place in enumerate(idle):
            waiting = left.keys() - self._out.keys()
            if not waiting:
                return
            others = len(idle) - number - 1
            taken = choose(left, waiting, place.rate, rates, place.units, others, patience)
            if taken:
                self._send(place, taken, targets, seconds)

    def _send(self, place: Place, slots: list[int], targets: NDArray[np.int64], seconds: float) -> None:
        chains = [self._chains[slot] for slot in slots]
        segment = Segment(chains, [int(targets[slot]) for slot in slots], seconds)
        tag = {slot: int(self._versions[slot]) for slot in slots}
        self._out |= tag
        self._job_pool.submit(place, advance_segment, segment, tag)

    def _take(self, one: Finished[dict[int, int], SegmentDone]) -> list[Event]:
        """Take the chains of an answer that nothing has overtaken; return their events."""
        done = one.answer
        fresh: set[int] = set()
        for (slot, version), (state, info) in zip(one.tag.items(), done.chains, strict=True):
            if self._versions[slot] == version:
                self._versions[slot] += 1
                self._out.pop(slot, None)
                self._chains[slot] = state, info
                fresh.add(state.chain)
        one.place.units = done.units
        steps = sum(work.count for work in done.work)
        if steps and one.place.is_here and one.place.rate:  # elsewhere a segment may wait for another one
            moving = max(0.0, one.seconds - sum(work.seconds for work in done.work))
            self._moving = 0.5 * (self._moving + moving)
        if steps:
            # The first answer waited for the device to open.
            seconds = one.seconds if one.place.rate else sum(work.seconds for work in done.work)
            self._rate(one.place, steps / max(seconds, 1e-6))
        if len(fresh) == len(done.chains):
            self._work = merged_work([self._work, done.work])
        return [event for event in done.events if event.chain in fresh]

    @staticmethod
    def _rate(place: Place, rate: float) -> None:
        """Update the rate of a place: half of it is the last segment's."""
        place.rate = rate if place.rate is None else 0.5 * (place.rate + rate)

    def _repeat_stuck(self) -> None:
        """Let idle places have the chains of segments that take far too long; those no longer count."""
        if not self._job_pool.idle():
            return
        longest = self._pace.longest(len(self._job_pool.places))
        for _, tag, seconds in self._job_pool.under_way():
            if seconds > STUCK_SECONDS + 4 * longest:
                for slot, version in tag.items():
                    if self._out.get(slot) == version:
                        del self._out[slot]
                        self._versions[slot] += 1

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps so far. The wall time is divided among executors that worked at the same time."""
        return divided(self._work, self._seconds)

    @property
    def memory_bytes(self) -> int:
        """Memory of the chains' states in bytes, without that of the places."""
        return sum(one.parents.nbytes + one.best_parents.nbytes for one, _ in self._chains.values())

    def close(self) -> None:
        """Cancel the jobs in progress, and close the devices of this machine."""
        self._job_pool.close()


DEPTH = 2
"""Segments at once for each worker: one waits while the other runs."""


def open_shared(where: Several, chains: ChainsToOpen) -> Opened[SharedRunner]:
    """Return a runner of chains that several places share; see `open_runner`.

    Args:
        where: the places.
        chains: the chains; their slots are those in each place.

    Raises:
        DeviceError: a device of this machine cannot be used.
        OptionError: the encoding cannot hold the problem.
    """
    names = where.names if isinstance(where, Devices) else ()
    devices = [choose_device(name) for name in names]
    # Workers choose for themselves; this is what they choose if they have no SYCL devices.
    chosen = chains.encoding_on(devices[0] if devices else native_device())
    places = where.count() if isinstance(where, Workers) else len(names)
    steps = None if chains.steps is None else -(-chains.steps // max(1, places))
    opening = partial(open_chains, replace(chains, steps=steps), not devices)
    runner = SharedRunner(chains.plan, chains.seed, chains.count, _JobPool(where, opening, depth=DEPTH))
    return Opened(runner, None, chosen, chains.count)
