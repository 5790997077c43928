"""Runner of searches: each slot of an engine has a search, on which a launch runs one stage.

The stages in numpy are for machines that have neither a device nor a compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.draws import Draws
from syclade.fallback.search.estimated_move import ESTIMATED
from syclade.fallback.search.exact_move import EXACT
from syclade.fallback.search.regraft_move import REGRAFT
from syclade.fallback.search.stages import Given, Stage
from syclade.fallback.search.stages import SearchState as NumpyState
from syclade.fallback.search.starts import BY_COLUMNS, BY_MUTATIONS
from syclade.fallback.search.subtree_move import SUBTREES
from syclade.host.chains.search.kernel import (
    SPARSE_STAGES,
    STAGES,
    SearchState,
    Work,
    batched_kernel,
    batched_sizes,
    is_sparse,
    noise_of,
    search_arrays,
    search_kernel,
    search_log_table,
    search_sizes,
    slots_for,
    state_from,
    teams_for,
)
from syclade.host.chains.search.policy import Phase, run_phase
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.device.compile import machine_code
from syclade.host.device.cuda import open_gpu
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.device.engines import Allocation, Engine, open_engine, traits_of
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.device.work import GENERAL, SWEEPS, WorkDone, WorkLog, merged_work
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import PROBLEM, SCRATCH
from syclade.kernels.search.arguments import ARGUMENTS
from syclade.kernels.search.batched.arguments import BATCHED_ARGUMENTS
from syclade.kernels.search.sparse.arguments import SPARSE_ARGUMENTS

__all__ = [
    "NUMPY_STAGES",
    "SearchRunner",
    "device_for_search",
    "make_search_runner",
    "numpy_engine",
]


_CODES = {name: code for code, name in enumerate(STAGES, 1)}
"""Code of each stage, as in kernels/search (`Stage.code`)."""

_STARTS = ("by-mutations", "by-columns")
"""Stages that make a tree from nothing."""

_LONG_STAGES = 1e5
"""Entries from which a search begins its next stage at once, whatever others do.

