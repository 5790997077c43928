"""Discrete-event simulation of the macro-pipeline with c chain states in flight.

Chain states queue at the stages, in order. A stage works on one state at a time, for as many cycles as the
throughput model says. IO follows the thesis (algorithm 3.10): it fills the c slots with initial states. When
a state returns, IO sends it again, or sends the next initial state instead, as the host's `SlotSchedule`
decides. Pipes are unbounded. Cycles are exact, without randomness: if only a share of the steps uses a stage,
these steps are evenly spread.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.chains.schedule import SlotSchedule
from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import Design
from syclade.quality.design.throughput import input_size, predict, stage_cycles

__all__ = ["Interval", "Run", "UtilisationPoint", "simulate", "utilisation_by_capacity"]


@dataclass(frozen=True)
class Interval:
    """Work of a stage on one state.

    Attributes:
        stage: name of the stage.
        slot: slot of the state.
        chain: chain in that slot.
        step: step of the chain, from 0.
        start: cycle in which the work starts.
        end: cycle in which the stage is free again.
    """

    stage: str
    slot: int
    chain: int
    step: int
    start: float
    end: float


@dataclass(frozen=True)
class Run:
    """Outcome of a simulated run.

    Attributes:
        capacity: number of slots, c.
        chains: number of chains.
        steps: steps of each chain.
        cycles: cycles from the first send to the last return.
        cycles_per_step: cycles between returns late in the run.
        ksteps_per_s: throughput at that rate, over all replications.
        utilisation: that throughput as a fraction of the full pipeline's.
        occupancy: fraction of the time late in the run in which each stage works, by name of the stage.
        finished: (chain, steps done), in the order in which chains finished.
        timeline: intervals that start within the requested first cycles, in order of their start.
    """

    capacity: int
    chains: int
    steps: int
    cycles: float
    cycles_per_step: float
    ksteps_per_s: float
    utilisation: float
    occupancy: dict[str, float]
    finished: tuple[tuple[int, int], ...]
    timeline: tuple[Interval, ...]


@dataclass(frozen=True)
class UtilisationPoint:
    """Simulated throughput with one number of states in flight."""

    capacity: int
    ksteps_per_s: float
    utilisation: float


def simulate(
    design: Design,
    cells: int | None = None,
    mutations: int | None = None,
    *,
    capacity: int | None = None,
    chains: int | None = None,
    steps: int = 64,
    timeline: float = 0.0,
) -> Run:
    """Run chains through a design.

    Args:
        design: the design.
        cells: cells of the input; by default the largest number.
        mutations: mutations of the input; by default the largest number.
        capacity: number of slots, c; by default the design's own.
        chains: number of chains; by default twice the slots.
        steps: steps of each chain.
        timeline: number of cycles, from the start, in which to record intervals.

    Raises:
        OptionError: a number is out of range, or the design cannot hold the input.
    """
    capacity = design.capacity if capacity is None else capacity
    if capacity < 1:
        raise OptionError(f"capacity {capacity} is less than 1", hint="give at least 1 slot")
    chains = 2 * capacity if chains is None else chains
    if chains < 1:
        raise OptionError(f"number of chains {chains} is less than 1", hint="give at least 1 chain")
    pipeline = _Pipeline(design, *input_size(design, cells, mutations), timeline)
    finished = pipeline.run(SlotSchedule(chains, steps, capacity))
    rate, occupancy = pipeline.steady(min(capacity, chains))
    prediction = predict(design, cells, mutations)
    full = prediction.ksteps_per_s * prediction.cycles_per_step
    return Run(
        capacity=capacity,
        chains=chains,
        steps=steps,
        cycles=pipeline.returns[-1],
        cycles_per_step=rate,
        ksteps_per_s=full / rate,
        utilisation=prediction.cycles_per_step / rate,
        occupancy=occupancy,
        finished=tuple(finished),
        timeline=tuple(sorted(pipeline.intervals, key=lambda each: each.start)),
    )


def utilisation_by_capacity(
    design: Design,
    capacities: Sequence[int],
    cells: int | None = None,
    mutations: int | None = None,
    *,
    steps: int = 32,
) -> list[UtilisationPoint]:
    """Return the simulated throughput for each number of slots."""
    points = []
    for capacity in capacities:
        run = simulate(design, cells, mutations, capacity=capacity, steps=steps)
        points.append(UtilisationPoint(capacity, run.ksteps_per_s, run.utilisation))
    return points


@dataclass
class _State:
    """A chain state on its way through the pipeline."""

    slot: int
    done: float
    first_word: float


class _Pipeline:
    """Clocks of the stages and event queue of one run."""

    def __init__(self, design: Design, cells: int, mutations: int, keep: float) -> None:
        self._stages = design.stages
        self._cycles = [stage_cycles(design, stage, cells, mutations) for stage in design.stages]
        self._shares = [design.value(stage.share) for stage in design.stages]
        self._ring_depth = design.value("ring_depth")
        self._free = [0.0] * len(design.stages)
        self._passed = [0] * len(design.stages)
        self._events: list[tuple[float, int, int, _State]] = []
        self._order = 0
        self._keep = keep
        self._work: list[tuple[float, int, float]] = []
        self.intervals: list[Interval] = []
        self.returns: list[float] = []

    def run(self, schedule: SlotSchedule) -> list[tuple[int, int]]:
        """Run all steps of all chains, and return (chain, steps) in the order in which chains finished."""
        finished = []
        for slot, chain in enumerate(schedule.occupants):
            if chain is not None:
                self._push(0.0, 0, _State(slot, 0.0, 0.0))
        while self._events:
            time, _, stage, state = heapq.heappop(self._events)
            if stage < len(self._stages):
                self._enter(time, stage, state, schedule)
                continue
            self.returns.append(time)
            steps = schedule.step_of(state.slot) + 1
            change = schedule.advance_slot(state.slot)
            if change is not None:
                finished.append((change.finished, steps))
            if schedule.occupants[state.slot] is not None:
                self._push(time, 0, _State(state.slot, time, time))
        return finished

    def steady(self, group: int) -> tuple[float, dict[str, float]]:
        """Return cycles per step and occupancies late in the run, over whole rounds of the slots.

        If there are more than three rounds, the last one is left out because the pipeline drains in it.
        """
        rounds = len(self.returns) // group
        last = len(self.returns) - 1 - (group if rounds > 3 else 0)
        count = max(1, (rounds - 1) // 2) * group
        first = max(0, last - count)
        begin = self.returns[first] if last > first else 0.0
        span = self.returns[last] - begin
        work = dict.fromkeys((stage.name for stage in self._stages), 0.0)
        for start, index, cycles in self._work:
            overlap = min(start + cycles, begin + span) - max(start, begin)
            work[self._stages[index].name] += max(0.0, overlap)
        rate = span / max(1, last - first)
        return rate, {name: cycles / span for name, cycles in work.items()}

    def _push(self, time: float, stage: int, state: _State) -> None:
        heapq.heappush(self._events, (time, self._order, stage, state))
        self._order += 1

    def _enter(self, time: float, index: int, state: _State, schedule: SlotSchedule) -> None:
        """Process a state that reaches the head of a stage's queue at ``time`` at the earliest."""
        stage, cycles = self._stages[index], self._cycles[index]
        if not self._uses(index):
            cycles = 0.0
        start = max(time, self._free[index])
        # A streaming stage cannot end before the last word has arrived.
        end = max(start + cycles, state.done)
        self._free[index] = end
        self._record(index, state, start, end, schedule)
        state.first_word, state.done = start + stage.depth, end + stage.depth
        following = index + 1
        if following == len(self._stages):
            self._push(state.done + self._ring_depth, following, state)
        else:
            streams = self._stages[following].streams
            self._push(state.first_word if streams else state.done, following, state)

    def _uses(self, index: int) -> bool:
        """Return whether the next state uses the stage; uses are evenly spread over the states."""
        share, passed = self._shares[index], self._passed[index]
        self._passed[index] += 1
        return math.floor((passed + 1) * share + 1e-9) > math.floor(passed * share + 1e-9)

    def _record(self, index: int, state: _State, start: float, end: float, schedule: SlotSchedule) -> None:
        if end <= start:
            return
        self._work.append((start, index, end - start))
        chain = schedule.occupants[state.slot]
        if start < self._keep and chain is not None:
            name = self._stages[index].name
            self.intervals.append(Interval(name, state.slot, chain, schedule.step_of(state.slot), start, end))
