"""Claims on pairs of mutations that the cells contradict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.levels import levels_of
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.consensus.evidence import (
    contradictions_in,
    count_pairs,
    evident_in,
    unsupported_in,
)
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.consensus.finding import published_consensus
from syclade.host.findings.consensus.relations import Relations

RATES = Rates(0.01, 0.1)
NAMES = ("A", "B")


def matrix_of(both: int, first_only: int, second_only: int, neither: int) -> Matrix:
    columns = [(1, 1)] * both + [(1, 0)] * first_only + [(0, 1)] * second_only + [(0, 0)] * neither
    return matrix_from_array(np.array([*columns, (3, 1), (1, 3)], dtype=np.uint8).T, NAMES)


def relations_of(before: float, after: float) -> Relations:
    above = np.zeros((2, 2), dtype=np.int64)
    above[0, 1], above[1, 0] = round(1000 * before), round(1000 * after)
    return Relations(1000, above)


def test_counts_are_those_of_the_cells() -> None:
    matrix = simulate(40, 6, 0.05, 0.3, 0.2, 3).matrix
    counts = count_pairs(matrix)
    for one, two in np.ndindex(6, 6):
        pairs = list(zip(matrix.values[one].tolist(), matrix.values[two].tolist(), strict=True))
        assert counts.both[one, two] == pairs.count((1, 1))
        assert counts.only[one, two] == pairs.count((1, 0))
        assert counts.neither[one, two] == pairs.count((0, 0))


@pytest.mark.parametrize(
    ("cells", "claim", "words"),
    [
        ((0, 60, 10, 20), (1.0, 0.0), "A before B (60 cells have A alone, 10 B alone, 0 both)"),
        ((60, 0, 60, 20), (0.0, 0.0), "A apart from B (0 cells have A alone, 60 B alone, 60 both)"),
        ((0, 60, 10, 20), (0.9, 0.0), None),  # no claim
        ((0, 60, 10, 20), (0.0, 0.0), None),  # apart, as the cells say
        ((40, 60, 12, 20), (1.0, 0.0), None),  # most cells support it
        ((30, 60, 25, 20), (1.0, 0.0), "A before B (60 cells have A alone, 25 B alone, 30 both)"),
        ((66, 71, 2692, 3500), (0.0, 0.0), "A apart from B (71 cells have A alone, 2692 B alone, 66 both)"),
        ((20, 117, 2738, 3500), (0.0, 0.0), None),  # B's cells have false positives of A
        ((1, 60, 2, 20), (1.0, 0.0), None),  # may be chance
        ((40, 0, 3, 2000), (0.0, 1.0), None),  # by errors: B before A, and all cells with A have B
    ],
)
def test_claims_are_contradicted_by_most_of_their_cells(
    cells: tuple[int, int, int, int], claim: tuple[float, float], words: str | None
) -> None:
    matrix = matrix_of(*cells)
    counts = count_pairs(matrix)
    found = contradictions_in(relations_of(*claim), counts, RATES)
    assert [one.words(NAMES, counts) for one in found] == ([] if words is None else [words])


def test_true_relations_are_not_contradicted() -> None:
    made = simulate(300, 12, 0.01, 0.1, 0.2, 5)
    above: NDArray[np.int64] = np.zeros((12, 12), dtype=np.int64)
    for mutation in range(12):
        node = int(made.parents[mutation])
        while node != 12:
            above[node, mutation] = 100
            node = int(made.parents[node])
    counts = count_pairs(made.matrix)
    assert contradictions_in(Relations(100, above), counts, RATES) == []
    assert contradictions_in(Relations(100, above.T.copy()), counts, RATES) != []


@pytest.mark.parametrize(
    ("cells", "claim", "words"),
    [
        ((2, 60, 8, 20), (0.96, 0.0), "A before B (60 cells have A alone, 8 B alone, 2 both)"),
        ((9, 60, 3, 20), (0.0, 0.0), "A apart from B (60 cells have A alone, 3 B alone, 9 both)"),
        ((3, 60, 7, 20), (1.0, 0.0), "A before B (60 cells have A alone, 7 B alone, 3 both)"),
        ((87, 49, 1433, 4000), (0.0, 0.0), "A apart from B (49 cells have A alone, 1433 B alone, 87 both)"),
        ((6, 60, 7, 20), (1.0, 0.0), None),  # half, without errors
        ((0, 60, 4, 20), (1.0, 0.0), None),  # few cells
        ((2, 60, 8, 20), (0.95, 0.0), None),  # no claim
    ],
)
def test_claims_that_few_of_their_cells_support(
    cells: tuple[int, int, int, int], claim: tuple[float, float], words: str | None
) -> None:
    counts = count_pairs(matrix_of(*cells))
    found = unsupported_in(relations_of(*claim), counts, RATES)
    assert [one.words(NAMES, counts) for one in found] == ([] if words is None else [words])


@pytest.mark.parametrize(
    ("mutations", "supporting", "against", "kept_back"),
    [(2, 1, 5, True), (40, 1, 5, False), (40, 1, 15, True)],
)
def test_errors_of_some_of_many_claims_do_not_keep_them_back(
    mutations: int, supporting: int, against: int, kept_back: bool
) -> None:
    """A chain of mutations: the cells with the last one decide on the first before it."""
    others = [1] * (mutations - 2)
    columns = [[1, *others, 0]] * 50 + [[1, *others, 1]] * supporting + [[0, *others, 1]] * against
    counts = count_pairs(matrix_from_array(np.array(columns, dtype=np.uint8).T))
    relations = Relations(1000, np.triu(np.full((mutations, mutations), 1000), 1))
    found = unsupported_in(relations, counts, Rates(0.001, 0.2))
    assert [(one.first, one.second) for one in found] == ([(0, mutations - 1)] if kept_back else [])


@pytest.mark.parametrize(
    ("cells", "missed", "kept_back"),
    [
        ((20, 143, 68, 400), (0.8, 0.1), True),
        ((20, 143, 68, 400), (0.8, 0.8), False),  # the rate of all mutations
        ((30, 143, 58, 400), (0.8, 0.1), False),  # a third of the cells with B
    ],
)
def test_a_high_rate_of_one_mutation_explains_no_claim_that_few_cells_support(
    cells: tuple[int, int, int, int], missed: tuple[float, float], kept_back: bool
) -> None:
    """Numbers of the first case are those of a published panel."""
    found = unsupported_in(
        relations_of(1.0, 0.0), count_pairs(matrix_of(*cells)), Rates(0.01, 0.45), np.array(missed)
    )
    assert bool(found) is kept_back


@pytest.mark.parametrize(("doublets", "contradicted"), [(None, True), (0.005, True), (0.2, False)])
def test_doublets_explain_cells_with_mutations_that_are_apart(
    doublets: float | None, contradicted: bool
) -> None:
    """15 of 300 cells have both, as many as are expected at the last rate. An order has no such cells."""
    counts = count_pairs(matrix_of(15, 47, 181, 57))
    found = contradictions_in(relations_of(0.0, 0.0), counts, Rates(0.01, 0.1), doublets=doublets)
    assert bool(found) is contradicted
    assert contradictions_in(relations_of(1.0, 0.0), counts, Rates(0.01, 0.1), doublets=doublets)
    half = count_pairs(matrix_of(14, 8, 180, 102))
    kept_back = unsupported_in(relations_of(0.0, 0.0), half, Rates(0.01, 0.1), doublets=doublets)
    assert bool(kept_back) is contradicted


def with_odds(odds: Sequence[tuple[float, float]]) -> Matrix:
    """Return a matrix of two mutations with these log odds of each cell, whose calls are all 0."""
    table = np.array(odds).T
    calls = matrix_from_array(np.zeros(table.shape, dtype=np.uint8), NAMES)
    return replace(calls, evidence=Likelihoods(table))


def test_counts_follow_evidence_and_not_calls() -> None:
    counts = count_pairs(with_odds([(3, 1), (2, -1), (2, -2), (-1, 4), (0, 5), (-1, -1)]))
    assert (counts.both[0, 1], counts.only[0, 1], counts.only[1, 0], counts.neither[0, 1]) == (1, 2, 1, 1)
    assert counts.both[1, 1] == 3


@pytest.mark.parametrize(("against", "named"), [(-0.4, False), (-4.0, True)])
def test_entries_that_say_little_contradict_no_claim(against: float, named: bool) -> None:
    """Of 25 cells with B, 20 lack A: by a single read each, which says little, or by many."""
    matrix = with_odds([(5, 5)] * 5 + [(against, 5)] * 20 + [(5, -5)] * 60 + [(-5, -5)] * 40)
    counts, claim = count_pairs(matrix), relations_of(1.0, 0.0)
    assert unsupported_in(claim, counts, RATES)
    assert contradictions_in(claim, counts, RATES)
    assert matrix.evidence is not None
    evident = evident_in(matrix, levels_of(np.array([against, -5.0, 5.0]), 1e-4))
    assert bool(unsupported_in(claim, counts, RATES, None, evident)) == named
    assert bool(contradictions_in(claim, counts, RATES, None, evident)) == named
    assert evident_in(matrix, RATES) is None


@pytest.mark.parametrize(("with_third", "kept_back"), [(20, True), (600, False)])
def test_rates_that_other_cells_exclude_explain_nothing(with_third: int, kept_back: bool) -> None:
    """Of 90 cells with B, 72 have A. False positives of 0.05 would explain them; few cells with C have B."""
    columns = [(1, 1, 0)] * 72 + [(1, 0, 0)] * 1800 + [(0, 1, 0)] * 18 + [(0, 0, 0)] * 700
    columns += [(3, 1, 1)] * with_third + [(3, 0, 1)] * (4400 - with_third)
    counts = count_pairs(matrix_from_array(np.array(columns, dtype=np.uint8).T, ("A", "B", "C")))
    found = unsupported_in(Relations(1000, np.zeros((3, 3), dtype=np.int64)), counts, Rates(0.05, 0.1))
    assert ((0, 1) in [(one.first, one.second) for one in found]) is kept_back


def test_the_consensus_leaves_such_pairs_open() -> None:
    """Two of twelve cells with B have A: trees with A above B are not believed. C is below B in all."""
    columns = [(1, 1, 1)] * 2 + [(1, 0, 0)] * 40 + [(0, 1, 1)] * 8 + [(0, 1, 0)] * 2 + [(0, 0, 0)] * 20
    matrix = matrix_from_array(np.array(columns, dtype=np.uint8).T, ("A", "B", "C"))
    trees = np.tile(np.array([3, 0, 1, 3], dtype=np.int32), (50, 1))
    found = find_consensus(lambda: [trees], trees[0], matrix, RATES)
    assert found is not None
    assert [(one.first, one.second) for one in found.kept_back] == [(0, 1), (0, 2)]
    assert not found.tree.before[0].any()
    assert not found.tree.apart.any()
    assert found.contradictions == []
    assert "A before B (40 cells have A alone, 10 B alone, 2 both)" in found.warnings[0]
    assert found.open_mutations == [[], [0, 1, 2]]
    assert "clone 1" in found.warnings[1]
    assert "A 58.3%, B 16.7%, C 13.9%" in found.warnings[1]
    clone = dict(zip(*(line.split("\t") for line in found.to_clones().splitlines()[::2]), strict=True))
    assert (clone["seen"], clone["open"], clone["mutations"]) == ("0.583|0.167|0.139", "A|B|C", "A|B|C")
    assert (clone["low"], clone["high"]) == ("", "")
    assert published_consensus(found).unions == {1}
    assert found.doubtful_mutations == dict.fromkeys((0, 1, 2), "kept back")
    assert [one["second"] for one in json.loads(json.dumps(found.to_dict()))["kept_back"]] == ["B", "C"]
    rows = [line.split("\t") for line in found.to_relations().splitlines()[1:]]
    assert [(row[:3], row[5]) for row in rows[:2]] == [(["A", "B", "1"], "open"), (["A", "C", "1"], "open")]
    fine = matrix_from_array(1 - np.tri(3, 30, -1, dtype=np.uint8), ("A", "B", "C"))
    control = find_consensus(lambda: [trees], trees[0], fine, RATES)
    assert control is not None
    assert not control.kept_back
    assert control.to_clones().splitlines()[2].split("\t")[6]
    assert control.tree.before[0, 1]