That takes 60 microseconds of the processor for each stage, which pays where stages take milliseconds. Below,
the searches in all slots end a stage before any begins the next.
"""

_SCORING = Work("estimated", 0)
"""Work that scores a tree and leaves it as it is."""

_NUMBERS = ("search", "sweep", "score", "best_score")
_TREES = ("parent", "best_parent")


class SearchRunner:
    """Runner of searches in the slots of an engine, for one problem and seed.

    Results depend neither on the number of slots nor on what other slots do.

    Attributes:
        slots: number of searches that run at once.
        executor: the device that does the sweeps, as its driver describes it.

    Args:
        problem: input of the searches.
        engine: has the arrays of the searches; the runner closes it.
        load: (stage) -> number of its kernel in the engine; called at the stage's first use.
        kernel: name of the kernels, as in `WorkDone`.
        starts: runner with as many slots, for starts on a sample of the columns, which this runner closes;
            None to start with all columns.
    """

    def __init__(
        self,
        problem: SearchProblem,
        engine: Engine,
        load: Callable[[str], int],
        kernel: str,
        starts: SearchRunner | None = None,
    ) -> None:
        self.problem = problem
        self.slots = engine.slots
        self.executor = engine.device
        self._engine = engine
        self._load = cache(load)
        self._starts = starts
        self._overlaps = engine.overlaps and problem.weights.size >= _LONG_STAGES
        self._log = WorkLog(engine.device, kernel, SWEEPS, engine.slots)
        self._waiting: dict[int, Work] = {}
        self._tokens: dict[int, Any] = {}
        self._sweeps = np.zeros(engine.slots, dtype=np.int64)
        self._since = 0.0

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The sweeps so far; empty if there were none."""
        starts = () if self._starts is None else self._starts.work
        return merged_work([self._log.work, starts])

    def put(self, slot: int, state: SearchState) -> None:
        """Put a search into a slot; its tree must be valid."""
        trees = {"parent": self._padded(state.parents), "best_parent": self._padded(state.best_parents)}
        self._engine.put(slot, {**{name: getattr(state, name) for name in _NUMBERS}, **trees})
        self._log.put(slot, state.sweep)
        self._sweeps[slot] = state.sweep

    def get(self, slot: int) -> SearchState:
        """Return the search in a slot."""
        nodes = self.problem.mutations + 1
        fields = self._engine.get(slot, (*_NUMBERS, *_TREES))
        search, sweep, score, best_score = (int(fields[name]) for name in _NUMBERS)
        parents, best_parents = (fields[name][:nodes] for name in _TREES)
        return SearchState(search, sweep, parents, score, best_parents, best_score)

    def begin(self, slot: int, work: Work) -> None:
        """Begin a stage in a slot in which none runs; `ended` returns its score.

        Raises:
            ValueError: as for `run`.
        """
        if not self._overlaps:
            self._waiting[slot] = work
        elif self._starts is not None and work.stage in _STARTS:
            self._starts.put(slot, self.get(slot))
            self._starts._begin(slot, work)
        else:
            self._begin(slot, work)

    def _begin(self, slot: int, work: Work) -> None:
        """Begin a stage here, beside those in other slots."""
        self._check_room([work])
        write = self._engine.write
        write("stage", _CODES[work.stage], slot)
        write("repeats", work.sweeps, slot)
        write("noise", noise_of(work, self.problem.unit), slot)
        if not self._tokens:
            self._since = time.perf_counter()
        self._tokens[slot] = self._engine.begin(self._load(work.stage), slot)

    def ended(self) -> dict[int, int]:
        """Wait until stages have ended, in at least one slot; return the scores of all that have, by slot.

        Where they do not overlap, all that have begun are one launch.
        """
        if self._waiting:
            works = [self._waiting.get(slot) for slot in range(self.slots)]
            self._waiting.clear()
            scores = self.run(works)
            return {slot: int(scores[slot]) for slot, work in enumerate(works) if work is not None}
        found: dict[int, int] = {}
        while not found:
            under_way = [(self, slot, token) for slot, token in self._tokens.items()]
            if self._starts is not None:
                under_way += [(self._starts, slot, token) for slot, token in self._starts._tokens.items()]
            for at in self._engine.ended([token for _, _, token in under_way]):
                runner, slot, _ = under_way[at]
                score = runner._end(slot)
                if runner is self:
                    found[slot] = score
                else:
                    self._take_start(runner, slot)
                    self._begin(slot, _SCORING)
        return found

    def finish(self) -> None:
        """Wait for the end of all stages that have begun."""
        while self._tokens or (self._starts is not None and self._starts._tokens):
            self.ended()

    def _end(self, slot: int) -> int:
        """Note the end of a stage in a slot; return the score."""
        del self._tokens[slot]
        self._sweeps[slot] = int(self._engine.read("sweep", slot))
        now = time.perf_counter()
        self._log.launched(self._sweeps, now - self._since)
        self._since = now
        return int(self._engine.read("score", slot))

    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """Run one stage in each slot, or nothing, and wait.

        Args:
            works: one per slot; None to do nothing.

        Returns:
            int64, shape (slots,): score of each slot's tree, in the problem's units.

        Raises:
            ValueError: a slot is to start by columns, and the arrays are too small for that.
        """
        if self._starts is not None:
            works = self._start_on_sample(self._starts, works)
        started = time.perf_counter()
        self._check_room(works)
        write = self._engine.write
        write("stage", [0 if work is None else _CODES[work.stage] for work in works])
        write("repeats", [0 if work is None else work.sweeps for work in works])
        write("noise", [0 if work is None else noise_of(work, self.problem.unit) for work in works])
        self._engine.launch([None if work is None else self._load(work.stage) for work in works])
        scores, sweeps = self._engine.read("score"), self._engine.read("sweep")
        self._log.launched(sweeps, time.perf_counter() - started)
        self._sweeps[:] = sweeps
        return scores

    def _check_room(self, works: Sequence[Work | None]) -> None:
        room = self._engine.sizes["joints"] >= 2 * self.problem.columns
        if not room and any(work is not None and work.stage == "by-columns" for work in works):
            raise ValueError("a start by columns, and the runner was not made for one")

    def load(self, stages: Sequence[str]) -> None:
        """Load the kernels of stages.

        Raises:
            DeviceError: one cannot be compiled, or the driver refuses it.
        """
        for stage in stages:
            if self._starts is not None and stage in _STARTS:
                self._starts.load([stage])
            else:
                self._load(stage)

    def _start_on_sample(self, starts: SearchRunner, works: Sequence[Work | None]) -> list[Work | None]:
        """Make the first trees of searches that start; return the remaining work, which scores them."""
        starting = [work if work is not None and work.stage in _STARTS else None for work in works]
        slots = [slot for slot, work in enumerate(starting) if work is not None]
        for slot in slots:
            starts.put(slot, self.get(slot))
        if slots:
            starts.run(starting)
        for slot in slots:
            self._take_start(starts, slot)
        return [works[at] if work is None else _SCORING for at, work in enumerate(starting)]

    def _take_start(self, starts: SearchRunner, slot: int) -> None:
        """Put the tree of a start into the same slot here."""
        before, made = self.get(slot), starts.get(slot)
        self.put(slot, state_from(replace(before, sweep=made.sweep), made.parents))

    def run_phase(
        self,
        states: Sequence[SearchState],
        phases: Sequence[Phase],
        launched: Callable[[Sequence[int]], None],
    ) -> list[SearchState]:
        """Run one phase of every search; see `phases.run_phase`."""
        return run_phase(self, states, phases, launched)

    def _padded(self, parents: NDArray[np.int32]) -> NDArray[np.int32]:
        nodes = self._engine.sizes["nodes"]
        padded = np.arange(nodes, dtype=np.int32)
        padded[: len(parents)] = parents
        return padded

    def close(self) -> None:
        """Free the memory."""
        self._engine.close()
        if self._starts is not None:
            self._starts.close()


