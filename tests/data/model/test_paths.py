"""Blocks of columns on the paths of a tree, beside the definition; no result depends on the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.model import paths
from syclade.host.data.model.assignment import attach
from syclade.host.data.model.likelihood import event_counts
from syclade.host.data.model.paths import (
    blocks_of,
    column_counts,
    counts_on_paths,
    distinct_rows,
    first_best,
    value_counts,
    walk_of,
)
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_fit import expected_counts
from syclade.host.data.model.rates import Rates, distinct_columns
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.cells import cells_on
from syclade.host.findings.consensus.clone_tree import clone_tree_of
from tests.support.tree_strategies import observations, trees

RATES = Rates(1e-3, 0.2)


@given(st.data(), trees())
def test_counts_are_those_of_the_ancestors(data: st.DataObject, tree: NDArray[np.int32]) -> None:
    values = data.draw(observations(len(tree) - 1))
    walk = walk_of(tree)
    counts = counts_on_paths(values, walk, 3)
    for place, node in enumerate(walk.order.tolist()):
        above = ancestor_matrix(tree)[:-1, node].astype(bool)
        for value in range(3):
            assert counts[value, place].tolist() == (values[above] == value).sum(axis=0).tolist()


@given(st.integers(1, 10_000), st.integers(2, 10**7))
def test_blocks_are_all_columns(columns: int, nodes: int) -> None:
    blocks = list(blocks_of(columns, nodes))
    assert [blocks[0].start, *(one.stop for one in blocks)] == [*(one.start for one in blocks), columns]
    assert min(one.stop - one.start for one in blocks) >= min(columns, 2)
    assert max(one.stop - one.start for one in blocks) <= 1024


def test_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    made = simulate(67, 30, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=4)
    tree = made.parents
    problem = make_problem(made.matrix, RATES)
    clones = clone_tree_of(tree)

    def results() -> list[NDArray[np.generic]]:
        cells, shares = cells_on(clones, made.matrix, RATES), expected_counts(made.matrix, RATES, tree)
        cells_at = attach(problem, RATES, tree)
        return [
            event_counts(made.matrix, RATES, tree),
            *shares,
            *(cells_at.node, cells_at.ties, cells_at.log_likelihood),
            *(cells.likelihood, cells.tail, cells.best, cells.runner_up),
        ]

    whole = results()
    monkeypatch.setattr(paths, "_MOST", 4)
    monkeypatch.setattr(paths, "_LEAST", 4)
    assert len(list(blocks_of(67, 31))) == 17
    assert all(np.array_equal(one, other) for one, other in zip(whole, results(), strict=True))


def test_the_first_of_equal_scores() -> None:
    best, place = first_best(np.array([[1, 0], [3, 0], [3, 0]]))
    assert (best.tolist(), place.tolist()) == ([3, 0], [1, 0])


@pytest.mark.parametrize("rows", [1, 255, 256, 600])
def test_counts_of_columns_and_values(rows: int) -> None:
    values = np.random.default_rng(rows).integers(0, 4, (rows, 301), dtype=np.uint8)
    values[:, 0] = 1
    assert column_counts(values == 1).tolist() == (values == 1).sum(axis=0).tolist()
    for kinds in (5, 20):
        assert value_counts(values, kinds).tolist() == [int((values == one).sum()) for one in range(kinds)]


def test_distinct_rows_of_any_numbers() -> None:
    rows = np.random.default_rng(3).integers(-1, 2, (50, 3))
    kinds, kind_of, counts = distinct_rows(rows)
    assert sorted(kinds.tolist()) == np.unique(rows, axis=0).tolist()
    assert np.array_equal(kinds[kind_of], rows)
    assert counts.tolist() == np.bincount(kind_of).tolist()
    assert [one.shape for one in distinct_rows(rows[:0])] == [(0, 3), (0,), (0,)]


@pytest.mark.parametrize("shape", [(1, 9), (3, 200), (40, 1)])
def test_distinct_columns_are_sorted_by_their_values(shape: tuple[int, int]) -> None:
    made = simulate(shape[1], shape[0], fp_rate=0.2, fn_rate=0.3, missing=0.2, seed=1)
    values, column_of, multiplicity = distinct_columns(made.matrix, RATES)
    expected = sorted({tuple(column) for column in made.matrix.values.T.tolist()})
    assert [tuple(column) for column in values.T.tolist()] == expected
    assert np.array_equal(values[:, column_of], made.matrix.values)
    assert multiplicity.tolist() == [int((column_of == one).sum()) for one in range(len(expected))]
