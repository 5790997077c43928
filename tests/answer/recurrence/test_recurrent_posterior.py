"""Chains with a recurrent mutation sample their posterior over the allowed trees, and no other model's."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.recurrence import is_allowed, with_copy
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.choice import choose_device
from syclade.quality.oracle import enumeration
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector, all_trees
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.learned_target import (
    few_points,
    joint_scores,
    joint_transitions,
    jump_imbalance,
    places_of,
)
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import MOVE_PROBABILITIES, Target

pytestmark = pytest.mark.statistical

RATES = Rates(0.1, 0.3)
MUTATION = 1
GAMMA = 1.5
WAYS = {"max": ("max", None), "doublets": ("max", 0.25), "sum": ("sum", None)}


def small_matrix(mutations: int) -> Matrix:
    """Return cells in which losses and recurrences explain much."""
    values = np.random.default_rng(3).choice([0, 1, 3], (mutations, 8), p=[0.45, 0.45, 0.1])
    return matrix_from_array(values.astype(np.uint8))


def small_plan(mutations: int, way: str, recurrent: int = MUTATION) -> Plan:
    name, doublets = WAYS[way]
    options = ScoreOptions(name, doublets, recurrent)
    problem = make_problem(with_copy(small_matrix(mutations), recurrent), RATES, octaves=options.octaves)
    return make_plan(
        problem,
        gamma=GAMMA,
        move_probabilities=MOVE_PROBABILITIES,
        score=score_named(name, problem, doublets, recurrent),
        space=space_of(options),
    )


def allowed_trees(labels: int) -> NDArray[np.bool_]:
    """Return which of all trees are allowed, in the order of `all_trees`."""
    trees = all_trees(labels)
    return np.array([is_allowed(np.array(tree, dtype=np.int32), MUTATION) for tree in trees])


def target_of(plan: Plan, nats: NDArray[np.float64], which: NDArray[np.bool_]) -> Target:
    """Return a target from the scores of all trees; proposals of trees that are not in it are rejected."""
    kernel = enumeration.kernel(plan.labels, Cuts(*plan.move_below[:2]))
    trees = tuple(tree for tree, one in zip(kernel, which, strict=True) if one)
    scores = np.where(which, nats, -1e9)
    transitions = enumeration.transition_matrix(kernel, scores, GAMMA)[np.ix_(which, which)]
    posterior = enumeration.exact_posterior(scores[which], GAMMA)
    root = np.sqrt(posterior)
    scaled = root[:, None] * transitions / root
    spectrum = np.sort(np.abs(np.linalg.eigvalsh((scaled + scaled.T) / 2)))[::-1][1:]
    weights: dict[ParentVector, Fraction] = dict.fromkeys(kernel, Fraction(0))
    weights |= {tree: Fraction(float(p)) for tree, p in zip(trees, posterior, strict=True)}
    starts = np.full(len(trees), 1 / len(trees))
    imbalance = enumeration.imbalance(kernel, weights)
    return Target(plan, trees, starts, posterior, transitions, imbalance, spectrum)


@cache
def target_with(mutations: int, way: str) -> Target:
    """Return the target of the chain's own model, which several tests use."""
    plan = small_plan(mutations, way)
    return target_of(plan, scores_of(plan), allowed_trees(plan.labels))


def scores_of(plan: Plan) -> NDArray[np.float64]:
    """Return the scores of all trees, natural log."""
    trees = all_trees(plan.labels)
    return np.array([plan.score_of(np.array(tree, dtype=np.int32)) for tree in trees]) * plan.problem.unit


def best_scores(plan: Plan, *, gained: bool) -> NDArray[np.float64]:
    """Return maximum scores of all trees without a constraint, natural log.

    Args:
        plan: for its problem.
        gained: whether a node has the mutation below either copy, and never loses it.
    """
    weights = plan.problem.weight_rows().astype(np.int64)
    found = []
    for tree in all_trees(plan.labels):
        above = ancestor_matrix(np.array(tree, dtype=np.int32))
        has = above[:-1].copy()
        has[MUTATION] = above[MUTATION] | above[-2] if gained else above[MUTATION] ^ above[-2]
        has[-1] = False
        best = (has.T.astype(np.int64) @ weights).max(axis=0)
        found.append(int(best @ plan.problem.multiplicity))
    return np.array(found) * plan.problem.unit


def check(target: Target, device: str, samples: int) -> PosteriorCase:
    return judge(target, sample_chain(target, choose_device(device), "auto", samples, seed=1, slots=512))