def make_search_runner(
    device: Device,
    problem: SearchProblem,
    slots: int,
    seed: int,
    *,
    by_columns: bool,
    stages: Sequence[str] = (),
    sparse: Collection[str] | None = None,
) -> SearchRunner:
    """Return a runner of `slots` searches on a device; other processes begin to translate its kernels.

    Args:
        device: a usable device.
        problem: input of the searches.
        slots: number of searches that run at once; a GPU has fewer slots if that is faster, or if they would
            not fit.
        seed: seed of the random numbers, 0 ... 2^64-1.
        by_columns: whether the start by columns will be used, which needs more memory.
        stages: stages that will run, in the order of their first use.
        sparse: stages that run in their sparse form; None for those where it is faster. Results are the same.

    Raises:
        DeviceError: searches do not run on the device, or it does not open, cannot build a kernel, or has too
            little memory.
    """
    if device.kind == "cuda" and sparse is None:
        slots = _slots_on_gpu(device, problem, slots, by_columns)
    sample, starts = problem.sample(), None
    if sample is not problem:
        starting = [stage for stage in stages if stage in _STARTS]
        starts = make_search_runner(device, sample, slots, seed, by_columns=by_columns, stages=starting)
        by_columns, stages = False, [stage for stage in stages if stage not in _STARTS]
    traits = traits_of(device)
    sizes = search_sizes(problem, slots, by_columns, traits.lanes)
    if device.kind == "numpy":
        engine, load = numpy_engine(problem, sizes, seed)
        return SearchRunner(problem, engine, load, NUMPY.kind, starts)
    if device.kind == "python":
        raise DeviceError(
            "searches do not run on the device python", hint=f"use {flag_of('method', 'chain')}"
        )
    if device.kind == "cuda" and sparse is None:
        sizes = batched_sizes(sizes, teams_for(device.units, sizes))
        blocks = open_engine(
            device, Allocation(BATCHED_ARGUMENTS, sizes, search_arrays(problem, sizes, seed))
        )
        blocks.prepare([batched_kernel(stage) for stage in stages])
        return SearchRunner(
            problem, blocks, lambda stage: blocks.load(batched_kernel(stage)), GENERAL, starts
        )
    if sparse is None:
        sparse = [stage for stage in STAGES if device.kind == "native" and is_sparse(stage, problem)]
    arguments = SPARSE_ARGUMENTS if sparse else ARGUMENTS
    on_device = open_engine(device, Allocation(arguments, sizes, search_arrays(problem, sizes, seed)))
    on_device.prepare([search_kernel(stage, traits, sparse=stage in sparse) for stage in stages])

    def load_stage(stage: str) -> int:
        return on_device.load(search_kernel(stage, traits, sparse=stage in sparse))

    return SearchRunner(problem, on_device, load_stage, GENERAL, starts)


