"""Backends that can run a chain, and the small inputs that the suites run on all of them.

To add a device, add its name to DEVICES. The encodings are those of `host/chains/encodings/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner, make_runner
from syclade.host.chains.encodings import ENCODINGS, Encoding, choose_encoding, for_device, make_encoding
from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import Plan, chain_kernel, chain_sizes, log_tables, make_plan
from syclade.host.chains.runs.pipeline import initial_state, state_at
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import Problem, SlotRates, make_problem
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import initial_parents
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.precompiled import PTX, is_shipped
from syclade.host.device.device import Device
from syclade.host.device.engines import Allocation, traits_of
from syclade.host.device.engines.cuda import near_arguments
from syclade.host.device.engines.sycl import SyclEngine
from syclade.host.device.work import GENERAL, SPECIALISED
from syclade.host.device.workarounds.compiler import UNKNOWN
from syclade.host.ground.options.types import DEFAULT_MOVE_PROBABILITIES
from syclade.kernels.arguments import STATE, Argument
from syclade.kernels.target.traits import Traits
from syclade.quality.oracle import chain as oracle
from syclade.quality.oracle.acceptance import Tables
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.score import tree_score
from tests.conftest import HAS_PINNED_STACK, HAS_SYCL_WHEELS
from tests.support.did_all import assert_did_all
from tests.support.evidence import random_evidence

DEVICES = ("cpu", "fpga-emu", "native")
GPU = "cuda"
"""Device of tests with the marker `cuda`, which only `pytest -m cuda` runs: it needs an NVIDIA GPU."""
QUICKEST = "cpu" if HAS_SYCL_WHEELS else "numpy"
"""Device for many steps of kernels of the package; all devices have the same bits."""


@dataclass(frozen=True)
class Backend:
    """Device and encoding; the encoding uses the traits of the device's target, or the given ones."""

    device: str
    encoding: str
    traits: Traits | None = None

    @contextmanager
    def runner(self, plan: Plan, slots: int, seed: int) -> Iterator[Runner]:
        device = choose_device(self.device)
        encoding = _encoding(self.encoding, plan, device, self.traits or traits_of(device))
        kernel = GENERAL if encoding.device.endswith(":GENERAL") else SPECIALISED
        if device.kind == GPU and kernel == GENERAL:
            assert is_shipped_for_gpus(plan, encoding)
        made = make_runner(device, plan, encoding, slots, seed, kernel=kernel)
        assert_did_all(made, self.device)
        try:
            yield made
        finally:
            made.close()


def is_shipped_for_gpus(plan: Plan, encoding: Encoding) -> bool:
    """Return whether the kernel that a GPU would run is a part of the package."""
    kernel = chain_kernel(plan, encoding)
    near, _ = near_arguments(kernel, chain_sizes(plan, encoding, 1))
    return is_shipped(kernel, PTX, [one.name for one in near])


def _encoding(name: str, plan: Plan, device: Device, traits: Traits) -> Encoding:
    """Return the encoding that a run would use; `general` reads its sizes at run time where possible.

    Trees that have one encoding only have that one, by any name; `own` is what `auto` chooses.
    """
    if name == "own" or plan.space.encoding or plan.problem.of_cells:
        made = choose_encoding("auto", device, plan.problem, plan.space.encoding, shares=plan.score.shares)
        if name == "general":
            made = made.general() or made
            assert made.device.endswith(":GENERAL")
        return made
    if name == "general":
        general = PreorderEncoding(plan.problem, traits)
        return general.general() or general
    return for_device(device, make_encoding(name)(plan.problem, traits))


NUMPY = Backend("numpy", "plain")
BACKENDS = [
    *(Backend(device, name) for name in ENCODINGS for device in DEVICES),
    Backend("native", "general"),
    Backend("numpy", "ancestor"),
    NUMPY,
]
"""All backends of runs, except the general kernel on SYCL devices."""

WITH_GENERAL = [*(Backend(device, "general") for device in DEVICES if device != "native"), *BACKENDS]
"""Backends for chains of the maximum score without recorders; the general kernel runs no others."""


def marks_of(backend: Backend) -> list[pytest.MarkDecorator]:
    """Return the marks of the backend's tests."""
    if backend.device == GPU:
        return [pytest.mark.cuda]
    return [] if backend.device in ("native", "numpy") else [pytest.mark.sycl]


