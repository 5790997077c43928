"""Mutations that claims which are kept back leave no place: the cells have them on two branches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import syclade
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.consensus import CloneConsensus, SetAside
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.unplaced import CONTRADICTED
from tests.support.searches import shorten_support

NAMES = ("trunk", "left", "right", "leaf", "both")
TREE = np.array([5, 0, 0, 2, 1, 5], dtype=np.int32)
"""`both` is below `left`; `leaf` is below `right`."""

ON_LEFT, ON_RIGHT = (1, 1, 0, 0, 1), (1, 0, 1, 1, 1)


def matrix(on_left: int, on_right: int) -> Matrix:
    """Return cells of which some have `both` on each of the two branches."""
    cells = (
        [(1, 0, 0, 0, 0)] * 50 + [(1, 1, 0, 0, 0)] * 200 + [(1, 0, 1, 0, 0)] * 60 + [(1, 0, 1, 1, 0)] * 150
    )
    cells += [ON_LEFT] * on_left + [ON_RIGHT] * on_right
    return matrix_from_array(np.array(cells, dtype=np.uint8).T, NAMES)


def consensus_of(observed: Matrix) -> CloneConsensus:
    trees = np.tile(TREE, (100, 1))
    found = find_consensus(lambda: [trees], TREE, observed, Rates(0.01, 0.1))
    assert found is not None
    return found


def test_a_mutation_on_two_branches_is_set_aside() -> None:
    found = consensus_of(matrix(40, 80))
    (one,) = found.set_aside
    assert one.mutation == "both"
    assert one.claims == (
        "left before both (200 cells have left alone, 80 both alone, 40 both)",
        "right apart from both (210 cells have right alone, 40 both alone, 80 both)",
        "leaf apart from both (150 cells have leaf alone, 40 both alone, 80 both)",
    )
    assert found.unplaced.mutations == {4: CONTRADICTED}
    assert not found.kept_back
    assert found.mutations == NAMES[:4]
    assert found.tree.clones == 5, "the others have the clones of the sampled trees"
    assert found.doubtful_mutations == {4: "kept back"}, "its edge in the most likely tree is not sure"
    (message,) = found.warnings
    assert message.startswith(
        "the consensus leaves out both, since cells contradict each of its places: left"
    )


def test_a_claim_against_a_sure_relation_sets_a_mutation_aside() -> None:
    """Only `leaf apart from both` is kept back: in one clone, one is where P = 1 says that it is not."""
    cells = (
        [(1, 0, 0, 0, 0)] * 50 + [(1, 1, 0, 0, 0)] * 200 + [(1, 0, 1, 0, 0)] * 60 + [(1, 0, 1, 1, 0)] * 150
    )
    cells += [(1, 1, 0, 0, 1)] * 40 + [(1, 3, 3, 1, 1)] * 80
    found = consensus_of(matrix_from_array(np.array(cells, dtype=np.uint8).T, NAMES))
    assert [one.mutation for one in found.set_aside] == ["both"]
    assert len(found.set_aside[0].claims) == 1
    sure = found.relations.before > 0.95
    assert (found.tree.before >= sure).all()


def test_options_are_advised_once() -> None:
    """Two mutations are set aside, each with a message; only the first says what to try."""
    one = consensus_of(matrix(40, 80))
    twice = replace(one, set_aside=(*one.set_aside, SetAside("leaf", ("right before leaf (3 cells)",))))
    first, second = twice.warnings
    for option, word in {"(--doublets learn)": "doublets", "(--recurrent all)": "recur"}.items():
        assert option in first
        assert option not in second
        assert word in second


def test_a_mutation_on_one_branch_is_not() -> None:
    found = consensus_of(matrix(80, 2))
    assert not found.set_aside
    assert not found.unplaced
    assert found.mutations == NAMES


def test_a_union_that_contradicts_nothing_stays() -> None:
    """Claims on pairs that are kept back are open; no other claim is against a sure relation."""
    chain = np.array([2, 0, 2], dtype=np.int32)
    cells = np.array([(1, 0)] * 20 + [(0, 1)] * 60 + [(1, 1)] * 30, dtype=np.uint8).T
    trees = np.tile(chain, (100, 1))
    found = find_consensus(lambda: [trees], chain, matrix_from_array(cells, ("A", "B")), Rates(0.01, 0.1))
    assert found is not None
    assert len(found.kept_back) == 1
    assert not found.set_aside
    assert found.open_mutations == [[], [0, 1]]


@pytest.mark.shared
def test_no_claim_of_a_real_consensus_is_against_a_sure_relation(
    tmp_path: Path, shared_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FLT3 p.D835H is in cells of two branches: files, summary and report say so; the rest has its clones."""
    shorten_support(monkeypatch, Budget(1024, 2048, 4, 256))
    result = syclade.infer(
        shared_dir / "reality/panel/AML-38-001_variants.csv.gz", device="native", seed=1, support="quick"
    )
    result.write(tmp_path, report=True)
    written = json.loads((tmp_path / "summary.json").read_text())
    assert [one["mutation"] for one in written["consensus"]["set_aside"]] == ["FLT3 p.D835H"]
    assert written["unplaced"]["mutations"] == {CONTRADICTED: ["FLT3 p.D835H"]}
    rows = [line.split("\t") for line in (tmp_path / "relations.tsv").read_text().splitlines()[1:]]
    column = {"before": 2, "after": 3, "apart": 4}
    claims = [float(row[column[row[5]]]) for row in rows if row[5] in column]
    assert len(claims) == 8 * 7 / 2
    assert min(claims) > 0.95
    assert next(row for row in rows if row[0] == "FLT3 p.D835H")[5] == "unplaced"
    assert "that cells contradict at each place (FLT3 p.D835H)" in (tmp_path / "report.html").read_text()
