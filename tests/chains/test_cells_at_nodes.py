"""Draws of nodes and scores of trees with shares: by compiled code, in numpy, and as they are defined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syclade.fallback.shares.gibbs import power_tables
from syclade.host.chains import native_cells
from syclade.host.chains.cells_at_nodes import (
    NUMBERS_OF_PLACES,
    NUMBERS_OF_SWAPS,
    CellsAtNodes,
    NumpyCells,
    cells_by_column,
    shares_from_logs,
)
from syclade.host.chains.native_cells import NativeCells, make_cells
from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import node_scores, score_named, sum_definition
from syclade.host.chains.shares import LOWEST_OCTAVE
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.dropout import problem_of_groups, slot_rates
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.compile.precompiled import own_processor
from syclade.host.device.engines.local import NativeEngine
from tests.suites.rows.shares import place_cells

RATES = Rates(0.01, 0.2)


def test_tables_have_powers_of_two() -> None:
    octaves, upper, lower = power_tables()
    assert octaves[:3].tolist() == [1.0, 0.5, 0.25]
    assert octaves[-1] == 0.0
    np.testing.assert_allclose(upper, np.exp2(-np.arange(256) / 256), rtol=2e-15)
    np.testing.assert_allclose(lower, np.exp2(-np.arange(256) / 65536), rtol=2e-15)


@pytest.mark.parametrize(
    ("mutations", "cells", "own_rates"), [(1, 1, False), (3, 60, False), (40, 33, False), (30, 200, True)]
)
def test_native_code_has_the_bits_of_numpy_and_the_scores_of_the_definition(
    mutations: int, cells: int, own_rates: bool
) -> None:
    """With equal columns, columns that fill no block, other weights for each chain, shares next to 0."""
    random = np.random.default_rng(mutations)
    matrix = matrix_from_array(random.choice([0, 1, 3], p=[0.6, 0.3, 0.1], size=(mutations, cells)))
    problem = make_problem(matrix, RATES, octaves=True)
    if own_rates:
        problem = problem_of_groups(matrix, RATES, np.arange(mutations))
    plan = make_plan(problem, score=score_named("shares", problem))
    states, spare = [initial_state(plan, 1, chain) for chain in range(3)], plan.settings["sum_spare"]
    rates = [
        slot_rates(problem, 0.01, random.uniform(0.1, 0.5, mutations)) if own_rates else state.rates
        for state in states
    ]
    logs = np.log2(np.maximum(random.dirichlet(np.full(problem.nodes, 0.1), size=3), 2.0**LOWEST_OCTAVE))
    log_shares = np.rint(logs * 2**problem.scale_bits).astype(np.int32)
    numbers = random.random((3, cells))
    native: CellsAtNodes = NativeCells(problem, 3, spare)
    numpy: CellsAtNodes = NumpyCells(problem, spare)
    for one in (native, numpy):
        place_cells(one, states, rates)
    nodes, counts = numpy.draw(log_shares, numbers)
    for found, expected in zip(native.draw(log_shares, numbers), (nodes, counts), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert counts.tolist() == [[(own == node).sum() for node in range(problem.nodes)] for own in nodes]
    np.testing.assert_array_equal(native.totals(log_shares), numpy.totals(log_shares))
    column_of = np.sort(problem.column_of)
    for chain, (state, own) in enumerate(zip(states, rates, strict=True)):
        shared = replace(own, log_shares=tuple(log_shares[chain].tolist()))
        total = sum_definition(problem, state.parents, shared, plan.settings)
        assert native.totals(log_shares)[chain] == total
        scores = node_scores(problem, state.parents, own)[:, column_of] / 2.0**problem.scale_bits
        ends = np.cumsum(
            np.exp2(scores - scores.max(axis=0)) * shares_from_logs(problem, log_shares)[chain, :, None], 0
        )
        before = ends[nodes[chain] - 1, np.arange(cells)] * (nodes[chain] > 0) / ends[-1]
        assert (before <= numbers[chain] + 1e-12).all()
        assert (ends[nodes[chain], np.arange(cells)] / ends[-1] >= numbers[chain] - 1e-12).all()


def test_native_code_is_taken_where_the_package_has_it() -> None:
    problem = make_problem(matrix_from_array(np.ones((2, 2), dtype=np.uint8)), RATES, octaves=True)
    assert own_processor() is None or isinstance(make_cells(problem, 1, 0), NativeCells)


@pytest.mark.parametrize(("mutations", "cells"), [(3, 500), (12, 30), (30, 12), (1, 1)])
def test_missed_and_seen_mutations_are_counted_as_they_are_defined(mutations: int, cells: int) -> None:
    """By compiled code and in numpy, of two chains; cells of equal columns at nodes in turns, too."""
    rng = np.random.default_rng(1)
    values = rng.choice(4, (mutations, cells), p=(0.4, 0.3, 0.1, 0.2)).astype(np.uint8)
    problem = make_problem(matrix_from_array(values), replace(RATES, merge_homozygous=True))
    plan = make_plan(problem)
    sorted_values = problem.observed[:, cells_by_column(problem)]
    for seed in range(3):
        trees = np.array([initial_state(plan, seed, chain).parents for chain in range(2)])
        nodes = rng.integers(0, mutations + 1, (2, cells))
        weights = np.tile(np.array(problem.rates.weights), (2, 1))
        found = []
        for one in (NativeCells(problem, 2, 0), NumpyCells(problem)):
            one.place(trees, weights)
            found.append(one.missed_and_seen(nodes))
        np.testing.assert_array_equal(found[0], found[1])
        for tree, own_nodes, (missed, seen) in zip(trees, nodes, found[0].swapaxes(1, 2), strict=True):
            above = ancestor_matrix(tree)
            for row in range(mutations):
                own = [sorted_values[row, cell] for cell in range(cells) if above[row, own_nodes[cell]]]
                known = [value % 2 for value in own if value < problem.classes - 1]
                assert (missed[row], seen[row]) == (known.count(0), known.count(1))


def test_kernels_in_threads_have_the_bits_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each slot has arrays of its own, so a chain does not depend on what others do meanwhile."""
    random = np.random.default_rng(3)
    matrix = matrix_from_array(random.choice([0, 1, 3], p=[0.6, 0.3, 0.1], size=(60, 50)))
    problem = make_problem(matrix, RATES, octaves=True)
    plan = make_plan(problem, score=score_named("shares", problem))
    states, spare = [initial_state(plan, 1, chain) for chain in range(4)], plan.settings["sum_spare"]
    log_shares = np.array([state.rates.log_shares for state in states], dtype=np.int32)
    swaps, cells, places = (
        random.random((4, count)) for count in (NUMBERS_OF_SWAPS * 61, 50, NUMBERS_OF_PLACES * 60)
    )

    def found(alone: bool) -> list[object]:
        few = dict.fromkeys(native_cells._FEW_SCORES, 2**40 if alone else 0)
        monkeypatch.setattr(native_cells, "_FEW_SCORES", few)
        monkeypatch.setattr(
            NativeEngine, "launch" if alone else "run_here", None
        )  # which would be the other way
        native = NativeCells(problem, 4, spare)
        place_cells(native, states, [state.rates for state in states])
        label = native.swap(log_shares, swaps)
        nodes, counts = native.draw(log_shares, cells)
        return [
            label.tolist(),
            nodes.tolist(),
            counts.tolist(),
            native.missed_and_seen(nodes).tolist(),
            native.relocate(nodes, places).tolist(),
            native.totals(log_shares).tolist(),
        ]

    alone = found(True)
    monkeypatch.undo()
    assert found(False) == alone
