"""Chains with doublets: every backend has the oracle's score after each step, and the same bits."""

from __future__ import annotations

import numpy as np

from syclade.host.chains.starts import initial_state
from tests.doublets.cases import by_backend_and_name, plan_of
from tests.support.backends import Case, Seen, assert_equal_chains, assert_scores_are_right, seen
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


def chains(backend: LeafBackend, case: Case, stops: list[int]) -> list[Seen]:
    plan = plan_of(case)
    with backend.runner(plan, CHAINS, case.seed) as runner:
        for chain in range(CHAINS):
            runner.put(chain, initial_state(plan, case.seed, chain))
        found = []
        for stop in stops:
            runner.advance(np.full(CHAINS, stop))
            found += [seen(runner, chain) for chain in range(CHAINS)]
    return found


@by_backend_and_name(CASES, everywhere=("small",))
def test_every_backend_has_the_bits_of_numpy_and_the_score_of_the_definition(
    backend: LeafBackend, name: str
) -> None:
    case, stops = CASES[name], list(range(1, STEPS))
    plan = plan_of(case)
    for ours, expected in zip(chains(backend, case, stops), chains(LEAF_NUMPY, case, stops), strict=True):
        assert_scores_are_right(plan, ours.state)
        assert_equal_chains(ours, expected)
