"""Loops of the stage kernels have fixed trip counts, equal to those that `syclade design` uses.

The kernels run in Python, with a `range` that counts. A loop that is distributed over lanes counts once per
lane, as a card would count work-items.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import numpy as np
import pytest

import syclade.kernels
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.backends.stages.launcher import InStage, run_pipeline
from syclade.host.chains.backends.stages.opening import open_stages
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.runs.pipeline import initial_state
from syclade.kernels.ancestor.stage_arguments import STAGES
from syclade.kernels.target.python import TRAITS
from syclade.quality.design.reader import load_design
from tests.support.backends import Backend, Case

DEVICE_CODE = ("syclade.kernels.ancestor", "syclade.kernels.chain", "syclade.kernels.moves")


class Loop(NamedTuple):
    """Loop of device code, identified by its stage and function."""

    stage: str
    function: str


MODELLED = {
    "subtree sizes": Loop("propose", "count"),
    "selection": Loop("propose", "select"),
    "tree update": Loop("tree_update", "tree_update"),
    "score mapping": Loop("score_mapping", "ancestor_score_mapping"),
    "reduction": Loop("reduction", "share_of"),
    "take rows": Loop("reduction", "take_rows"),
}
"""Stages of the preset, each with the loop nest that it models."""

UNROLLED = {
    Loop("propose", "draw_batch"): "boundaries between moves",
    Loop("propose", "philox_4x32_10"): "rounds, each a part of the circuit",
    Loop("propose", "negative_log_uniform"): "bits of a shift",
    Loop("find_parent", "ancestor_find_parent"): "words of a row",
    Loop("score_mapping", "worth_at"): "values and words",
    Loop("reduction", "decide"): "counts of steps",
    Loop("reduction", "count"): "counts of steps",
    Loop("reduction", "total"): "lanes",
}
"""Short loops that a circuit unrolls: the preset has no trips for them."""

TRANSFERS = {"io send", "worker receive", "draws", "find parent", "worker send", "io receive"}
"""Stages of the preset without a loop in the kernels: transfers of rows, and single trips."""

SCORES = {"mapping send", "reduction receive"}
"""Stages that transfer scores, as exported projects do (tests/quality/test_design_measured.py)."""


Trips = dict[str, list[Counter[str]]]
"""Trips per stage and launch, by function."""


class Counting:
    """Counter of iterations of innermost loops in device code, by function."""

    def __init__(self) -> None:
        self.trips: Counter[str] = Counter()
        self.active = False
        self._open: list[list[object]] = []

    def range(self, *bounds: int) -> Iterable[int]:
        """Return the built-in range, counted while kernels run."""
        return self._counted(sys._getframe(1), *bounds) if self.active else range(*bounds)

    def _counted(self, frame: FrameType, *bounds: int) -> Iterator[int]:
        """Count the trips of a loop that contains no other loop of the same function."""
        if self._open:
            self._open[-1][1] = self._open[-1][1] or self._open[-1][0] is frame
        mine: list[object] = [frame, False]
        self._open.append(mine)
        trips = 0
        for number in range(*bounds):
            yield number
            trips += 1
        self._open.remove(mine)
        if not mine[1]:
            self.trips[frame.f_code.co_name] += trips

    def of_one_run(self) -> Counter[str]:
        """Return the trips since the last call."""
        found, self.trips = self.trips, Counter()
        return found


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counter = Counting()
    with Backend("python", "ancestor").runner(Case(3, 5).plan(), 1, 1):
        pass  # imports all device code
    for name, module in list(sys.modules.items()):
        if name.startswith(DEVICE_CODE):
            monkeypatch.setattr(module, "range", counter.range, raising=False)
    return counter


def trips_of_stages(counting: Counting, case: Case, steps: int) -> tuple[Trips, list[int]]:
    """Return the trips of every launch of every stage, and how often each kind of move was proposed."""
    plan = case.plan()
    runner, _, _ = open_stages("python", plan, chains=2, slots=2, seed=1)
    runner.put_all([initial_state(plan, 1, chain) for chain in range(2)])
    runner._engine.write("last_step", np.full(2, steps))
    found: Trips = {name: [] for name in STAGES}

    def seen(stage: int, _state: InStage, _token: object) -> None:
        found[list(STAGES)[stage]].append(counting.of_one_run())

    counting.active = True
    run_pipeline(runner._launcher, [steps, steps], seen)
    counting.active = False
    moves = (runner.info(0).tallies[:4] + runner.info(1).tallies[:4]).tolist()
    runner.close()
    return found, moves


def test_trip_counts_depend_on_nothing(counting: Counting) -> None:
    """Trip counts are equal for every move, and for trees with padding or without."""
    case = Case(15, 16, moves=(0.4, 0.2, 0.4))
    smaller = Case(11, 9, moves=(0.4, 0.2, 0.4))
    full, moves = trips_of_stages(counting, case, 30)
    padded, _ = trips_of_stages(counting, smaller, 30)
    assert all(moves)
    for stage in STAGES:
        assert all(one == full[stage][0] for one in (*full[stage], *padded[stage])), stage


def test_the_fused_kernel_has_other_trip_counts(counting: Counting) -> None:
    """Control: in the fused kernel the proposer's loops run only when a move needs them."""
    plan = Case(15, 16, moves=(0.4, 0.2, 0.4)).plan()
    with Backend("python", "ancestor").runner(plan, 1, 1) as fused:
        fused.put_all([initial_state(plan, 1, 0)])
        counting.active = True
        found = []
        for step in range(1, 20):
            fused.advance(np.array([step]))
            found.append(counting.of_one_run())
    assert len({one["subtree_size"] for one in found}) > 1
    assert len({one["select"] for one in found}) > 1


