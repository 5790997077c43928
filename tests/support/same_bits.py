"""Rows of the suite of equal bits: chains, searches and inferences that run on every backend and in numpy.

`tests/suites/rows/` has the rows, `tests/suites/test_same_bits.py` runs them. A row's numpy run is made once
per process, and compared with each backend; the test on numpy itself checks it against the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pytest

from syclade.host.chains.backends import Runner
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import ChainState, Event
from tests.support.backends import (
    DEVICES,
    GPU,
    NUMPY,
    Backend,
    Seen,
    assert_equal_chains,
    assert_scores_are_right,
    marks_of,
    seen,
    stops_to,
)

__all__ = ["ChainRun", "Chains", "Places", "Row", "check", "on_devices", "on_encodings", "with_rows"]


Places = Sequence[tuple[Backend, bool]]
"""Backends, and whether `make test` runs a row there; `make verify` runs it on the others."""


def on_devices(kind: str, *, emulator: bool = True, native: bool = True) -> Places:
    """Return numpy and all devices, for what has no encodings; `kind` names it in the test's name."""
    usual = {"fpga-emu": emulator, "native": native}
    places = [(Backend(device, kind), usual.get(device, True)) for device in (*DEVICES, GPU)]
    return [(NUMPY, True), *places]


def on_encodings(
    *encodings: str,
    emulator: bool = False,
    native: bool = True,
    sycl: bool = True,
    general: bool = False,
    built: Collection[str] = (),
) -> Places:
    """Return numpy, all devices with encodings of trees, and general kernels of this processor and GPUs.

    `make test` runs precompiled kernels, and some rows on the emulator, which has the CPU device's SPIR-V.
    `make verify` runs the rest: numba takes 4 to 25 s for each kernel that is made for the sizes of a row.

    Args:
        encodings: those of mutation trees; "own" for trees that have one only.
        emulator: whether `make test` runs the row on the emulator, too.
        native: whether the package has a general kernel of this processor for it.
        sycl: whether the package has kernels for SYCL devices.
        general: whether SYCL devices run their general kernel, too.
        built: encodings of which `make test` compiles this processor's kernel for the sizes of the row.
    """
    usual = {"cpu": sycl, "fpga-emu": sycl and emulator, "native": False, GPU: True}
    found = [
        (Backend(device, name), usual[device] or (device == "native" and name in built))
        for device in (*DEVICES, GPU)
        for name in encodings
    ]
    found += [(Backend(one, "general"), usual[one]) for one in DEVICES if general and one != "native"]
    if "preorder" in encodings or "own" in encodings:
        found += [(Backend("native", "general"), native), (Backend(GPU, "general"), True)]
    if "ancestor" in encodings:
        found.append((Backend("numpy", "ancestor"), True))
    return [(NUMPY, True), *found]


class Row(Protocol):
    """Something that runs on every backend: its name in the suite, and where it runs."""

    @property
    def name(self) -> str: ...

    @property
    def places(self) -> Places: ...

    def check_numpy(self) -> None:
        """Check the run in numpy against the definitions."""

    def check(self, backend: Backend) -> None:
        """Check that the backend did all of the work, and has the bits of numpy."""


def check(row: Row, backend: Backend) -> None:
    """Run the check of a row on a backend."""
    if backend == NUMPY:
        row.check_numpy()
    else:
        row.check(backend)


def with_rows(rows: Sequence[Row]) -> pytest.MarkDecorator:
    """Parametrise a test by `row` and `backend`."""
    assert len({row.name for row in rows}) == len(rows), "names of rows differ"
    return pytest.mark.parametrize(
        ("row", "backend"),
        [
            pytest.param(
                row,
                backend,
                id=f"{row.name}-{backend.device}-{backend.encoding}",
                marks=[*marks_of(backend), *([] if usual else [pytest.mark.verification])],
            )
            for row in rows
            for backend, usual in row.places
        ],
    )


# ---- chains

EventRow = tuple[Any, ...]
Between = Callable[[Plan, Runner, int], None]


def row_of(event: Event) -> EventRow:
    """Return all that an event has, in a comparable form."""
    tree = tuple(event.parents.tolist())
    return (event.chain, event.step, event.score, event.why, event.key, event.rate_at, tree)


