"""Assignment of the cells, compared with trying every node."""

from __future__ import annotations

import math
import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.assignment import Assignment, attach
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import preorder
from syclade.host.data.trees.treefile import read_tree
from syclade.quality.oracle import float_score
from syclade.quality.oracle.score import node_scores
from tests.support.backends import four_weights
from tests.support.tree_strategies import observations, path_tree, trees

RATES = Rates(1e-3, 0.2)


def attached(matrix: Matrix, parents: NDArray[np.int32], rates: Rates = RATES) -> Assignment:
    return attach(make_problem(matrix, rates), rates, parents)


@given(st.data(), trees(), st.builds(Rates, st.floats(1e-9, 0.4), st.floats(1e-3, 0.5)))
@settings(deadline=None)
def test_attachments_are_the_oracles(data: st.DataObject, parents: NDArray[np.int32], rates: Rates) -> None:
    """Check every cell in input order, equal cells included; ties go to the first node in preorder."""
    matrix = matrix_from_array(np.tile(data.draw(observations(len(parents) - 1)), 2))
    problem = make_problem(matrix, rates)
    found = attach(problem, rates, parents)
    assert found.node.dtype == found.ties.dtype == np.int32
    order = preorder(parents).tolist()
    for cell, column in enumerate(matrix.values.T.tolist()):
        scores = node_scores(parents, column, four_weights(problem))
        best = [node for node in order if scores[node] == max(scores)]
        assert (found.node[cell], found.ties[cell]) == (best[0], len(best))
        exact = float_score.cell_log_likelihood(parents.tolist(), best[0], column, rates.log_table())
        assert found.log_likelihood[cell] == pytest.approx(exact, abs=1e-9)


@given(st.data(), trees())
@settings(deadline=None)
def test_the_cells_add_up_to_the_tree(data: st.DataObject, parents: NDArray[np.int32]) -> None:
    matrix = matrix_from_array(data.draw(observations(len(parents) - 1)))
    total = math.fsum(attached(matrix, parents).log_likelihood)
    assert total == pytest.approx(log_likelihood(matrix, RATES, parents), abs=1e-9)


def test_ties_are_exact_where_floats_are_not() -> None:
    """With equal rates a 0 cancels a 1 exactly; only integer sums do not depend on the order."""
    rates = Rates(0.3, 0.3)
    values = [[1], [1], [0], [1], [0], [0], [1]]
    found = attached(matrix_from_array(values), path_tree(7), rates)
    # Upwards from the root: 6 (1), 5 (0), 4 (0), 3 (1), 2 (0), 1 (1), 0 (1): sums 1 0 -1 0 -1 0 1.
    assert (found.node.tolist(), found.ties.tolist()) == ([6], [2])


def test_all_missing_and_smallest() -> None:
    missing = attached(matrix_from_array(np.full((3, 2), 3)), np.array([1, 2, 3, 3], np.int32))
    assert missing.node.tolist() == [3, 3]
    assert missing.ties.tolist() == [4, 4]
    assert missing.log_likelihood.tolist() == [0.0, 0.0]
    one = attached(matrix_from_array([[1, 0]]), np.array([1, 1], np.int32))
    assert one.node.tolist() == [0, 1]
    assert one.ties.tolist() == [1, 1]
    assert one.log_likelihood.tolist() == [math.log1p(-0.2), math.log1p(-1e-3)]


@pytest.mark.shared
@pytest.mark.parametrize("number", [0, 1])
def test_attachments_are_scites(shared_dir: Path, number: int) -> None:
    """SCITE (``-a``) draws an edge to a cell from each of its best nodes."""
    matrix = read_matrix(shared_dir / "data" / "dataXu.csv", shared_dir / "data" / "dataXu.geneNames")
    rates = Rates(2.67e-5, 0.1643)
    file = shared_dir / "reference" / "scite-cli" / "ml-names-attach" / f"out_ml{number}.gv"
    found = attached(matrix, read_tree(file, matrix.mutations), rates)
    edges = re.findall(r"^(\S+) -> s(\d+);", file.read_text(), re.MULTILINE)
    for cell in range(matrix.n_cells):
        best = {name for name, number in edges if int(number) == cell}
        assert [*matrix.mutations, "Root"][found.node[cell]] in best
        assert found.ties[cell] == len(best)


@pytest.mark.parametrize("shape", ["random", "path"])
def test_large_matrices(shape: str) -> None:
    problem = make_problem(simulate(10_000, 1000, 1e-3, 0.2, 0.1, 1).matrix, RATES)
    parents = random_parents(1000, np.random.default_rng(2)) if shape == "random" else path_tree(1000)
    start = time.process_time()
    found = attach(problem, RATES, parents)
    assert time.process_time() - start < 2.0
    assert found.node.shape == (10_000,)
    tracemalloc.start()
    attach(problem, RATES, parents)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 * problem.observed.nbytes
