"""The portfolio of searches and short chains: what a run returns that was stopped before it began."""

from __future__ import annotations

import pytest

from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.search import find_tree as portfolio
from syclade.host.chains.search.policy import BY_CHAIN, SearchPolicy, policy_for
from syclade.host.ground.signals import Stop
from tests.support.backends import Case

PLAN = Case(12, 20).plan()
ROUNDS = policy_for(12, 20).rounds


@pytest.mark.parametrize("starts", [("by-mutations", "by-columns"), ("by-mutations", BY_CHAIN)])
def test_a_run_may_be_stopped_before_it_begins(
    starts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It returns the first trees there are: those of the short chains, or of the first launch without any."""
    monkeypatch.setattr(portfolio, "policy_for", lambda *_, **__: SearchPolicy(starts, ROUNDS))
    stop = Stop()
    stop.wanted = True
    found = portfolio.find(PLAN, "native", "auto", slots=2, seed=1, context=RunContext(stop=stop))
    assert found.interrupted
    assert not found.outcome.converged
    assert [one.start for one in found.searches] == ([] if BY_CHAIN in starts else list(starts))
    assert {one.unit for one in found.work} == ({"steps"} if BY_CHAIN in starts else {"sweeps"})
    best = found.outcome.best
    assert best.score == best.best_score == PLAN.score_of(best.best_parents, best.rates)
    assert best.best_parents.tolist() in [tree.tolist() for tree in found.trees]
