"""Wanderers: transfer support, places of mutations, and mutations that are set aside."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.clone_tree import (
    clade_support,
    clone_tree_of,
    descendants,
    make_clone_tree,
    spaced_trees,
    transfer_support,
)
from syclade.host.findings.consensus.evidence import conflicts_in, count_pairs
from syclade.host.findings.consensus.find_consensus import best_places, find_consensus, with_wanderers
from syclade.host.findings.consensus.relations import Relations, count_relations
from syclade.host.findings.consensus.search import best_clone_tree
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.unplaced import NO_OBSERVATION, PLACE, UNCERTAIN, Unplaced
from tests.support.clone_trees import samples_of
from tests.support.searches import shorten_support

CHAIN = [12, 0, 1, 2, 0, 4, 5, 12, 7, 8, 9]
"""Eleven mutations: a trunk, two branches below it, and another lineage. Number 11 goes anywhere."""


def wandering(inside: bool = True) -> NDArray[np.int32]:
    """Return trees in which the last mutation is everywhere in turn: above one of the others, or a leaf."""
    trees = []
    for at in range(11):
        tree = [*CHAIN, CHAIN[at], 12]
        if inside:
            tree[at] = 11
        trees += [tree, [*CHAIN, at, 12]]
    return np.array(trees, dtype=np.int32)


def below(parents: NDArray[np.int32]) -> list[set[int]]:
    above = ancestor_matrix(parents)[:-1, :-1]
    return [set(np.flatnonzero(row).tolist()) for row in above]


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_transfer_support_is_as_defined(n: int) -> None:
    trees = samples_of(n, 30, n)
    expected = []
    for clade in below(trees[0]):
        worst = min(len(clade), n + 1 - len(clade))
        distances = [min(worst, *(len(clade ^ other) for other in below(tree))) for tree in trees]
        expected.append(1 - np.mean(distances) / worst)
    found = transfer_support(trees[0], lambda: [trees[:11], trees[11:]])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    strict = clade_support(trees[0], lambda: [trees])
    assert (found >= strict - 1e-12).all()


def test_a_wanderer_costs_a_clade_its_strict_support_but_little_transfer_support() -> None:
    trees, best = wandering(), np.array([*CHAIN, 12, 12], dtype=np.int32)
    strict, transfer = clade_support(best, lambda: [trees]), transfer_support(best, lambda: [trees])
    assert strict[0] < 0.55
    assert transfer[0] > 0.85
    assert transfer[6] == strict[6]  # a single mutation


def test_spaced_trees() -> None:
    trees = samples_of(4, 10, 1)
    some = spaced_trees(lambda: [trees[:3], trees[3:3], trees[3:]], len(trees), 5)
    np.testing.assert_array_equal(some, trees[::2])
    np.testing.assert_array_equal(spaced_trees(lambda: [trees], len(trees), 99), trees)


def test_the_mutation_without_a_place_is_set_aside() -> None:
    trees, best = wandering(), np.array([*CHAIN, 12, 12], dtype=np.int32)
    blocks = lambda: [trees[:5], trees[5:]]  # noqa: E731
    before = Unplaced({3: NO_OBSERVATION})
    for unplaced in (Unplaced(), before):
        found = with_wanderers(blocks, best, count_relations(blocks), unplaced).unplaced
        assert list(found.best_place) == [11]
        assert found.best_place[11] < PLACE
        assert found.mutations == {**unplaced.mutations, 11: UNCERTAIN}
        less = found.of_blocks(blocks)
        assert clade_support(found.of_tree(best), less).min() == 1.0
        assert found.silent.mutations == unplaced.mutations
        assert found.uncertain.mutations == {11: UNCERTAIN}


def test_the_order_in_a_clone_is_no_reason() -> None:
    """All orders of six mutations are as likely: a clone, of which each has one place."""
    trees = []
    for order in np.random.default_rng(1).permuted(np.tile(np.arange(6), (200, 1)), axis=1):
        tree = np.full(7, 6)
        tree[order[1:]] = order[:-1]
        trees.append(tree)
    sampled = np.array(trees, dtype=np.int32)
    blocks = lambda: [sampled]  # noqa: E731
    relations = count_relations(blocks)
    found = with_wanderers(blocks, sampled[0], relations, Unplaced())
    assert found.unplaced == Unplaced()
    clone = make_clone_tree([1] * 6, [0, 0])
    assert best_places(clone, descendants(sampled), np.ones(6, dtype=bool)).tolist() == [1.0] * 6
    fixed = clone_tree_of(sampled[0])
    assert best_places(fixed, descendants(sampled), np.ones(6, dtype=bool)).max() < 0.9  # control


def test_infer_sets_aside_a_mutation_without_a_sure_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain with two to six cells at a node, and a mutation that is missing: found by its places alone."""
    shorten_support(monkeypatch, Budget(1024, 8192, 3, 512))
    values, ends = np.zeros((21, 84), dtype=np.uint8), np.cumsum([2, 4, 6] * 7)
    for depth in range(20):
        values[depth, ends[depth] :] = 1
    values[20] = 3
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native", "seed": 1}
    monkeypatch.setattr("syclade.host.answer.request.arguments.unplaced_in", lambda _: Unplaced())
    names = [f"M{number}" for number in range(21)]
    result = syclade.infer(matrix_from_array(values, names), **options)
    assert result.support is not None
    assert result.consensus is not None
    assert result.unplaced.mutations == {20: UNCERTAIN}
    assert result.unplaced.best_place[20] < PLACE
    assert np.isnan(result.support.transfer).tolist() == [False] * 20 + [True]
    assert result.consensus.mutations == tuple(names[:20])
    assert "1 mutation without a sure place (M20)" in " ".join(result.support.warnings)
    assert "near the limit" not in " ".join(result.support.warnings)
    nearly = replace(result.unplaced, best_place={20: 0.19})
    assert "may place mutations near the limit of 0.2: M20 0.190" in " ".join(
        replace(result.support, unplaced=nearly).warnings
    )
    result.write(tmp_path, report=True)
    rows = list(csv.DictReader((tmp_path / "support.tsv").read_text().splitlines(), delimiter="\t"))
    assert (rows[20]["parent"], rows[20]["transfer"]) == ("unplaced", "")
    assert float(rows[20]["p_place"]) < PLACE
    assert float(rows[0]["transfer"]) > 0.9
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written["unplaced"]["mutations"] == {UNCERTAIN: ["M20"]}
    assert written["unplaced"]["best_place"]["M20"] < PLACE
    assert ":transfer=" in (tmp_path / "support.nhx").read_text()
    page = (tmp_path / "report.html").read_text()
    assert "the sampled trees have them in many places" in page
    monkeypatch.setattr("syclade.host.findings.consensus.find_consensus.PLACE", 0.0)
    control = syclade.infer(matrix_from_array(values, names), **options)
    assert control.support is not None
    assert result.support.clades[5] > control.support.clades[5] + 0.05