def _slots_on_gpu(device: Device, problem: SearchProblem, searches: int, by_columns: bool) -> int:
    """Return the number of slots on a GPU: at least one, and no more than its free memory has room for."""
    slots = slots_for(device.units, searches)
    free = open_gpu(device).free_bytes()
    while slots > 1 and _bytes_on_gpu(device, problem, slots, by_columns) > free:
        slots -= 1
    return slots


def _bytes_on_gpu(device: Device, problem: SearchProblem, slots: int, by_columns: bool) -> int:
    """Return the memory of searches and of their starts, in bytes."""
    sample = problem.sample()
    total = 0 if sample is problem else _bytes_on_gpu(device, sample, slots, by_columns)
    sizes = search_sizes(problem, slots, by_columns and sample is problem, traits_of(device).lanes)
    sizes = batched_sizes(sizes, teams_for(device.units, sizes))
    return total + sum(one.nbytes(sizes) for one in BATCHED_ARGUMENTS)


def device_for_search(device: Device, stages: Sequence[str]) -> Device:
    """Return the device for a search if `auto` has chosen one: this processor instead of a CPU device.

    The driver of a CPU device takes seconds to translate the kernels of a search. Most searches take no
    longer than that in all, and long ones are no faster on the CPU device (docs/performance.md). The choice
    stays as it is unless the machine code of all stages is cached or precompiled.

    Args:
        device: the device that `auto` has chosen.
        stages: stages of the search.
    """
    kernels = [search_kernel(stage) for stage in stages]
    kernels += [search_kernel(stage, sparse=True) for stage in SPARSE_STAGES if stage in stages]
    ready = device.kind == "cpu" and all(machine_code.is_compiled(kernel) for kernel in kernels)
    return native_device() if ready else device


NUMPY_STAGES: dict[str, Stage] = {
    "estimated": ESTIMATED,
    "subtrees": SUBTREES,
    "regraft": REGRAFT,
    "exact": EXACT,
    "by-mutations": BY_MUTATIONS,
    "by-columns": BY_COLUMNS,
}
"""Numpy implementation of every stage in `work.STAGES`."""


def numpy_engine(
    problem: SearchProblem, sizes: Mapping[str, int], seed: int
) -> tuple[NumpyEngine, Callable[[str], int]]:
    """Return an engine with the states of searches, and the function that loads a stage into it."""
    kept = [argument for argument in ARGUMENTS if argument.role not in (PROBLEM, SCRATCH)]
    engine = NumpyEngine(NUMPY, Allocation(kept, sizes))
    given = Given(problem.weights, problem.falling, problem.fullest)

    def load(stage: str) -> int:
        return engine.load(partial(_run, stage, given, seed))

    return engine, load


def _run(stage: str, given: Given, seed: int, arrays: dict[str, Array], slots: NDArray[np.intp]) -> None:
    """Run a stage on the searches in these slots, one after another."""
    nodes = len(given.falling) + 1
    trees, best_trees = arrays["parent"], arrays["best_parent"]
    for slot in slots.tolist():
        search, sweep, score, best_score, repeats, noise = (
            int(arrays[name][slot]) for name in _GIVEN_NUMBERS
        )
        state = NumpyState(trees[slot, :nodes], score, sweep, best_trees[slot, :nodes], best_score)
        NUMPY_STAGES[stage](given, state, Draws(seed, search, search_log_table()), repeats, noise)
        arrays["sweep"][slot], arrays["score"][slot] = state.sweep, state.score
        arrays["best_score"][slot] = state.best_score
        trees[slot, :nodes], best_trees[slot, :nodes] = state.parents, state.best_parents


_GIVEN_NUMBERS = ("search", "sweep", "score", "best_score", "repeats", "noise")
