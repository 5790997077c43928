"""Every way to run a chain, and the small inputs that the suites run on all of them.

A new device is one more word in DEVICES; a new encoding comes by itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.backends import Runner, make_runner
from syclade.host.chains.initial import initial_parents
from syclade.host.chains.pipeline import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.compile.program import KernelSpec, load_kernel
from syclade.host.devices.choice import choose_device
from syclade.host.encodings import ENCODINGS
from syclade.host.input.matrix import matrix_from_array
from syclade.host.model.defaults import DEFAULT_MOVE_PROBABILITIES
from syclade.host.model.problem import Problem, make_problem
from syclade.host.model.rates import Rates
from syclade.host.workarounds import prepare
from syclade.host.workarounds.unknown_processor import UNKNOWN
from syclade.kernels.arguments import STATE, Argument
from syclade.quality.oracle import chain as oracle
from syclade.quality.oracle.acceptance import Tables
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.score import tree_score

DEVICES = ("cpu", "fpga-emu", "numpy")


@dataclass(frozen=True)
class Backend:
    """A device together with an encoding."""

    device: str
    encoding: str

    @contextmanager
    def runner(self, problem: Problem, slots: int, seed: int) -> Iterator[Runner]:
        made = make_runner(choose_device(self.device), ENCODINGS[self.encoding](problem), slots, seed)
        try:
            yield made
        finally:
            made.close()


BACKENDS = [Backend(device, encoding) for encoding in ENCODINGS for device in DEVICES]
NUMPY = Backend("numpy", "ancestor")


def _marked(backend: Backend) -> Any:
    marks = [] if backend.device == "numpy" else [pytest.mark.sycl]
    return pytest.param(backend, id=f"{backend.device}-{backend.encoding}", marks=marks)


on_every_backend = pytest.mark.parametrize("backend", [_marked(backend) for backend in BACKENDS])
on_every_other_backend = pytest.mark.parametrize("backend", [_marked(b) for b in BACKENDS if b != NUMPY])


@dataclass(frozen=True)
class Case:
    """An input with its chain's settings, and what the oracle makes of it.

    `kind`: random, missing (a row and a column of 3s besides), nothing (3s only) or duplicates (three
    distinct columns).
    """

    n: int
    m: int
    seed: int = 1
    kind: str = "random"
    gamma: float = 1.0
    moves: tuple[float, float, float] = DEFAULT_MOVE_PROBABILITIES

    @property
    def values(self) -> NDArray[np.uint8]:
        """Observed values, shape (n, m)."""
        shape = (self.n, self.m)
        values = np.random.default_rng(self.n * 1000 + self.m).choice([0, 1, 3], shape, p=[0.5, 0.35, 0.15])
        if self.kind == "missing":
            values[0] = 3
            values[:, self.m // 2] = 3
        if self.kind == "nothing":
            values[:] = 3
        if self.kind == "duplicates":
            values = values[:, np.arange(self.m) % 3]
        return values.astype(np.uint8)

    def problem(self) -> Problem:
        rates = Rates(0.02, 0.2)
        matrix = matrix_from_array(self.values)
        return make_problem(matrix, rates, gamma=self.gamma, move_probabilities=self.moves)

    def start(self, chain: int, first_step: int = 0) -> ChainState:
        """The chain's initial state, its step number set."""
        made = initial_state(self.problem(), self.seed, chain)
        return ChainState(chain, first_step, made.score, made.score, made.parents, made.parents)

    def trace(self, chain: int, steps: int, first_step: int = 0) -> tuple[oracle.Trace, ...]:
        """The oracle's chain, a trace a step: its state after each of them."""
        return _trace(self, chain, steps, first_step)


@cache
def _trace(case: Case, chain: int, steps: int, first_step: int) -> tuple[oracle.Trace, ...]:
    problem, values = case.problem(), case.values
    weights, cuts = problem.weights, Cuts(problem.prune_below, problem.swap_below)
    logs = Tables(tuple(problem.log_table.tolist()), tuple(problem.log_sizes.tolist()))
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
    """Steps proposed and accepted by kind of move, as a chain state has them."""
    tallies = [0] * 10
    for trace in traces:
        (step,) = trace.steps
        tallies[step.kind] += 1
        tallies[step.kind + 5] += step.accepted
    return tallies


def assert_equal_states(one: ChainState, other: ChainState) -> None:
    """All fields, information included."""
    for name in ("chain", "step", "score", "best_score"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("parents", "best_parents", "tallies"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def assert_scores_are_right(problem: Problem, state: ChainState) -> None:
    """The state's scores are those of its trees, by another way of scoring."""
    assert state.score == problem.score(state.parents)
    assert state.best_score == problem.score(state.best_parents)


def run_alone(backend: Backend, case: Case, chain: int, steps: int, first_step: int = 0) -> ChainState:
    """The chain after its steps, in a runner of its own, in one launch."""
    with backend.runner(case.problem(), 1, case.seed) as runner:
        runner.put(0, case.start(chain, first_step))
        runner.advance(np.array([first_step + steps]))
        return runner.get(0)


def run_kernel(
    device: str, factory: str, constants: dict[str, int], arrays: dict[str, NDArray[Any]], lanes: int
) -> dict[str, NDArray[Any]]:
    """Launch a test kernel, as many groups of `lanes` as the last array is long; all arrays afterwards."""
    dpctl = prepare()
    from dpctl.memory import MemoryUSMDevice

    queue = dpctl.SyclQueue(choose_device(device).filter)
    arguments = tuple(Argument(name, STATE, str(a.dtype), a.shape, "") for name, a in arrays.items())
    kernel = load_kernel(queue, KernelSpec(f"tests.support.device_checks:{factory}", constants, arguments))
    blocks, flat = [], []
    for array in arrays.values():
        block = MemoryUSMDevice(array.nbytes, queue=queue)
        block.copy_from_host(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        sizes = (ctypes.c_longlong(array.size), ctypes.c_longlong(array.itemsize))
        blocks.append(block)
        flat += [*sizes, block, *sizes]
    groups = len(next(reversed(arrays.values())))
    queue.submit(kernel, flat, [groups * lanes], [lanes]).wait()
    return {
        name: np.frombuffer(block.copy_to_host(), array.dtype, array.size).reshape(array.shape)
        for block, (name, array) in zip(blocks, arrays.items(), strict=True)
    }


def without_complaints(said: str) -> str:
    """Standard error without what the CPU driver says of processors that are newer than it is."""
    complaint = f"{UNKNOWN.decode()}\n"
    return said.replace(complaint, "")
