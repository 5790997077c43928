"""Chains with doublets: every backend has the oracle's score after each step, and the same bits."""

from __future__ import annotations

from functools import cache

from tests.chains.doublets.cases import by_backend_and_name, chains, plan_of
from tests.support.backends import Case, Seen, assert_equal_chains, assert_scores_are_right
from tests.support.leaf import LEAF_NUMPY, LeafBackend

CASES = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 40, kind="duplicates"),
    "zygosity": Case(12, 70, kind="zygosity"),
    "often accepted": Case(9, 20, gamma=0.05, moves=(1.0, 1.0, 1.0)),
    "one mutation": Case(1, 5),
    "nothing observed": Case(5, 4, kind="nothing"),
}
CHAINS = 3
STEPS = 60


def found(backend: LeafBackend, case: Case) -> list[Seen]:
    return chains(backend, plan_of(case), case.seed, CHAINS, range(1, STEPS))


@cache
def numpy_chains(case: Case) -> list[Seen]:
    """Return numpy's chains, whose scores are those of the definition."""
    expected = found(LEAF_NUMPY, case)
    plan = plan_of(case)
    for one in expected:
        assert_scores_are_right(plan, one.state)
    return expected


@by_backend_and_name(CASES, everywhere=("small",))
def test_every_backend_has_the_bits_of_numpy_and_the_score_of_the_definition(
    backend: LeafBackend, name: str
) -> None:
    case = CASES[name]
    for ours, expected in zip(found(backend, case), numpy_chains(case), strict=True):
        assert_equal_chains(ours, expected)
