"""Small inputs with doublets, and their plans."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_plan
from syclade.host.chains.recorders import Recorder
from syclade.host.chains.scores.doublets import with_doublets
from syclade.host.chains.space import SUMMED_TREES
from syclade.host.chains.starts import initial_state
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from tests.support.backends import Case, Seen, seen
from tests.support.leaf import LEAF_BACKENDS, LEAF_NUMPY, LeafBackend, marked

RATE = 0.2


def _compiles(backend: LeafBackend) -> bool:
    """Return whether numba compiles a kernel for the sizes of each case."""
    return backend.device == "native" and not backend.general


def by_backend_and_name(
    names: Collection[str], everywhere: Collection[str], compiled: Collection[str] = ()
) -> pytest.MarkDecorator:
    """Parametrise a test by `backend` and `name` of a case.

    Args:
        names: names of the cases.
        everywhere: those that `make test` also runs on the emulator, which has the CPU device's SPIR-V.
        compiled: those for which the package has no kernel of this processor at all.
    """
    found: list[Any] = []
    for name in names:
        for backend in LEAF_BACKENDS:
            compiles = _compiles(backend) or (backend.device == "native" and name in compiled)
            apart = compiles or (backend.device == "fpga-emu" and name not in everywhere)
            one = marked(backend, None, *([pytest.mark.verification] if apart else []))
            found.append(pytest.param(backend, name, id=f"{one.id}-{name}", marks=one.marks))
    return pytest.mark.parametrize(("backend", "name"), found)


on_every_backend = pytest.mark.parametrize(
    "backend", [marked(one) for one in (*LEAF_BACKENDS, LEAF_NUMPY) if not _compiles(one)]
)
"""On all backends but this processor's kernels for given sizes."""


def rates_of(case: Case) -> Rates:
    return Rates(0.02, 0.2, 0.25, 0.005) if case.kind == "zygosity" else Rates(0.02, 0.2)


def matrix_of(case: Case) -> Matrix:
    return matrix_from_array(case.values)


def plan_of(
    case: Case, rate: float = RATE, recorders: tuple[Recorder, ...] = (), events: int = DEFAULT_EVENTS
) -> Plan:
    problem = make_problem(matrix_of(case), rates_of(case), octaves=True)
    return make_plan(
        problem,
        gamma=case.gamma,
        move_probabilities=case.moves,
        score=with_doublets(problem, rate),
        space=SUMMED_TREES,
        recorders=recorders,
        events=events,
    )


def chains(backend: LeafBackend, plan: Plan, seed: int, chains: int, stops: Sequence[int]) -> list[Seen]:
    """Return all chains of a plan at each stop, in one runner."""
    with backend.runner(plan, chains, seed) as runner:
        for chain in range(chains):
            runner.put(chain, initial_state(plan, seed, chain))
        found = []
        for stop in stops:
            runner.advance(np.full(chains, stop))
            found += [seen(runner, chain) for chain in range(chains)]
    return found
