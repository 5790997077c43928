"""Rates and gamma per slot: they differ between slots and change between launches, on every backend."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import Plan
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import SlotRates, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import OptionError
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.quality.oracle import chain as oracle
from syclade.quality.oracle.proposal import Cuts
from tests.support.backends import (
    NUMPY,
    Backend,
    Case,
    assert_equal_chains,
    assert_scores_are_right,
    oracle_tables,
    seen,
    with_general,
    with_rates,
)

CASE = Case(8, 13, gamma=0.5)
"""It has the kernels of `test_conformance.py`, of which the longest takes 20 s to compile."""

RATES = [(0.02, 0.2), (0.3, 0.3), (0.001, 0.4)]


def rates_of(plan: Plan, fp_rate: float, fn_rate: float) -> SlotRates:
    """Return the weights of other error rates in the unit of the plan's problem."""
    unit = 2.0**plan.problem.scale_bits
    weights = Rates(fp_rate, fn_rate).weights()
    return SlotRates((*(round(float(weights[value]) * unit) for value in plan.problem.values), 0), 0)


def starts(plan: Plan) -> list[ChainState]:
    return [
        with_rates(plan, initial_state(plan, CASE.seed, chain), rates_of(plan, *RATES[chain]))
        for chain in range(len(RATES))
    ]


@with_general
def test_every_slot_has_rates_of_its_own(backend: Backend) -> None:
    """Each slot runs the oracle's chain with its own rates."""
    plan = CASE.plan()
    with backend.runner(plan, len(RATES), CASE.seed) as runner:
        for slot, state in enumerate(starts(plan)):
            runner.put(slot, state)
        runner.advance(np.full(len(RATES), 150))
        found = [seen(runner, slot) for slot in range(len(RATES))]
    for chain, ours in enumerate(found):
        assert_scores_are_right(plan, ours.state)
        zero, one, nothing = starts(plan)[chain].rates.weights
        tree = tuple(starts(plan)[chain].parents.tolist())
        cuts = Cuts(*plan.move_below[:2])
        weights = (zero, one, nothing, nothing)
        trace = oracle.run(tree, CASE.values, weights, CASE.seed, chain, 150, cuts, oracle_tables(plan))
        assert tuple(ours.state.parents.tolist()) == trace.final
        assert ours.state.best_score == trace.best_score


@with_general
def test_rates_change_during_a_chain(backend: Backend) -> None:
    """A slot whose rates change between launches continues like a chain newly put there."""
    plan = CASE.plan()
    with backend.runner(plan, 2, CASE.seed) as runner:
        for slot in range(2):
            runner.put(slot, initial_state(plan, CASE.seed, slot))
        runner.advance(np.array([60, 60]))
        changed = with_rates(plan, runner.get(1), rates_of(plan, *RATES[1]))
        runner.put(1, changed, runner.info(1))
        runner.advance(np.array([130, 130]))
        found = [seen(runner, slot) for slot in range(2)]
    with NUMPY.runner(plan, 1, CASE.seed) as alone:
        alone.put(0, changed)
        alone.advance(np.array([130]))
        assert found[1].state.parents.tolist() == alone.get(0).parents.tolist()
        assert found[1].state.score == alone.get(0).score
    for one in found:
        assert_scores_are_right(plan, one.state)
    assert found[1].state.rates == changed.rates != plan.problem.rates


@with_general
def test_gamma_changes_between_launches(backend: Backend) -> None:
    """Each slot follows the oracle's chain with its own gammas, one after another."""
    plan, gammas = CASE.plan(), [(0.5, 4.0, 0.05), (3.0, 0.2, 1.0)]
    with backend.runner(plan, 2, CASE.seed) as runner:
        for slot in range(2):
            runner.put(slot, initial_state(plan, CASE.seed, slot))
        for turn in range(3):
            for slot in range(2):
                runner.set_gamma(slot, gammas[slot][turn])
            runner.advance(np.full(2, 50 * (turn + 1)))
        found = [runner.get(slot) for slot in range(2)]
    for chain, state in enumerate(found):
        tree = tuple(CASE.start(chain).parents.tolist())
        for turn, gamma in enumerate(gammas[chain]):
            tables = oracle_tables(CASE.plan(gamma=gamma))
            cuts, weights = Cuts(*plan.move_below[:2]), (*plan.problem.rates.weights, 0)
            tree = oracle.run(
                tree, CASE.values, weights, CASE.seed, chain, 50, cuts, tables, first_step=50 * turn
            ).final
        assert tuple(state.parents.tolist()) == tree
        assert state.gamma == gammas[chain][-1]


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