@pytest.mark.parametrize("n_max", [16, 64, 128])
def test_the_preset_counts_the_trips_of_the_kernels(counting: Counting, n_max: int) -> None:
    case = Case(n_max - 1, n_max - 3, moves=(0.4, 0.2, 0.4))
    plan = case.plan()
    encoding = AncestorEncoding(plan.problem, TRAITS)
    constants = encoding.constants
    assert constants["nodes"] == constants["cells"] == n_max
    lanes = {one.name: one.kernel.lanes for one in stage_kernels(plan, encoding)}
    made, _ = trips_of_stages(counting, case, 3)
    trips = {name: launches[0] for name, launches in made.items()}
    counted = {Loop(stage, function) for stage, found in trips.items() for function in found}
    assert counted == {*MODELLED.values(), *UNROLLED}, "a loop that the preset does not know"

    design = load_design("syclade-ancestor").changed({"n_max": n_max, "cells_max": n_max})
    assert {stage.name for stage in design.stages} == MODELLED.keys() | TRANSFERS | SCORES
    sizes = {"nodes": constants["nodes"], "cells": constants["cells"]}
    for stage in design.stages:
        if stage.name in SCORES:
            continue
        if stage.name in TRANSFERS:
            assert not set(stage.loops) & set(sizes), stage.name
            continue
        kernel, function = MODELLED[stage.name]
        words = constants["words"] if function in ("tree_update", "take_rows") else 1
        expected = np.prod([sizes[dimension] for dimension in stage.loops])
        assert trips[kernel][function] * lanes[kernel] == expected * words, stage.name


def test_the_preset_names_files_that_there_are() -> None:
    root = next(iter(syclade.kernels.__path__))
    design = load_design("syclade-ancestor")
    sources = [stage.source for stage in design.stages] + [one.source for one in design.parameters.values()]
    named = {
        word.strip(",:()") for source in sources for word in source.split() if word.startswith("kernels/")
    }
    assert len(named) >= 5
    for name in named:
        assert (Path(root) / name.removeprefix("kernels/")).is_file(), name
