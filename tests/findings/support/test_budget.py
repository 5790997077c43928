"""Budgets of the chains for support: steps from the sizes of the matrix only, within their limits."""

import itertools
import math

import pytest

from syclade.host.findings.support.budget import CHAINS, Budget, budget_for

SIZES = [(1, 1), (6, 5), (40, 40), (63, 64), (100, 400), (200, 200), (500, 500), (3000, 2000)]


@pytest.mark.parametrize("doublets", [False, True])
@pytest.mark.parametrize("level", ["quick", "full"])
@pytest.mark.parametrize(("mutations", "columns"), SIZES)
def test_rounds_of_a_budget(mutations: int, columns: int, level: str, doublets: bool) -> None:
    budget = budget_for(level, mutations, columns, doublets=doublets)
    assert budget.first % budget.samples == 0
    assert budget.doublings >= 1
    ends = list(itertools.accumulate([budget.first << max(0, k - 1) for k in range(budget.doublings + 1)]))
    assert ends[-1] == budget.most
    for end in ends[:-1]:
        sampling = budget.sampling_after(end)
        assert sampling.burn_in == end
        assert sampling.every * budget.samples == end, "the round has as many samples as each other"


def test_budgets_are_those_of_every_machine() -> None:
    """A change of these numbers changes the support of all runs."""
    assert budget_for("quick", 6, 5, doublets=False) == Budget(4096, 20480, 4, 426)
    assert budget_for("quick", 200, 200, doublets=False) == Budget(672, 95424, 4, 1988, math.inf, 2)
    assert budget_for("quick", 500, 500, doublets=False).renewal_after(0) == 742
    assert budget_for("quick", 300, 2399, doublets=False).renewal_after(0) == 546
    assert budget_for("quick", 300, 2400, doublets=False).renewal_after(0) == 1638
    assert budget_for("quick", 40, 319, doublets=False).renewal_after(0) == 2048
    assert budget_for("quick", 40, 320, doublets=False).renewal_after(24576) == 192
    assert budget_for("quick", 100, 5000, doublets=False).renewal_after(8192) == 64
    assert budget_for("quick", 20, 40, doublets=True) == Budget(4096, 36864, 4, 1024)
    assert budget_for("quick", 200, 200, doublets=True) == Budget(1024, 6144, 4, 1024, math.inf)
    assert budget_for("full", 200, 200, doublets=False).spread == 0.01


@pytest.mark.parametrize(("mutations", "columns"), [(1, 8), (8, 1500), (30, 2000), (100, 5000), (140, 1200)])
def test_rounds_of_many_columns_begin_short(mutations: int, columns: int) -> None:
    budget, other = (budget_for(level, mutations, columns, doublets=False) for level in ("quick", "full"))
    begun = 0
    apart: list[int] = []
    for end in [budget.first << number for number in range(budget.doublings + 1)]:
        inside = range(begun, end, max(1, (end - begun) // 7))
        assert {budget.begun(steps) for steps in inside} == {begun}
        (renewal,) = {budget.renewal_after(steps) for steps in inside}
        assert (end - begun) % renewal == 0
        assert (end - begun) // renewal >= (128 if begun else 32)
        begun, apart = end, [*apart, renewal]
    assert apart[1:] == sorted(apart[1:])
    assert apart[1] < apart[-1] <= 512
    assert {other.renewal_after(steps) for steps in (0, other.first, other.most)} == {other.renewal_after(0)}


@pytest.mark.parametrize(("mutations", "columns"), SIZES[1:-1])
def test_full_and_fewer_pairs_take_more_steps(mutations: int, columns: int) -> None:
    quick, full = (budget_for(level, mutations, columns, doublets=False) for level in ("quick", "full"))
    assert full.most > 10 * quick.most
    assert budget_for("quick", mutations, columns, doublets=True).most <= quick.most


def test_small_matrices_take_few_steps() -> None:
    for mutations, columns, most in ((6, 5, 2e6), (40, 40, 5e6), (63, 64, 1.5e7)):
        assert CHAINS * budget_for("quick", mutations, columns, doublets=False).most < most
