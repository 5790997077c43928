"""Chains as arrays in Gibbs steps: their numbers, points that some take, and what is left as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.points import Standing
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.shares import UniformNumbers, generator_of, uniform_log_shares, uniform_numbers
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from tests.suites.rows.shares import dropout_plan, listed, of_one

SHAPES = np.full((2, 4), 0.5)


def states() -> list[ChainState]:
    """Return two chains of three mutations with shares."""
    values = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=np.uint8)
    plan = dropout_plan(matrix_from_array(values, ["A", "B", "C"]), (0, 1, 2))
    log_shares = uniform_log_shares(plan.problem)
    begun = [initial_state(plan, 3, chain) for chain in range(2)]
    return [replace(one, rates=replace(one.rates, log_shares=log_shares), step=8) for one in begun]


@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 64))
def test_numbers_do_not_depend_on_how_many_are_drawn_at_once(counts: list[int], block: int) -> None:
    """Each chain has those of its generator, in order."""
    chains = states()
    numbers = UniformNumbers([generator_of(state, 7) for state in chains], block)
    taken = [numbers.take(count) for count in counts]
    assert [one.shape for one in taken] == [(2, count) for count in counts]
    found = np.concatenate([np.zeros((2, 0)), *taken], axis=1)
    for own, state in zip(found, chains, strict=True):
        assert own.tolist() == uniform_numbers(generator_of(state, 7), sum(counts)).tolist()


def test_some_chains_take_other_points() -> None:
    """Arrays that both have are not copied, and without a chain that takes them nothing is."""
    own = Standing(states()).points._replace(shapes=SHAPES)
    other = own._replace(log_shares=own.log_shares - 5)
    found = own.taking(other, np.array([False, True]))
    assert listed(of_one(found, 0)) == listed(of_one(own, 0))
    assert listed(of_one(found, 1)) == listed(of_one(other, 1)) != listed(of_one(own, 1))
    assert found.parents is own.parents
    assert found.shapes is own.shapes
    assert own.taking(other, np.array([False, False])) is own


def test_chains_that_nothing_changed_have_their_states() -> None:
    begun = states()
    for before, after in zip(begun, Standing(begun).states(), strict=True):
        assert after.parents is before.parents
        assert after.rates == before.rates
        assert (after.score, after.best_score) == (before.score, before.best_score)


def test_the_best_tree_is_the_first_with_the_highest_score() -> None:
    """Scores below it, and equal ones, change where a chain is, but not its best tree."""
    begun = states()
    standing, best = Standing(begun), [one.best_score for one in begun]
    trees = np.array([[3, 0, 0, 3], [1, 3, 1, 3]], dtype=np.int32)
    points = standing.points._replace(parents=trees, weights=standing.points.weights - 1)
    standing.move(points, np.array([best[0] + 10, best[1] - 10]))
    others = np.array([[3, 3, 0, 3], [1, 2, 3, 3]], dtype=np.int32)
    standing.move(points._replace(parents=others), np.array([best[0] + 10, best[1]]))
    first, second = standing.states()
    assert (first.best_parents.tolist(), first.best_score) == (trees[0].tolist(), best[0] + 10)
    assert (second.best_parents.tolist(), second.best_score) == (begun[1].best_parents.tolist(), best[1])
    assert [first.parents.tolist(), second.parents.tolist()] == others.tolist()
    assert [first.score, second.score] == [best[0] + 10, best[1]]
    assert first.rates.weights == tuple(weight - 1 for weight in begun[0].rates.weights)