@pytest.mark.parametrize("way", ["max", "doublets", pytest.param("sum", marks=pytest.mark.verification)])
@pytest.mark.parametrize(
    ("device", "samples", "mutations"),
    [
        pytest.param("numpy", 2000, 3, marks=pytest.mark.verification),
        ("native", 20_000, 3),
        pytest.param("cpu", 100_000, 3, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("fpga-emu", 50_000, 3, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("native", 200_000, 4, marks=pytest.mark.verification),
    ],
)
def test_the_chain_samples_its_posterior(device: str, samples: int, mutations: int, way: str) -> None:
    assert check(target_with(mutations, way), device, samples).holds


def test_targets_of_other_models_are_rejected() -> None:
    """With the same samples, a loss that is no loss fails, as do all trees without the constraint."""
    plan, allowed = small_plan(3, "max"), allowed_trees(4)
    everything = np.ones_like(allowed)
    right = check(target_of(plan, best_scores(plan, gained=False), allowed), "native", 20_000)
    assert right.holds, "the scores here are those of the chain"
    gained = judge(target_of(plan, best_scores(plan, gained=True), allowed), right.samples)
    assert not gained.visits.holds
    assert not gained.steps.holds
    free = check(target_of(plan, best_scores(plan, gained=False), everything), "native", 20_000)
    assert not free.visits.holds
    assert not free.steps.holds


@pytest.mark.parametrize(
    ("way", "samples", "less"),
    [
        ("max", 20_000, 0),
        ("doublets", 20_000, 2**29),
        pytest.param("doublets", 75_000, 2**28, marks=pytest.mark.verification),
        pytest.param("sum", 20_000, 0, marks=pytest.mark.verification),
    ],
)
def test_the_chain_of_another_mutation_or_rate_does_not(way: str, samples: int, less: int) -> None:
    """Chains with doublets differ in their rate; the closer it is, the more samples show that."""
    target, changed = target_with(3, way), small_plan(3, way)
    settings = {**changed.score.defaults}
    settings |= {"pair_share": settings["pair_share"] - less} if way == "doublets" else {}
    rates = changed if way == "doublets" else replace(changed, gamma=1.1)
    other = replace(rates, score=replace(changed.score, defaults=settings))
    visits = check(replace(target, plan=other), "native", samples).visits
    assert visits.fit.p_value < 1e-9, visits.fit.p_value
    assert not visits.holds


POINTS = {"max": (3, 2), "doublets": (2, 2, 2)}
"""Points of the grids of learned rates: three mutations and a copy have 60 allowed trees."""


def learned_plan(way: str, *, doublets: float = 0.25, fn_rate: float = RATES.fn_rate) -> Plan:
    """Return chains that learn all rates; `doublets` and `fn_rate` are means of priors."""
    rates = replace(RATES, fn_rate=fn_rate)
    options = ScoreOptions("max", doublets if way == "doublets" else None, MUTATION)
    model = few_points(rates, POINTS[way], options.doublets)
    problem = make_problem(with_copy(small_matrix(3), MUTATION), rates, octaves=options.octaves, model=model)
    return make_plan(
        problem,
        move_probabilities=MOVE_PROBABILITIES,
        score=score_named("max", problem, options.doublets, MUTATION),
        space=space_of(options),
    )


def learned_target(plan: Plan) -> Target:
    """Return a target whose states are the allowed trees with all points of the rates, grouped by tree."""
    trees, allowed = tuple(all_trees(plan.labels)), allowed_trees(plan.labels)
    places, start = len(places_of(plan)), places_of(plan).index(plan.start_rates)
    which = np.repeat(allowed, places)
    joint = joint_scores(plan, trees) * plan.problem.unit
    nats, transitions = joint.ravel()[which], joint_transitions(plan, joint)[np.ix_(which, which)]
    posterior = enumeration.exact_posterior(nats, plan.gamma)
    root = np.sqrt(posterior)
    scaled = root[:, None] * transitions / root
    spectrum = np.sort(np.abs(np.linalg.eigvalsh((scaled + scaled.T) / 2)))[::-1][1:]
    starts = np.zeros(len(posterior))
    starts[start::places] = 1 / allowed.sum()
    own = tuple(tree for tree, one in zip(trees, allowed, strict=True) if one)
    return Target(plan, own, starts, posterior, transitions, jump_imbalance(plan), spectrum)


@pytest.fixture(scope="module", params=["max", pytest.param("doublets", marks=pytest.mark.verification)])
def joint(request: pytest.FixtureRequest) -> tuple[str, Target]:
    return request.param, learned_target(learned_plan(request.param))


@pytest.mark.parametrize(
    ("device", "samples"),
    [
        pytest.param("numpy", 2000, marks=pytest.mark.verification),
        pytest.param("native", 100_000, marks=pytest.mark.verification),
        pytest.param("cpu", 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
        ("native", 10_000),
    ],
)
def test_learned_rates_are_sampled_with_the_trees(
    joint: tuple[str, Target], device: str, samples: int
) -> None:
    assert check(joint[1], device, samples).holds


def test_learned_rates_of_other_priors_are_not(joint: tuple[str, Target]) -> None:
    """Chains with another prior of the learned rate of doublets, or of false negatives, are rejected."""
    way, target = joint
    other = learned_plan(way, doublets=0.5) if way == "doublets" else learned_plan(way, fn_rate=0.4)
    found = check(replace(target, plan=other), "native", 10_000)
    assert not found.visits.holds
    assert not found.holds
