from __future__ import annotations

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.assignment import attach
from syclade.host.data.model.likelihood import event_counts, log_likelihood, log_likelihood_of_counts
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import ancestor_matrix, depths
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import MatrixError, TreeError
from syclade.quality.oracle import float_score as oracle_score
from tests.support.tree_strategies import observations, path_tree, trees

RATES = Rates(1e-3, 0.2)
rates = st.builds(Rates, st.floats(1e-9, 0.4), st.floats(1e-3, 0.5))


@given(st.data(), trees(), rates)
def test_equals_brute_force(data: st.DataObject, parents: NDArray[np.int32], rates: Rates) -> None:
    matrix = matrix_from_array(data.draw(observations(len(parents) - 1)))
    table = rates.log_table()
    score = log_likelihood(matrix, rates, parents)
    assert math.isclose(score, oracle_score.log_likelihood(matrix.values, table, parents), abs_tol=1e-9)


@given(st.data(), trees())
def test_counts_are_those_of_the_attachments(data: st.DataObject, parents: NDArray[np.int32]) -> None:
    matrix = matrix_from_array(data.draw(observations(len(parents) - 1)))
    places = attach(make_problem(matrix, RATES), RATES, parents).node
    truth = ancestor_matrix(parents)[:-1, places]
    counts = event_counts(matrix, RATES, parents)
    expected = [[int(((matrix.values == d) & (truth == e)).sum()) for e in (0, 1)] for d in range(4)]
    assert counts.tolist() == expected
    assert counts.dtype == np.int64
    assert counts.sum() == matrix.values.size
    assert log_likelihood_of_counts(counts, RATES) == log_likelihood(matrix, RATES, parents)


@given(st.data(), trees())
def test_order_does_not_matter(data: st.DataObject, parents: NDArray[np.int32]) -> None:
    n = len(parents) - 1
    values = data.draw(observations(n))
    rows = np.array(data.draw(st.permutations(range(n))))
    new_label = np.append(np.argsort(rows), n)
    renamed = new_label[parents[np.append(rows, n)]]
    columns = np.array(data.draw(st.permutations(range(values.shape[1]))))
    score = log_likelihood(matrix_from_array(values), RATES, parents)
    assert log_likelihood(matrix_from_array(values[rows][:, columns]), RATES, renamed) == score


def test_all_missing_and_smallest() -> None:
    missing = matrix_from_array(np.full((3, 2), 3))
    assert log_likelihood(missing, RATES, [1, 2, 3, 3]) == 0.0
    one = matrix_from_array([[1]])
    assert log_likelihood(one, RATES, [1, 1]) == pytest.approx(math.log(0.8))
    assert event_counts(one, RATES, [1, 1]).tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]]


def test_trees_that_do_not_fit() -> None:
    matrix = matrix_from_array([[0], [1]])
    with pytest.raises(MatrixError, match="2 mutations and the tree 1"):
        log_likelihood(matrix, RATES, [1, 1])
    with pytest.raises(TreeError, match="cycle"):
        log_likelihood(matrix, RATES, [1, 0, 2])


@pytest.mark.parametrize("shape", ["random", "path"])
def test_large_matrices(shape: str) -> None:
    made = simulate(5000, 1000, 1e-3, 0.2, 0.1, 1)
    parents = random_parents(1000, np.random.default_rng(2)) if shape == "random" else path_tree(1000)
    start = time.process_time()
    counts = event_counts(made.matrix, RATES, parents)
    assert time.process_time() - start < 2.0
    assert counts.sum() == 5_000_000
    assert depths(parents).max() <= 1000


@pytest.mark.shared
@pytest.mark.parametrize("number", range(1, 65))
def test_scites_trees_have_the_scores_of_its_logs(shared_dir: Path, number: int) -> None:
    folder = shared_dir / "reference" / "tost64"
    matrix = read_matrix(folder / "inputs" / f"{number:02}.csv")
    log = (folder / "scite" / f"{number:02}.log").read_text()
    (printed,) = re.findall(r"^best log score for tree:\s*(\S+)", log, re.MULTILINE)
    scores = [
        log_likelihood(matrix, Rates(1e-6, 0.25), read_tree(file, matrix.mutations))
        for file in sorted((folder / "scite").glob(f"{number:02}_ml0.*"))
    ]
    assert len(scores) == 2
    assert scores[0] == scores[1] == pytest.approx(float(printed), abs=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize("call", ["ml", "ml-names-attach", "gamma-moves"])
def test_scites_other_calls(shared_dir: Path, call: str) -> None:
    folder = shared_dir / "reference" / "scite-cli" / call
    matrix = read_matrix(shared_dir / "data" / "dataXu.csv", shared_dir / "data" / "dataXu.geneNames")
    printed = re.findall(r"best log score for tree:\s*(\S+)", (folder / "stdout.txt").read_text())[-1]
    for file in [*folder.glob("*.newick"), *folder.glob("*.gv")]:
        score = log_likelihood(matrix, Rates(2.67e-5, 0.1643), read_tree(file, matrix.mutations))
        assert score == pytest.approx(float(printed), abs=1e-6)
