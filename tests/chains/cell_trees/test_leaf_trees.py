"""Cell trees as parent vectors, and their score, compared with all trees and all placements."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains.plan import make_leaf_plan
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.assignment import place
from syclade.host.data.model.problem import CELL_BITS, SlotRates, make_leaf_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import (
    are_leaf_trees,
    canonical,
    clades,
    leaf_tree_of,
    validate_leaf_parents,
)
from syclade.host.data.trees.tree import initial_leaf_parents
from syclade.host.ground.errors import MatrixError, OptionError, TreeError
from syclade.quality.oracle.leaf import Clades, all_leaf_trees, clades_below, leaf_score, parents_of
from tests.support.leaf import LeafCase


def tree_of(parents: NDArray[np.int32]) -> Clades:
    return frozenset(clades_below(parents.tolist()))


@pytest.mark.parametrize("cells", [2, 3, 4, 5, 6])
def test_there_are_as_many_trees_as_the_formula_says(cells: int) -> None:
    trees = list(all_leaf_trees(cells))
    assert len(set(trees)) == len(trees) == math.prod(range(1, 2 * cells - 2, 2))
    for tree in trees:
        parents = validate_leaf_parents(parents_of(tree))
        assert tree_of(parents) == tree


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([2, 2, 3, 3], "4 nodes"),
        ([3, 3, 3, 4, 4], "internal node 3 has 3 children"),
        ([1, 4, 4, 4, 4], "cell 1 has 1 children"),
        ([4, 4, 4, 4, 4], "internal node 3 has 0 children"),
        ([3, 3, 4, 3, 4], "own parent"),
    ],
)
def test_what_is_no_cell_leaf_tree_is_refused(parents: list[int], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        validate_leaf_parents(parents)


@pytest.mark.parametrize("cells", [2, 3])
def test_many_vectors_are_checked_at_once(cells: int) -> None:
    """All vectors one by one, and each beside a valid one."""
    nodes = 2 * cells - 1
    whole = parents_of(next(iter(all_leaf_trees(cells))))
    for parents in itertools.product(range(nodes), repeat=nodes):
        try:
            validate_leaf_parents(parents)
        except TreeError:
            valid = False
        else:
            valid = True
        for rows in ([parents], [whole, parents]):
            assert are_leaf_trees(np.array(rows, np.int32)) == valid
    assert are_leaf_trees(np.zeros((0, nodes), np.int32))


@pytest.mark.statistical
def test_initial_trees_are_uniform() -> None:
    counts: Counter[Clades] = Counter()
    for chain in range(3000):
        counts[tree_of(validate_leaf_parents(initial_leaf_parents(8, 5, chain)))] += 1
    assert set(counts) == set(all_leaf_trees(5))
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


def test_equal_trees_have_equal_canonical_vectors() -> None:
    generator = np.random.default_rng(1)
    for chain in range(20):
        parents = initial_leaf_parents(18, 1, chain)
        number = np.arange(19)
        number[10:18] = generator.permutation(number[10:18])
        renamed = np.empty_like(parents)
        renamed[number] = number[parents]
        assert tree_of(renamed) == tree_of(parents)
        own = canonical(parents)
        np.testing.assert_array_equal(canonical(renamed), own)
        assert tree_of(validate_leaf_parents(own)) == tree_of(parents)
        np.testing.assert_array_equal(canonical(own), own)


@pytest.mark.parametrize("kind", ["random", "zygosity", "equal"])
def test_the_score_is_the_best_of_all_placements(kind: str) -> None:
    case = LeafCase(3, 4, kind)
    problem, values, table = case.problem(), case.matrix().values, case.rates().log_table()
    plan = case.plan()
    for tree in all_leaf_trees(4):
        parents = np.array(parents_of(tree), dtype=np.int32)
        best = max(
            sum(
                table[values[gene, cell], int(cell in clade)]
                for gene, clade in enumerate(placed)
                for cell in range(4)
            )
            for placed in itertools.product(tree, repeat=3)
        )
        score = plan.score.of(problem, parents, problem.rates, {})
        assert problem.to_nats(score) == pytest.approx(best, abs=1e-4)
        assert score == leaf_score(tree, problem.cell_rows().tolist())
        assert place(case.matrix(), case.rates(), problem, parents)[1] == pytest.approx(best, abs=1e-9)


def test_placements_are_those_of_their_edges() -> None:
    case = LeafCase(12, 7, "zygosity")
    matrix, problem, table = case.matrix(), case.problem(), case.rates().log_table()
    parents = canonical(initial_leaf_parents(12, 3, 0))
    (placed, total), below = place(matrix, case.rates(), problem, parents), clades(parents)
    sums = below.astype(np.int64) @ problem.cell_rows()
    for gene in range(12):
        best = np.flatnonzero(sums[:, gene] == sums[:, gene].max())
        assert placed.node[gene] in best
        assert placed.ties[gene] == len(best)
        has = below[placed.node[gene]]
        own = sum(table[matrix.values[gene, cell], int(has[cell])] for cell in range(7))
        assert placed.log_likelihood[gene] == pytest.approx(own, abs=1e-9)
        # No other best node is above it.
        assert not any((below[node] >= has).all() and node != placed.node[gene] for node in best)
    assert total == pytest.approx(placed.log_likelihood.sum(), abs=1e-9)


def test_a_mutation_tree_with_cells_everywhere_is_no_better() -> None:
    """The cells of a mutation in a mutation tree form a clade of the cell tree made from that tree."""
    made = simulate(60, 8, 0.01, 0.1, 0.1, seed=2)
    rates = Rates(0.01, 0.1)
    problem = make_leaf_problem(made.matrix, rates)
    for node in range(9):  # every node gets a cell, so that every mutation has at least one
        made.attachments[node] = node
    parents = validate_leaf_parents(leaf_tree_of(made.parents, made.attachments.tolist()))
    below = [set(np.flatnonzero(row).tolist()) for row in clades(parents)]
    for mutation in range(8):
        has = {
            cell
            for cell, node in enumerate(made.attachments.tolist())
            if mutation in path_to(made.parents, node)
        }
        assert has in below
    placed = place(made.matrix, rates, problem, parents)[1]
    table = rates.log_table()
    carried = np.array([[g in path_to(made.parents, node) for node in made.attachments] for g in range(8)])
    assert placed >= table[made.matrix.values, carried.astype(int)].sum() - 1e-9


def path_to(parents: NDArray[np.int32], node: int) -> set[int]:
    found = {int(node)}
    while parents[node] != node:
        node = int(parents[node])
        found.add(node)
    return found


def test_the_unit_has_room_for_all_cells() -> None:
    matrix = matrix_from_array(np.ones((2, 5000), dtype=np.uint8))
    problem = make_leaf_problem(matrix, Rates(1e-6, 0.1))
    most = np.abs(problem.cell_rows()).sum(axis=0).max()
    assert 2 ** (CELL_BITS - 2) < most < 2**CELL_BITS
    assert problem.can_score(problem.rates) is None
    heavier = SlotRates(tuple(8 * weight for weight in problem.rates.weights), problem.rates.base)
    assert "a mutation's score could reach" in str(problem.can_score(heavier))


def test_what_makes_no_chain_is_refused() -> None:
    with pytest.raises(MatrixError, match="one cell"):
        make_leaf_problem(matrix_from_array(np.ones((3, 1), dtype=np.uint8)), Rates(0.01, 0.1))
    problem = LeafCase(3, 4).problem()
    with pytest.raises(OptionError, match="2 numbers"):
        make_leaf_plan(problem, move_probabilities=(0.3, 0.3, 0.4))