def test_conflicts_count_the_cells_that_decide() -> None:
    values = np.array([[1, 1, 0, 0, 3], [1, 1, 1, 0, 1], [0, 1, 0, 1, 1]], dtype=np.uint8)
    matrix = matrix_from_array(values, ("A", "B", "C"))
    above = np.zeros((3, 3), dtype=np.int64)
    above[0, 1], above[0, 2] = 100, 90
    consensus, likely = clone_tree_of(np.array([3, 0, 0, 3])), clone_tree_of(np.array([1, 3, 1, 3]))
    found = conflicts_in(consensus, likely, Relations(100, above), matrix)
    assert [(one.first, one.second, one.relation, one.supporting, one.contradicting) for one in found] == [
        (0, 1, "before", (), (2,)),
        (1, 2, "apart", (3,), (1, 4)),
    ]
    assert [one.doubtful for one in found] == [True, True]
    assert not found[0]._replace(supporting=(0, 1, 3)).doubtful
    words = found[0].words(matrix.mutations, count_pairs(matrix))
    assert words == "A before B (0 cells have A alone, 1 B alone, 2 both)"
    assert conflicts_in(consensus, consensus, Relations(100, above), matrix) == []
    odds = np.where(values == 3, 0.0, np.where(values == 1, 1.0, -1.0))
    by_evidence = replace(matrix, values=np.zeros_like(values), evidence=Likelihoods(odds))
    assert conflicts_in(consensus, likely, Relations(100, above), by_evidence) == found


def test_the_consensus_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no mutation wanders, the search for wanderers has found the consensus."""
    trees, search = samples_of(6, 50, 1), Mock(wraps=best_clone_tree)
    blocks = lambda: [trees]  # noqa: E731
    relations = count_relations(blocks)
    monkeypatch.setattr("syclade.host.findings.consensus.find_consensus.best_clone_tree", search)
    monkeypatch.setattr("syclade.host.findings.consensus.find_consensus.PLACE", 0.0)
    found = with_wanderers(blocks, trees[0], relations, Unplaced())
    assert found.tree is not None
    matrix, rates = matrix_from_array(np.ones((6, 3))), Rates(0.1, 0.2)
    known, anew = (
        find_consensus(blocks, trees[0], matrix, rates, relations=relations, known=tree)
        for tree in (found.tree, None)
    )
    assert search.call_count == 2  # the second without the known tree
    assert known is not None
    assert anew is not None
    assert known.to_dict() == anew.to_dict()