def runs_here(backend: Backend) -> bool:
    """Return whether the backend's tests can run on this stack."""
    return HAS_PINNED_STACK or backend.device != "fpga-emu"


def _marked(backend: Backend) -> Any:
    """Return a parameter; kernels that numba compiles for a size, in 20 s, are for `make verify`."""
    own = [pytest.mark.verification] if backend == Backend("native", "preorder") else []
    name = f"{backend.device}-{backend.encoding}"
    return pytest.param(backend, id=name, marks=[*marks_of(backend), *own])


with_general = pytest.mark.parametrize("backend", [_marked(backend) for backend in WITH_GENERAL])


def stops_to(last: int) -> tuple[int, ...]:
    """Return after which steps to look: each of the first 15, every 15th of the others, and the last.

    A chain that is wrong once stays wrong, and each launch takes as long as several steps.
    """
    every = range(1, last + 1)
    return tuple(sorted({*every[:15], *every[24::15], last}))


@dataclass(frozen=True, eq=False)
class Seen:
    """Chain in a slot: its state, and the info reported with it."""

    state: ChainState
    info: ChainInfo

    @property
    def tallies(self) -> NDArray[np.int64]:
        return self.info.tallies


def seen(runner: Runner, slot: int) -> Seen:
    return Seen(runner.get(slot), runner.info(slot))


