"""Rates and gamma per slot: they differ between slots and change between launches, as in the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import SlotRates, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import OptionError
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.quality.oracle import chain as oracle
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector
from tests.suites.rows.mutation_trees import GAMMAS, PHASES, SETTINGS, slot_rates, start_with_rates
from tests.suites.rows.mutation_trees import SLOTS as CASE
from tests.support.backends import NUMPY, assert_equal_chains, oracle_tables, seen, with_rates


def oracle_trace(
    plan: Plan, weights: Sequence[int], tree: ParentVector, chain: int, steps: range
) -> oracle.Trace:
    """Return the oracle's chain from the first of these steps on."""
    cuts, logs = Cuts(*plan.move_below[:2]), oracle_tables(plan)
    return oracle.run(
        tree, CASE.values, weights, CASE.seed, chain, len(steps), cuts, logs, first_step=steps[0]
    )


def test_every_slot_has_rates_of_its_own() -> None:
    """Each slot runs the oracle's chain with its own rates."""
    row = SETTINGS["own rates"]
    for chain, found in enumerate(row.expected.at[150]):
        start = start_with_rates(row.plan, row.seed, chain)
        zero, one, nothing = start.rates.weights
        tree = tuple(start.parents.tolist())
        trace = oracle_trace(row.plan, (zero, one, nothing, nothing), tree, chain, range(150))
        assert tuple(found.state.parents.tolist()) == trace.final
        assert found.state.best_score == trace.best_score
    assert len({one.state.rates for one in row.expected.at[150]}) == 3


def test_rates_change_during_a_chain() -> None:
    """A slot whose rates change between launches continues like a chain newly put there."""
    row = SETTINGS["changed rates"]
    before, after = (row.expected.at[stop][1].state for stop in (60, 130))
    changed = with_rates(row.plan, before, slot_rates(row.plan, 1))
    with NUMPY.runner(row.plan, 1, CASE.seed) as alone:
        alone.put(0, changed)
        alone.advance(np.array([130]))
        assert after.parents.tolist() == alone.get(0).parents.tolist()
        assert after.score == alone.get(0).score
    assert after.rates == changed.rates != row.plan.problem.rates


def test_gamma_changes_between_launches() -> None:
    """Each slot follows the oracle's chain with its own gammas, one after another."""
    row = SETTINGS["changed gamma"]
    weights = (*row.plan.problem.rates.weights, 0)
    for chain, found in enumerate(row.expected.at[150]):
        tree = tuple(CASE.start(chain).parents.tolist())
        phases = [(CASE.gamma, range(1)), *zip(GAMMAS[chain], PHASES, strict=True)]
        for gamma, steps in phases:
            tree = oracle_trace(CASE.plan(gamma=gamma), weights, tree, chain, steps).final
        assert tuple(found.state.parents.tolist()) == tree


def test_a_gamma_that_makes_no_sense_is_refused() -> None:
    with NUMPY.runner(CASE.plan(), 1, 1) as runner:
        runner.put(0, CASE.start(0))
        with pytest.raises(OptionError, match="--gamma"):
            runner.set_gamma(0, 0.0)
        assert runner.get(0).gamma == CASE.gamma


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ((-(2**28), 2**27, 0), "a cell's score could reach"),
        ((-5, 3), "2 weights, the last 3, for 3 classes"),
        ((-5, 3, 1), "3 weights, the last 1, for 3 classes"),
    ],
)
def test_rates_that_do_not_go_with_the_unit_are_refused(weights: tuple[int, ...], words: str) -> None:
    plan = CASE.plan()
    with NUMPY.runner(plan, 1, 1) as runner, pytest.raises(ValueError, match=words):
        runner.put(0, with_rates_unchecked(plan, SlotRates(weights, 0)))


def with_rates_unchecked(plan: Plan, rates: SlotRates) -> ChainState:
    state = initial_state(plan, CASE.seed, 0)
    fields = (state.chain, state.step, state.parents, 0, state.parents, 0)
    return ChainState(*fields, rates)


def test_sums_that_a_kernel_has_no_room_for_are_refused() -> None:
    values = np.ones((3, 4000), np.uint8)
    problem = make_problem(matrix_from_array(values), Rates(0.499, 0.499))
    encoding = PreorderEncoding(problem, TRAITS)
    assert encoding.variant.wide == 0
    assert encoding.can_score(problem.rates) is None
    assert "2^31" in str(encoding.can_score(SlotRates((-1, 2**20, 0), 0)))


def test_equal_states_of_slots_that_share_nothing() -> None:
    """The gamma of one slot does not affect another slot."""
    plan = CASE.plan()
    with NUMPY.runner(plan, 2, CASE.seed) as runner, NUMPY.runner(plan, 1, CASE.seed) as alone:
        for slot in range(2):
            runner.put(slot, initial_state(plan, CASE.seed, slot))
        alone.put(0, initial_state(plan, CASE.seed, 0))
        runner.set_gamma(1, 9.0)
        runner.advance(np.full(2, 80))
        alone.advance(np.array([80]))
        assert_equal_chains(seen(runner, 0), seen(alone, 0))
