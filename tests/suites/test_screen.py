"""Screened chains of the sum score: the same chains as without the screen, for a fraction of the work."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state, state_at
from syclade.host.chains.scores.score import all_attachments
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.kernels.preorder.screened import encoding as screened
from syclade.kernels.preorder.screened.bound import make_bound
from syclade.kernels.preorder.screened.exact import make_exact
from tests.support.backends import (
    BACKENDS,
    Backend,
    Seen,
    assert_equal_chains,
    assert_scores_are_right,
    marks_of,
    seen,
)
from tests.support.own_sizes import is_built_apart


class Input(NamedTuple):
    """Simulated matrix, and the number of steps to compare."""

    cells: int
    mutations: int
    steps: int
    kind: str = "usual"


INPUTS = {
    "tiny": Input(16, 5, 100_000),
    "two rounds": Input(30, 31, 100_000),
    "four rounds": Input(64, 63, 100_000),
    "five rounds": Input(70, 30, 20_000),
    "two panels": Input(200, 60, 40_000),
    "tall": Input(60, 150, 20_000),
    "weighted": Input(200, 40, 40_000, kind="weighted"),
    "zygosity": Input(90, 40, 40_000, kind="zygosity"),
    "flat": Input(64, 40, 40_000, kind="flat"),
}

SCREENED = [one for one in BACKENDS if one.encoding in ("preorder", "general") and not is_built_apart(one)]
"""All with precompiled kernels; the emulator runs the CPU device's SPIR-V."""

ON_CPU = ("two panels", "zygosity")
"""Inputs that `make test` also runs on the CPU device, whose driver compiles a kernel for each size in two
seconds; rows of `rows/mutation_trees.py` compare such kernels with numpy."""

UNSCREENED = Backend("cpu", "ancestor")


def rates_of(given: Input) -> Rates:
    return Rates(0.01, 0.2, 0.1, 0.01) if given.kind == "zygosity" else Rates(0.001, 0.2)


def matrix_of(given: Input) -> tuple[Matrix, Any]:
    rates = rates_of(given)
    made = simulate(given.cells, given.mutations, missing=0.1, seed=1, **rates.to_dict())
    if given.kind == "weighted":
        columns = np.arange(given.cells) % 50  # so every column occurs four times
        return matrix_from_array(made.matrix.values[:, columns]), made.parents
    return made.matrix, made.parents


def plan_of(given: Input) -> tuple[Plan, Any]:
    matrix, tree = matrix_of(given)
    problem = make_problem(matrix, rates_of(given), octaves=True)
    gamma = 0.05 if given.kind == "flat" else 1.0
    return make_plan(problem, score=all_attachments(problem), gamma=gamma), tree


def chains(backend: Backend, given: Input) -> list[Seen]:
    """Return two chains, each after a third of the steps, two thirds and all; one begins at the true tree."""
    plan, tree = plan_of(given)
    found = []
    with backend.runner(plan, 2, 1) as runner:
        runner.put(0, state_at(plan, tree, 0))
        runner.put(1, initial_state(plan, 1, 1))
        for third in (1, 2, 3):
            runner.advance(np.full(2, given.steps * third // 3))
            found += [seen(runner, slot) for slot in range(2)]
    for one in found:
        assert_scores_are_right(plan, one.state)
    return found


@cache
def expected_chains(name: str) -> list[Seen]:
    """Return the chains of an input without the screen."""
    return chains(UNSCREENED, INPUTS[name])


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(
            name,
            backend,
            id=f"{name}-{backend.device}",
            marks=[] if backend.device == "native" or name in ON_CPU else [pytest.mark.verification],
        )
        for name in INPUTS
        for backend in SCREENED
    ],
)
def test_no_decision_changes(name: str, backend: Backend) -> None:
    expected = expected_chains(name)
    assert expected[-2].tallies[5:].sum() > INPUTS[name].steps // 100  # of accepted steps
    for ours, other in zip(chains(backend, INPUTS[name]), expected, strict=True):
        assert_equal_chains(ours, other)


@pytest.mark.parametrize("few", [0, 100])
def test_most_proposals_need_neither_exact_scores_nor_all_positions(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Count calls while Python runs the kernel: without a screen, every proposal would be scored exactly.

    With `few` = 100, the terms of all shifted positions are added up at once, and never bounded.
    """
    calls: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return function(*arguments)

        return call

    def counted_bound(*arguments: Any) -> Any:
        bound_share = make_bound(*arguments)
        names = ("bound", "terms")

        def call(*given: Any) -> Any:
            calls[names[int(given[-1])]] += 1
            return bound_share(*given)

        return call

    monkeypatch.setattr(screened, "make_exact", lambda *given: counted("exact", make_exact(*given)))
    monkeypatch.setattr(screened, "make_bound", counted_bound)
    monkeypatch.setattr(screened, "FEW", few)
    given = Input(16, 20, 400)
    plan, tree = plan_of(given)
    with Backend("python", "preorder").runner(plan, 1, 1) as runner:
        runner.put(0, state_at(plan, tree, 0))
        runner.advance(np.array([given.steps]))
        own = seen(runner, 0)
    assert_scores_are_right(plan, own.state)
    accepted = int(own.tallies[5:].sum())
    assert given.steps // 50 < accepted < given.steps // 2
    assert accepted * 0.5 < calls["exact"] <= accepted * 1.1 + 2
    if few:
        assert not calls["bound"]
    else:
        assert calls["bound"] > given.steps // 2
        assert calls["terms"] <= calls["exact"] * 1.3 + 3


def test_the_inputs_have_all_that_matters() -> None:
    """Count panels, repeated columns, and terms shorter than 24 bits."""
    plans = {name: plan_of(given)[0] for name, given in INPUTS.items()}
    assert plans["two panels"].problem.columns > 128
    assert plans["weighted"].problem.multiplicity.max() >= 4
    assert plans["tall"].settings["sum_spare"] == 2
    assert len(plans["zygosity"].problem.values) > len(plans["tiny"].problem.values)
    assert all(marks_of(one) or one.device == "native" for one in SCREENED)
