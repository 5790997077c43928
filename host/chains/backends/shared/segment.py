"""Segments: some chains, advanced for a limited time in one place; the answer has their states."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.opening import ChainsToOpen, fast_start_device, open_one
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.state import ChainInfo, ChainState, Event
from syclade.host.device.cluster.jobs import IsWanted, named_by_host, work_since
from syclade.host.device.work import WorkDone

__all__ = ["Segment", "SegmentDone", "advance_segment", "open_chains"]

LAUNCH_SECONDS = 0.25
"""Target length of a launch, after which time and stop requests are checked."""

_FIRST_STEPS = 64
_GROWTH = 4
"""Most steps of the first launch, and by how much a launch may be longer than the one before."""

_MANY = 64
"""Chains from which all slots are written and read at once. Of fewer, what is there is not written."""


class OpenChains:
    """An open runner, its speed, and the chains that are still in its slots.

    Attributes:
        runner: the runner.
        names_host: as for `open_chains`.
        steps_per_second: over all its chains; 0 before the first launch.
    """

    def __init__(self, runner: Runner, names_host: bool) -> None:
        self.runner, self.names_host = runner, names_host
        self.steps_per_second = 0.0

    def close(self) -> None:
        """Close the runner."""
        self.runner.close()


def open_chains(chains: ChainsToOpen, names_host: bool, device: str) -> OpenChains:
    """Open a runner on a device, as for `choose_device`; see `fast_start_device` for `auto`.

    Args:
        chains: the chains; their steps are those that one place does, about.
        names_host: whether the work is reported with the name of the machine.
        device: the device.
    """
    fast = fast_start_device(chains.plan) if device == "auto" else None
    return OpenChains(open_one(fast or device, chains).runner, names_host)


class Segment(NamedTuple):
    """Chains to advance.

    Attributes:
        chains: state and statistics of each.
        targets: step number at which each stops.
        seconds: time after which all stop.
    """

    chains: Sequence[tuple[ChainState, ChainInfo]]
    targets: Sequence[int]
    seconds: float


class SegmentDone(NamedTuple):
    """Chains that were advanced.

    Attributes:
        chains: state and statistics of each, in the order of the segment.
        events: what they emitted, those of a chain in the order of its steps.
        work: the work that this was.
        units: compute units of the device.
    """

    chains: list[tuple[ChainState, ChainInfo]]
    events: list[Event]
    work: tuple[WorkDone, ...]
    units: int


def advance_segment(opened: OpenChains, segment: Segment, is_wanted: IsWanted) -> SegmentDone:
    """Advance chains until all are at their targets, the time is over, or the answer is not wanted.

    More chains than the runner has slots take turns, each group for its share of the time.
    """
    runner = opened.runner
    before = runner.work
    done = SegmentDone([], [], (), 1)
    for first in range(0, len(segment.chains), runner.slots):
        group = slice(first, first + runner.slots)
        chains, targets = segment.chains[group], segment.targets[group]
        seconds = segment.seconds * len(chains) / len(segment.chains)
        if many := len(chains) >= _MANY:
            runner.put_first([state for state, _ in chains], [info for _, info in chains])
        else:
            for slot, (state, info) in enumerate(chains):
                runner.put(slot, state, info)
        steps = np.array([state.step for state, _ in chains], dtype=np.int64)
        done.events.extend(_advance(opened, steps, np.array(targets, dtype=np.int64), seconds, is_wanted))
        slots = range(len(chains))
        done.chains.extend(
            runner.get_all(len(chains)) if many else [(runner.get(slot), runner.info(slot)) for slot in slots]
        )
    work = work_since(before, runner.work)
    units = max((one.executor.units for one in work), default=1)
    return done._replace(work=named_by_host(work) if opened.names_host else work, units=units)


def _advance(
    opened: OpenChains,
    steps: NDArray[np.int64],
    targets: NDArray[np.int64],
    seconds: float,
    is_wanted: IsWanted,
) -> list[Event]:
    """Advance the chains in the first slots from their steps; return their events."""
    runner, count = opened.runner, len(steps)
    events: list[Event] = []
    deadline = time.perf_counter() + seconds
    length, active = _FIRST_STEPS, np.count_nonzero(steps < targets)
    fewest = active / 2  # with fewer, the rest of the time is better spent on other chains, too
    while active and active >= fewest and is_wanted():
        left = deadline - time.perf_counter()
        if left <= 0:
            break
        if opened.steps_per_second:
            length = max(1, int(min(LAUNCH_SECONDS, left) * opened.steps_per_second / active))
        stops = np.zeros(runner.slots, dtype=np.int64)
        stops[:count] = np.minimum(targets, steps + length)
        begun, before = time.perf_counter(), int(steps.sum())
        advanced = runner.advance(stops)
        took = max(time.perf_counter() - begun, 1e-6)
        events += advanced.events
        steps = np.asarray(advanced.steps[:count])
        rate = (int(steps.sum()) - before) / took
        known = opened.steps_per_second
        opened.steps_per_second = min(rate, _GROWTH * known) if known else rate
        active = np.count_nonzero(steps < targets)
    return events
