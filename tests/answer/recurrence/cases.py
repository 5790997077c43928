"""Small inputs with a recurrent mutation, their plans, and a slow oracle of their likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_plan
from syclade.host.chains.scores.recurrent import with_recurrence
from syclade.host.chains.state import Recorder, recurrent_trees
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.recurrence import WithCopy, with_copy
from tests.chains.doublets.cases import matrix_of, rates_of
from tests.support.backends import Case

RATE = 0.2


def mutation_of(case: Case) -> int:
    """Return a mutation, neither the first nor the last one if there are three."""
    return (case.n - 1) // 2


def matrix_with_copy(case: Case) -> WithCopy:
    return with_copy(matrix_of(case), mutation_of(case))


def plan_of(
    case: Case,
    doublets: float | None = None,
    recorders: tuple[Recorder, ...] = (),
    events: int = DEFAULT_EVENTS,
    name: str = "max",
    learn: Mapping[str, float] | None = None,
) -> Plan:
    """Return a plan; `learn` has probabilities of jumps, as for `make_rate_model`."""
    octaves = doublets is not None or name == "sum"
    model = make_rate_model(rates_of(case), doublets=doublets, **(learn or {}))
    problem = make_problem(matrix_with_copy(case), rates_of(case), octaves=octaves, model=model)
    return make_plan(
        problem,
        gamma=case.gamma,
        move_probabilities=case.moves,
        score=with_recurrence(problem, mutation_of(case), doublets, name),
        space=recurrent_trees(mutation_of(case), pairs=octaves),
        recorders=recorders,
        events=events,
    )


def has_by_walking(parents: NDArray[np.int32], mutation: int) -> NDArray[np.bool_]:
    """Return which observed mutations each node has: bool, (n, nodes), by walking up its path."""
    root = len(parents) - 1
    has = np.zeros((root - 1, root + 1), dtype=np.bool_)
    for node in range(root + 1):
        above = node
        while above != root:
            one = mutation if above == root - 1 else above
            has[one, node] = not has[one, node] if one == mutation else True
            above = int(parents[above])
    return has


def pair_scores(case: Case, parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return each cell's log-likelihood at two nodes together, (cells, nodes, nodes).

    Those of single cells are on the diagonal.
    """
    table, has = rates_of(case).log_table().tolist(), has_by_walking(parents, mutation_of(case))
    values = case.values.tolist()
    nodes = range(has.shape[1])
    scores = np.empty((case.m, len(nodes), len(nodes)))
    for cell, v, w in product(range(case.m), nodes, nodes):
        union = has[:, v] | has[:, w]
        scores[cell, v, w] = sum(table[values[gene][cell]][int(union[gene])] for gene in range(case.n))
    return scores
