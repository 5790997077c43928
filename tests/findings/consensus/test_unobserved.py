"""Pairs of mutations of which no cell tells anything, as where specimens have different panels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.consensus import CloneConsensus
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.consensus.finding import published_consensus
from syclade.host.findings.consensus.relations import consequences, follow_from_others
from syclade.host.findings.genotypes import make_genotypes, probabilities_of
from syclade.host.findings.unplaced import Unplaced

if TYPE_CHECKING:
    from syclade.host.findings.finding import BestTree

RATES = Rates(0.01, 0.1)
CHAIN = np.array([3, 0, 1, 3], dtype=np.int32)
"""A before B, and B before C."""


def of_two_panels(*more: tuple[int, ...]) -> Matrix:
    """Return cells of one panel without C, and of another one without B; and others."""
    first = [(0, 0, 3)] * 10 + [(1, 0, 3)] * 40 + [(1, 1, 3)] * 50
    second = [(0, 3, 0)] * 10 + [(1, 3, 0)] * 20 + [(1, 3, 1)] * 70
    return matrix_from_array(np.array([*first, *second, *more], dtype=np.uint8).T, ("A", "B", "C"))


def consensus_of(matrix: Matrix, tree: NDArray[np.int32] = CHAIN) -> CloneConsensus:
    trees = np.tile(tree, (50, 1))
    found = find_consensus(lambda: [trees], trees[0], matrix, RATES)
    assert found is not None
    return found


def relation_of(found: CloneConsensus, pair: tuple[str, str]) -> str:
    lines = [line.split("\t") for line in found.to_relations().splitlines()]
    (line,) = [line for line in lines if tuple(line[:2]) == pair]
    return line[5]


def test_all_sampled_trees_agree_and_no_cell_tells() -> None:
    found = consensus_of(of_two_panels())
    assert found.unobserved_pairs == [(1, 2)]
    assert [relation_of(found, pair) for pair in (("A", "B"), ("A", "C"))] == ["before", "before"]
    assert relation_of(found, ("B", "C")) == "unobserved"
    assert found.tree.clone_of[1] == found.tree.clone_of[2]
    assert found.open_mutations == [[], [], [1, 2]]
    assert found.doubtful_mutations == {2: "unobserved"}, "C hangs below B in the most likely tree"
    assert "no cell tells how 1 pair of mutations is related" in found.warnings[0]
    assert "B and C" in found.warnings[0]
    assert not found.conflicts
    assert found.to_dict()["unobserved_pairs"] == 1


@pytest.mark.parametrize("cell", [(1, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_one_cell_with_both_values_tells(cell: tuple[int, ...]) -> None:
    found = consensus_of(of_two_panels(cell))
    assert found.unobserved is None
    assert relation_of(found, ("B", "C")) == "before"
    assert "unobserved_pairs" not in found.to_dict()


def test_a_cell_with_neither_tells_nothing() -> None:
    assert consensus_of(of_two_panels((1, 0, 0))).unobserved_pairs == [(1, 2)]


def test_values_that_are_missing_at_random_are_no_panels() -> None:
    """Of two rare mutations no cell with one of them may have the other's value, by chance."""
    cells = [(1, 1, 3), (1, 3, 1), *[(1, 0, 0)] * 6, *[(0, 3, 0), (0, 0, 3)] * 3]
    assert (
        consensus_of(matrix_from_array(np.array(cells, dtype=np.uint8).T, ("A", "B", "C"))).unobserved is None
    )


def test_what_follows_from_other_pairs_is_claimed() -> None:
    """B is apart from A, and C is below A: so B is apart from C, though no cell has both."""
    cells = [(0, 0, 3)] * 10 + [(1, 0, 3)] * 40 + [(0, 1, 3)] * 50
    cells += [(0, 3, 0)] * 60 + [(1, 3, 0)] * 20 + [(1, 3, 1)] * 70
    matrix = matrix_from_array(np.array(cells, dtype=np.uint8).T, ("A", "B", "C"))
    found = consensus_of(matrix, np.array([3, 3, 0, 3], dtype=np.int32))
    assert found.unobserved is None
    assert relation_of(found, ("B", "C")) == "apart"


def test_nothing_follows_through_a_mutation_without_order() -> None:
    """A and C are in all cells of their panels, as germline variants are: A may be above C, or below it."""
    cells = [(1, 0, 3)] * 50 + [(1, 1, 3)] * 50 + [(1, 3, 1)] * 100
    matrix = matrix_from_array(np.array(cells, dtype=np.uint8).T, ("A", "B", "C"))
    one_order, other_order = np.array([3, 2, 0, 3]), np.array([2, 0, 3, 3])
    trees = np.array([one_order, other_order] * 25, dtype=np.int32)
    found = find_consensus(lambda: [trees], trees[0], matrix, RATES)
    assert found is not None
    assert relation_of(found, ("A", "B")) == "before"
    assert found.unobserved_pairs == [(1, 2)]


def test_consequences_are_those_of_trees() -> None:
    """In random trees, relations of half of the pairs imply no relation that the tree does not have."""
    generator, implied = np.random.default_rng(4), 0
    for _ in range(40):
        parents = [int(generator.integers(-1, at)) for at in range(8)]
        above = np.zeros((8, 8), dtype=np.bool_)
        for node, parent in enumerate(parents):
            if parent >= 0:
                above[:, node] = above[:, parent]
                above[parent, node] = True
        apart = ~(above | above.T | np.eye(8, dtype=np.bool_))
        known = np.triu(generator.random((8, 8)) < 0.5, 1)
        known |= known.T
        before, on_two = consequences(above & known, apart & known)
        assert not (before & ~above).any()
        assert not (on_two & ~apart).any()
        implied += int((before & ~known).sum() + (on_two & ~known).sum())
    assert implied > 0


def test_genotypes_do_not_follow_from_an_unobserved_pair() -> None:
    """Sampled trees have B above C, so cells with C seem to have B; that is no finding."""
    matrix = of_two_panels()
    found = consensus_of(matrix)
    published = published_consensus(found)
    assert (probabilities_of(published)[1, 130:] > 0.95).all(), "the trees are sure"
    best = SimpleNamespace(
        observed=matrix,
        mutations=matrix.mutations,
        cells=tuple(map(str, range(200))),
        assignment=SimpleNamespace(recurrence=None),
    )
    called = make_genotypes(cast("BestTree", best), found, published, Unplaced()).called
    first, second = called[:, :100], called[:, 100:]
    assert (first[2] == 3).all(), "and these lack A with a probability of 0.9 alone"
    assert (second[1, 30:] == 3).all(), "B is not above C for sure"
    assert (first[1, 50:] == 1).all(), "B was measured there"
    assert (second[2, 30:] == 1).all()


def test_what_follows_from_other_genotypes() -> None:
    """A before B and C, B apart from C, and D together with B, in cells with one known genotype."""
    before = np.zeros((4, 4), dtype=np.bool_)
    before[0, 1:] = True
    apart, together = np.zeros_like(before), np.zeros_like(before)
    apart[[1, 2], [2, 1]] = together[[1, 3], [3, 1]] = True
    none, one = np.zeros((4, 4), dtype=np.bool_), np.eye(4, dtype=np.bool_)
    by_presence = follow_from_others(before, apart, together, one, none)
    assert [np.flatnonzero(cell).tolist() for cell in by_presence.T] == [[], [0, 2, 3], [0, 1], [0, 1]]
    by_absence = follow_from_others(before, apart, together, none, one)
    assert [np.flatnonzero(cell).tolist() for cell in by_absence.T] == [[1, 2, 3], [3], [], [1]]
