"""Small inputs with doublets, and their plans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.doublets import with_doublets
from syclade.host.chains.state import SUMMED_TREES, Recorder
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import ObservationModel, Rates
from tests.support.backends import Backend, Case, Seen, seen
from tests.support.evidence import random_evidence

RATE = 0.2


def rates_of(case: Case) -> ObservationModel:
    if case.kind == "evidence":
        return random_evidence(case.n, case.m, case.seed)[1]
    return Rates(0.02, 0.2, 0.25, 0.005) if case.kind == "zygosity" else Rates(0.02, 0.2)


def matrix_of(case: Case) -> Matrix:
    if case.kind == "evidence":
        return random_evidence(case.n, case.m, case.seed)[0]
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


def chains(backend: Backend, plan: Plan, seed: int, chains: int, stops: Sequence[int]) -> list[Seen]:
    """Return all chains of a plan at each stop, in one runner."""
    with backend.runner(plan, chains, seed) as runner:
        for chain in range(chains):
            runner.put(chain, initial_state(plan, seed, chain))
        found = []
        for stop in stops:
            runner.advance(np.full(chains, stop))
            found += [seen(runner, chain) for chain in range(chains)]
    return found
