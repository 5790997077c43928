"""Silent mutations, which the chains for support leave out if there are many: trees with them, and chains as
without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.runs.context import RunContext
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import MISSING, Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.support import plan
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.support.plan import SupportPlan, make_support_plan, silent_in
from syclade.host.findings.support.rounds import Judged
from syclade.host.findings.support.stage import Run, sample
from syclade.host.findings.unplaced import Unplaced, unplaced_in
from tests.data.trees.test_levels import random_trees

RATES = Rates(0.01, 0.2)


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out silent mutations however few there are."""
    monkeypatch.setattr(plan, "FEW_SILENT", 0)


def test_few_silent_mutations_are_sampled() -> None:
    """Trees without them allow for less, so claims would be too sure."""
    few, many = (Unplaced(dict.fromkeys(range(count), "seen in no cell")) for count in (100, 101))
    assert not silent_in(few, 200)
    assert len(silent_in(many, 200).others) == 99


@pytest.mark.usefixtures("left_out")
def test_silent_mutations_come_back_below_the_root() -> None:
    silent = silent_in(Unplaced({0: "seen in no cell", 3: "seen in no cell"}, {1: "empty"}), 6)
    trees = random_trees(np.random.default_rng(1), 20, 4)
    whole = silent.whole_trees(trees)
    assert (whole[:, [0, 3]] == 6).all()
    assert np.array_equal(silent.of_trees(whole), trees)
    assert silent.whole(np.arange(5.0), -1.0).tolist() == [-1, 0, 1, -1, 2, 3, 4]
    assert silent.whole(np.arange(4.0), -1.0).tolist() == [-1, 0, 1, -1, 2, 3]


@pytest.mark.usefixtures("left_out")
def test_all_mutations_stay_where_all_are_silent() -> None:
    assert not silent_in(Unplaced(dict.fromkeys(range(3), "seen in no cell")), 3)


@pytest.mark.usefixtures("left_out")
def test_chains_are_those_of_the_other_mutations() -> None:
    """Two silent mutations change neither trees nor shares; the log-likelihood has their observations."""
    few = simulate(12, 5, 0.01, 0.2, 0.1, 3).matrix
    values = np.insert(few.values, [0, 3], [0], axis=0)
    values[4, 1] = MISSING
    more = replace(few, values=values, mutations=tuple(f"m{row}" for row in range(7)))
    planned, plain = plan_of(more), plan_of(few)
    assert len(planned.silent.others) == 5
    tree = np.array([4, 0, 5, 5, 5, 5], dtype=np.int32)
    found, expected = judged(planned, planned.silent.whole_trees(tree)), judged(plain, tree)
    assert [one.parents.tolist() for one in found.shared] == [one.parents.tolist() for one in expected.shared]
    assert [one.rates for one in found.shared] == [one.rates for one in expected.shared]
    base = make_problem(more, RATES).base - make_problem(few, RATES).base
    log_likelihoods = expected.sampled.log_likelihoods + base
    np.testing.assert_allclose(found.sampled.log_likelihoods, log_likelihoods, rtol=1e-12)
    rows = planned.silent.others
    above = found.sampled.posterior.ancestors[np.ix_(rows, rows)]
    assert np.array_equal(above, expected.sampled.posterior.ancestors)


def plan_of(matrix: Matrix) -> SupportPlan:
    """Return short chains of a matrix, without its silent mutations."""
    made = make_support_plan("quick", matrix, RATES, None, unplaced=unplaced_in(matrix))
    return made._replace(budget=Budget(64, 64, 2, 32))


def judged(planned: SupportPlan, tree: NDArray[np.int32]) -> Judged:
    """Return the samples of chains from a tree."""
    names = [f"m{row}" for row in range(planned.problem.mutations)]
    run = Run("native", "auto", None, 1, RunContext())
    found = sample(planned, tree, [], names, run)[0].judged
    assert found is not None
    return found
