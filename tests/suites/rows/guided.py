"""Guided moves: chains whose guides differ, with samples of the sum score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.moves import GUIDED_MOVES, make_guide, uniform_guide
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.state import ChainState, every
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import are_trees
from tests.support.same_bits import ChainRun, Chains, on_encodings, scores_are_defined

Tables = Mapping[str, NDArray[np.int32]]

SIZES = {
    "one mutation": (9, 1),
    "small": (40, 17),
    "panels": (150, 12),
    "longer tables": (20, 140),
    "longest tables": (10, 600),
}
ON_SYCL = ("small", "longest tables")
"""Sizes that `make test` runs on SYCL devices, whose drivers take a second for each."""


@cache
def guided_plan(cells: int, mutations: int, own: float = 0.15) -> Plan:
    """Return a plan whose chains do moves without a guide in this share of their steps."""
    rates = Rates(0.02, 0.25)
    problem = make_problem(simulate(cells, mutations, 0.02, 0.25, 0.1, 3).matrix, rates, octaves=True)
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(own / 3, own / 3, own / 3, (1 - own) * 0.6, (1 - own) * 0.4),
        score=score_named("sum", problem),
        recorders=(every(1),),
        events=4096,
    )


def guide_of(plan: Plan, seed: int) -> Tables:
    """Return a guide with some pairs that it never proposes."""
    n = plan.labels
    generator = np.random.default_rng(seed)
    edges = np.array([generator.multinomial(64, generator.dirichlet(np.full(n + 1, 0.5))) for _ in range(n)])
    edges[np.arange(n), n] += edges[np.arange(n), np.arange(n)]
    edges[np.arange(n), np.arange(n)] = 0
    return make_guide(edges, edges @ edges.T + 1, plan.problem.unit, plan.gamma)


@cache  # every backend begins there, and tables of 600 mutations take seconds
def guided_start(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain with a guide: the uniform one for the first, another one for each other chain."""
    uniform = uniform_guide(plan.labels, plan.problem.unit, plan.gamma)
    return replace(initial_state(plan, seed, chain), tables=guide_of(plan, chain) if chain else uniform)


def trees_and_scores(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    for all_seen in run.at.values():
        assert are_trees(np.array([one.state.parents for one in all_seen]))


def row(name: str, cells: int, mutations: int) -> Chains:
    return Chains(
        f"guided, {name}",
        partial(guided_plan, cells, mutations),
        on_encodings("preorder", "ancestor", sycl=name in ON_SYCL),
        seed=5,
        count=2,
        stops=(1, 60, 900 if name == "small" else 300 if mutations < 100 else 120),
        start=guided_start,
        define=trees_and_scores,
        goes_on=name == "small",
    )


ROWS = [row(name, *size) for name, size in SIZES.items()]