@dataclass
class ChainRun:
    """States of all chains at each stop, and all events."""

    at: dict[int, list[Seen]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


def usual_start(plan: Plan, seed: int, chain: int) -> ChainState:
    return initial_state(plan, seed, chain)


def scores_are_defined(plan: Plan, run: ChainRun) -> None:
    """Check every score of states, and some of events, against the definition."""
    for all_seen in run.at.values():
        for one in all_seen:
            assert_scores_are_right(plan, one.state)
    for event in run.events[:: max(1, len(run.events) // 60)]:
        assert plan.score_of(event.parents, rate_at=event.rate_at) == event.score


@dataclass(frozen=True, eq=False)
class Chains:
    """Chains of a plan, side by side in the slots of a runner.

    Attributes:
        name: name of the row.
        make_plan: makes the plan.
        places: where it runs.
        seed: seed of the run.
        count: number of chains.
        stops: steps after which all chains are compared.
        start: makes a chain's first state, from plan, seed and number.
        between: what is done to the slots after a stop, such as other rates.
        goes_on: whether chains also go on in other slots of another runner: one row of each kind is enough.
        define: checks the run in numpy.
    """

    name: str
    make_plan: Callable[[], Plan]
    places: Places = field(default_factory=lambda: on_encodings("preorder", "ancestor"))
    seed: int = 1
    count: int = 3
    stops: Sequence[int] = stops_to(119)
    start: Callable[[Plan, int, int], ChainState] = usual_start
    between: Between | None = None
    goes_on: bool = False
    define: Callable[[Plan, ChainRun], None] = scores_are_defined

    @cached_property
    def plan(self) -> Plan:
        return self.make_plan()

    @cached_property
    def expected(self) -> ChainRun:
        """The run in numpy."""
        return self.run(NUMPY, self.stops)

    @property
    def middle(self) -> int:
        """The stop after which chains go on elsewhere."""
        return self.stops[(len(self.stops) - 1) // 2]

    def run(self, backend: Backend, stops: Collection[int]) -> ChainRun:
        """Run all chains, each in its slot."""
        found = ChainRun()
        with backend.runner(self.plan, self.count, self.seed) as runner:
            for chain in range(self.count):
                runner.put(chain, self.start(self.plan, self.seed, chain))
            for stop in stops:
                found.events += advance(runner, [stop] * self.count)
                found.at[stop] = [Seen(*one) for one in runner.get_all(self.count)]
                if self.between is not None:
                    self.between(self.plan, runner, stop)
        return found

    def check_numpy(self) -> None:
        self.define(self.plan, self.expected)
        self.check_going_on(NUMPY)

    def check(self, backend: Backend) -> None:
        last = self.stops[-1]
        few = stops_to(last) if len(self.stops) > 30 else self.stops
        ours = self.run(backend, [stop for stop in self.stops if stop in few])
        for stop, all_seen in ours.at.items():
            for one, other in zip(all_seen, self.expected.at[stop], strict=True):
                assert_equal_chains(one, other)
                assert one.state.settings == other.state.settings, "settings"
        assert sorted(map(row_of, ours.events)) == sorted(map(row_of, self.expected.events))
        self.check_going_on(backend)

    def check_going_on(self, backend: Backend) -> None:
        """Check that chains go on alike in other slots of another runner.

        Their states are those of numpy in the middle, which the backend's own equal. The first slot has
        another chain, and the cached data of a slot are those of a chain that was there before.
        """
        if not self.goes_on:
            return
        last = self.stops[-1]
        other = self.start(self.plan, self.seed, self.count)
        with backend.runner(self.plan, self.count + 1, self.seed) as runner:
            for slot in range(self.count + 1):
                runner.put(slot, other)
            advance(runner, [3] * (self.count + 1))
            for chain, one in enumerate(self.expected.at[self.middle]):
                runner.put(self.count - chain, one.state, one.info)
            advance(runner, [10] + [last] * self.count)
            for chain, expected in enumerate(self.expected.at[last]):
                assert_equal_chains(seen(runner, self.count - chain), expected)


def advance(runner: Runner, targets: Sequence[int]) -> list[Event]:
    """Advance all slots to their targets, in several launches if rings of events are full."""
    events: list[Event] = []
    wanted = np.array(targets)
    while True:
        advanced = runner.advance(wanted)
        events += advanced.events
        if (advanced.steps >= wanted).all():
            return events
