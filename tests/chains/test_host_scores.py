"""Scores on the host, of all attachments and with doublets: fast, and equal to their slow definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from syclade.fallback.scores.powers import power_of_two
from syclade.host.chains.scores import doublets as doublets_module
from syclade.host.chains.scores.doublets import with_doublets
from syclade.host.chains.scores.score import all_attachments, sum_definition
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import initial_parents
from syclade.kernels.scores.powers import FRACTION_BITS


@settings(max_examples=40)
@given(
    doublets=st.sampled_from([None, 0.0, 0.1, 0.9]),
    sizes=st.sampled_from([(1, 1), (5, 2), (30, 12), (9, 150), (3, 300)]),
    fp_rate=st.sampled_from([1e-9, 1e-3, 0.3]),
    seed=st.integers(0, 2**32),
    shared=st.booleans(),
)
def test_they_are_their_definitions(
    doublets: float | None, sizes: tuple[int, int], fp_rate: float, seed: int, shared: bool
) -> None:
    cells, mutations = sizes
    matrix = simulate(cells, mutations, fp_rate, 0.2, missing=0.1, seed=seed).matrix
    problem = make_problem(matrix, Rates(fp_rate, 0.2), octaves=True)
    assume(doublets is None or problem.scale_bits == FRACTION_BITS)
    if doublets is None:
        score, definition = all_attachments(problem, shares=shared), sum_definition
    else:
        score, definition = with_doublets(problem, doublets, with_shares=shared), doublets_module.definition
    generator = np.random.default_rng(seed)
    logs = generator.integers(-(30 << problem.scale_bits), 0, problem.nodes) if shared else ()
    rates = replace(problem.rates, log_shares=tuple(int(one) for one in logs))
    parents = initial_parents(mutations, seed, 0)
    given = problem, parents, rates, score.defaults
    assert score.of(*given) == definition(*given)


def test_another_power_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(
        simulate(9, 30, 1e-3, 0.2, missing=0.1, seed=1).matrix, Rates(1e-3, 0.2), octaves=True
    )
    score, parents = all_attachments(problem), initial_parents(30, 1, 0)
    name = "syclade.host.chains.scores.score.power_of_two"
    monkeypatch.setattr(name, lambda *numbers: power_of_two(*numbers) * 2)
    given = problem, parents, problem.rates, score.defaults
    assert score.of(*given) != sum_definition(*given)
