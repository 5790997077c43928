"""Swaps of labels of neighbours, summed over the nodes of cells: compiled, in numpy, and as defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.shares import label_swaps
from syclade.host.chains import native_cells
from syclade.host.chains.cells_at_nodes import (
    NUMBERS_OF_SWAPS,
    NumpyCells,
    cells_by_column,
    factors_of_product,
    parts_of_numbers,
    relabelled,
    weight_factors,
)
from syclade.host.chains.gibbs import GibbsSteps
from syclade.host.chains.native_cells import NativeCells
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.shares import uniform_log_shares
from syclade.host.data.trees.tree import are_trees
from syclade.kernels.shares import arguments
from tests.chains.test_relocation import p_value, plan_of, states_of
from tests.suites.rows.shares import place_cells


def log_shares_of(plan: Plan, chains: int, concentration: float) -> NDArray[np.int32]:
    """Return random shares of each chain."""
    shares = np.random.default_rng(chains).dirichlet(np.full(plan.problem.nodes, concentration), chains)
    logs = np.log2(np.maximum(shares, 2.0**-40)) * 2**plan.problem.scale_bits
    return np.asarray(np.rint(logs), dtype=np.int32)


@pytest.mark.parametrize(
    ("mutations", "cells", "own_rates"),
    [(1, 1, False), (2, 9, False), (3, 400, False), (40, 33, True), (30, 200, False), (150, 20, False)],
)
def test_native_code_has_the_bits_of_numpy(mutations: int, cells: int, own_rates: bool) -> None:
    """Labels, the nodes that are drawn after them, and the scores of the trees that they make."""
    plan, random = plan_of(mutations, cells, own_rates=own_rates), np.random.default_rng(1)
    problem, spare = plan.problem, plan.settings["sum_spare"]
    states, rates = states_of(plan, random, own_rates=own_rates)
    native, numpy = NativeCells(problem, 3, spare), NumpyCells(problem, spare)
    logs, trees = log_shares_of(plan, 3, 0.5), np.array([state.parents for state in states])
    for turn in range(3):
        swaps, uniform = random.random((3, NUMBERS_OF_SWAPS * problem.nodes)), random.random((3, cells))
        for one in (native, numpy):
            place_cells(one, states, rates)
        label = native.swap(logs, swaps)
        np.testing.assert_array_equal(numpy.swap(logs, swaps), label)
        trees = relabelled(trees, label)
        assert are_trees(trees)
        np.put_along_axis(logs, label.astype(np.int64), logs.copy(), axis=1)
        for found, expected in zip(native.draw(logs, uniform), numpy.draw(logs, uniform), strict=True):
            np.testing.assert_array_equal(found, expected)
        states = [replace(state, parents=tree) for state, tree in zip(states, trees, strict=True)]
        totals = native.totals(logs)
        place_cells(native, states, rates)
        assert totals.tolist() == numpy.totals(logs).tolist() == native.totals(logs).tolist()
        assert turn or mutations == 1 or (label != np.arange(problem.nodes)).any()


def test_both_propose_the_same_swaps() -> None:
    assert (label_swaps._MOST_CHANGED, label_swaps._LEAST_PART) == (
        arguments.MOST_CHANGED,
        arguments.LEAST_PART,
    )


def likelihoods_of(plan: Plan, shape: Sequence[int], shares: Sequence[float]) -> dict[tuple[int, ...], float]:
    """Return the likelihood of each assignment of mutations to the places of a tree, over all nodes."""
    gains = plan.problem.weight_rows()[:, cells_by_column(plan.problem)] * 2.0**-plan.problem.scale_bits
    found = {}
    for label in permutations(range(len(shape) - 1)):
        scores = np.zeros((len(shape), gains.shape[1]))
        for place in range(len(shape) - 1):
            above = place
            while above != len(shape) - 1:
                scores[place] += gains[label[above]]
                above = shape[above]
        found[label] = float(np.prod(np.array(shares) @ np.exp2(scores)))
    return found


def labels_after(
    plan: Plan, shape: Sequence[int], shares: NDArray[np.float64], wanted: dict[tuple[int, ...], float]
) -> NDArray[np.int64]:
    """Return how many chains have each assignment after some sweeps from draws of the wanted distribution."""
    chains, nodes = 4000, len(shape)
    logs = np.tile(np.rint(np.log2(shares) * 2**plan.problem.scale_bits).astype(np.int32), (chains, 1))
    random, parts = np.random.default_rng(5), np.array(list(wanted.values()))
    labels = np.full((chains, nodes), nodes - 1, dtype=np.int32)
    labels[:, :-1] = np.array(list(wanted))[random.choice(len(parts), chains, p=parts / parts.sum())]
    cells, begun = NativeCells(plan.problem, chains, plan.settings["sum_spare"]), initial_state(plan, 3, 0)
    for _ in range(8):
        trees = relabelled(np.tile(np.array(shape, dtype=np.int32), (chains, 1)), labels)
        of_labels = np.empty_like(logs)
        np.put_along_axis(of_labels, labels.astype(np.int64), logs, axis=1)
        cells.place(trees, np.tile(np.array(begun.rates.weights), (chains, 1)))
        moved = cells.swap(of_labels, random.random((chains, NUMBERS_OF_SWAPS * nodes)))
        labels = np.take_along_axis(moved, labels.astype(np.int64), axis=1)
    number = {label: at for at, label in enumerate(wanted)}
    found = [number[tuple(label)] for label in labels[:, :-1].tolist()]
    return np.bincount(found, minlength=len(number))


SHAPES = {"chain": [3, 0, 1, 3], "fork": [3, 0, 0, 3], "both": [4, 0, 0, 2, 4]}


@pytest.mark.statistical
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_swaps_keep_the_probabilities_of_all_nodes_of_all_cells(shape: list[int]) -> None:
    """All assignments of the mutations to the places of a tree; not so those of other shares."""
    plan = plan_of(len(shape) - 1, 5)
    shares = np.random.default_rng(len(shape)).dirichlet(np.ones(len(shape)))
    wanted = likelihoods_of(plan, shape, shares.tolist())
    assert p_value(list(wanted.values()), labels_after(plan, shape, shares, wanted)) > 0.001
    other = likelihoods_of(plan, shape, shares[::-1].tolist())
    assert p_value(list(other.values()), labels_after(plan, shape, shares, other)) < 1e-6


@pytest.mark.statistical
def test_an_order_by_labels_favours_some_trees() -> None:
    """Labels move from node to node, so the order of the nodes must not depend on them."""

    def by_label(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        turns, others = parts_of_numbers(numbers)
        return np.sort(turns, axis=1), others

    shape = SHAPES["both"]
    plan, shares = plan_of(4, 5), np.full(5, 0.2)
    wanted = likelihoods_of(plan, shape, shares.tolist())
    with patch.object(native_cells, "parts_of_numbers", by_label):
        visits = labels_after(plan, shape, shares, wanted)
    assert p_value(list(wanted.values()), visits) < 1e-6


def test_factors_are_powers_of_two_and_their_products_normal_numbers() -> None:
    """Also of weights that are far beyond those of calls."""
    plan = plan_of(3, 5)
    problem, unit = plan.problem, 2**plan.problem.scale_bits
    for octaves in (0, 1, 30, 239, 900):
        weights = np.rint(np.array([-1.0, 0.5, 1.0]) * octaves * unit).astype(np.int64)
        factors = weight_factors(problem, weights)
        cut = np.clip(weights / unit, -240.0, 240.0)
        np.testing.assert_allclose(factors[:, :3], np.exp2([cut, -cut]), rtol=1e-14)
        assert (factors[:, 3:] == 1.0).all()
        length = factors_of_product(problem, weights[None])
        assert 2 <= length <= 16
        largest = factors.max() ** 2
        assert np.isfinite(largest**length)
        assert (1.0 / largest) ** length > np.finfo(np.float64).tiny


@pytest.mark.parametrize(("mutations", "swaps"), [(129, 1), (128, 0)])
def test_gibbs_steps_of_large_trees_swap_labels(mutations: int, swaps: int) -> None:
    """The tree and the shares after it are those of the swaps: nodes are drawn given them."""
    plan = plan_of(mutations, 20)
    state = initial_state(plan, 1, 0)
    begun = replace(state, rates=replace(state.rates, log_shares=uniform_log_shares(plan.problem)))
    sampler = NumpyCells(plan.problem, plan.settings["sum_spare"])
    with patch.object(sampler, "swap", wraps=sampler.swap) as swap:
        (after,) = GibbsSteps(plan, 1, cells=sampler)([begun])
    assert swap.call_count == swaps
    assert after.score == plan.score_of(after.parents, after.rates)