@dataclass(frozen=True)
class Case:
    """Input with the settings of its chain, and the oracle's result for it.

    `kind`: random, missing (also one row and one column of 3s), nothing (only 3s), duplicates (three distinct
    columns), zygosity (some 2s, with two rates for them), or evidence (log odds of many levels).
    """

    n: int
    m: int
    seed: int = 1
    kind: str = "random"
    gamma: float = 1.0
    moves: tuple[float, float, float] = DEFAULT_MOVE_PROBABILITIES

    @property
    def values(self) -> NDArray[np.uint8]:
        """Observed values, uint8, shape (n, m)."""
        shape = (self.n, self.m)
        values = np.random.default_rng(self.n * 1000 + self.m).choice([0, 1, 3], shape, p=[0.5, 0.35, 0.15])
        if self.kind == "missing":
            values[0] = 3
            values[:, self.m // 2] = 3
        if self.kind == "nothing":
            values[:] = 3
        if self.kind == "duplicates":
            values = values[:, np.arange(self.m) % 3]
        if self.kind == "zygosity":
            values[np.random.default_rng(self.n).random(shape) < 0.2] = 2
        return values.astype(np.uint8)

    def problem(self) -> Problem:
        if self.kind == "evidence":
            return make_problem(*random_evidence(self.n, self.m, self.seed))
        rates = Rates(0.02, 0.2, 0.25, 0.005) if self.kind == "zygosity" else Rates(0.02, 0.2)
        return make_problem(matrix_from_array(self.values), rates)

    def plan(self, **parts: Any) -> Plan:
        """Return the plan of the chain; `parts` replace the usual ones."""
        settings: dict[str, Any] = {"gamma": self.gamma, "move_probabilities": self.moves}
        return make_plan(self.problem(), **settings | parts)

    def start(self, chain: int, first_step: int = 0) -> ChainState:
        """Return the initial state of the chain, at step `first_step`."""
        plan = self.plan()
        return state_at(plan, initial_state(plan, self.seed, chain).parents, chain, first_step)

    def trace(self, chain: int, steps: int, first_step: int = 0) -> tuple[oracle.Trace, ...]:
        """Return the oracle's chain as one trace per step, each with the state after it."""
        return _trace(self, chain, steps, first_step)


def four_weights(problem: Problem) -> tuple[int, int, int, int]:
    """Return the integer weights of the observed values 0 to 3, in the oracle's format."""
    by_value = dict(zip(problem.values, problem.rates.weights, strict=False))
    return (by_value.get(0, 0), by_value.get(1, 0), by_value.get(2, 0), 0)


def oracle_tables(plan: Plan) -> Tables:
    made = log_tables(plan.problem.mutations, plan.problem.unit, plan.gamma)
    return Tables(tuple(made.log_table.tolist()), tuple(made.log_sizes.tolist()))


@cache
def _trace(case: Case, chain: int, steps: int, first_step: int) -> tuple[oracle.Trace, ...]:
    plan, values = case.plan(), case.values
    weights, cuts, logs = four_weights(plan.problem), Cuts(*plan.move_below[:2]), oracle_tables(plan)
    tree: Any = initial_parents(case.n, case.seed, chain)
    traces: list[oracle.Trace] = []
    best, best_score = tuple(tree.tolist()), tree_score(tree, values, weights)
    for step in range(first_step, first_step + steps):
        one = oracle.run(tree, values, weights, case.seed, chain, 1, cuts, logs, first_step=step)
        tree = one.final
        if one.best_score > best_score:
            best, best_score = one.best, one.best_score
        traces.append(oracle.Trace(one.steps, one.final, best, best_score))
    return tuple(traces)


def tallies_of(traces: tuple[oracle.Trace, ...]) -> list[int]:
    """Return the counts of proposed steps (5 kinds of move), then accepted ones, as in a chain's info."""
    tallies = [0] * 10
    for trace in traces:
        (step,) = trace.steps
        tallies[step.kind] += 1
        tallies[step.kind + 5] += step.accepted
    return tallies


def assert_equal_chains(one: Seen, other: Seen) -> None:
    """Assert that all fields of the states, and the tallies, are equal."""
    assert_equal_states(one.state, other.state)
    assert np.array_equal(one.tallies, other.tallies), "tallies"


def assert_equal_states(one: ChainState, other: ChainState) -> None:
    for name in ("chain", "step", "score", "best_score", "rates", "gamma", "rate_at", "best_rate_at"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("parents", "best_parents"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def assert_scores_are_right(plan: Plan, state: ChainState) -> None:
    """Assert that the state's scores are those of its trees, by the definition of the score."""

    fixed = None if plan.problem.learns else state.rates
    settings = frozenset(state.settings.items())
    assert state.rates == (fixed or plan.problem.rates_at(state.rate_at))
    assert state.score == _defined(plan, state.parents.tobytes(), fixed, state.rate_at, settings)
    assert state.best_score == _defined(
        plan, state.best_parents.tobytes(), fixed, state.best_rate_at, settings
    )


@lru_cache(maxsize=1024)
def _defined(
    plan: Plan, tree: bytes, rates: SlotRates | None, rate_at: Places, settings: frozenset[tuple[str, int]]
) -> int:
    """Return a tree's score by its definition, which is slow; most states have the tree of another one."""
    return plan.score_of(np.frombuffer(tree, np.int32), rates, rate_at, dict(settings))


def with_rates(plan: Plan, state: ChainState, rates: SlotRates) -> ChainState:
    """Return the chain with other rates, and its current tree as the best one."""
    score = plan.score.of(plan.problem, state.parents, rates, {**plan.settings, **state.settings})
    return replace(state, rates=rates, score=score, best_parents=state.parents, best_score=score)


def run_alone(backend: Backend, case: Case, chain: int, steps: int, first_step: int = 0) -> Seen:
    """Run the chain alone in a new runner, in one launch, and return its end."""
    with backend.runner(case.plan(), 1, case.seed) as runner:
        runner.put(0, case.start(chain, first_step))
        runner.advance(np.array([first_step + steps]))
        return seen(runner, 0)


def run_kernel(
    device: str,
    factory: str,
    constants: dict[str, int],
    arrays: dict[str, NDArray[Any]],
    lanes: int,
    group: str = "work-group",
    **parts: Any,
) -> dict[str, NDArray[Any]]:
    """Launch a test kernel and return all arrays; it runs one slot of `lanes` per row of the last array."""
    arguments = tuple(Argument(name, STATE, str(a.dtype), a.shape, "") for name, a in arrays.items())
    kernel = Kernel(
        name=factory,
        factory=f"tests.support.device_checks:{factory}",
        parts=parts,
        constants=constants,
        records=(Record("Given", arguments),),
        group=group,
        lanes=lanes,
    )
    slots = len(next(reversed(arrays.values())))
    engine = SyclEngine(choose_device(device), Allocation(arguments, {"slots": slots}))
    for name, array in arrays.items():
        engine.write(name, array)
    engine.launch([engine.load(kernel)] * slots)
    return {name: engine.read(name) for name in arrays}


def without_complaints(said: str) -> str:
    """Return standard error without the CPU driver's message about processors newer than the driver."""
    return said.replace(f"{UNKNOWN.decode()}\n", "")
