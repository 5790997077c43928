"""Unplaced mutations and cells: named in a warning, and kept out of support and consensus."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.answer.figures.source import files_in_memory
from syclade.host.answer.report.summary import quality_of
from syclade.host.commands.main import cli
from syclade.host.data.diagnostics import LEAST, MOST
from syclade.host.data.input.matrix import matrix_from_array, with_cell_names
from syclade.host.data.trees.newick import from_newick, to_newick
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.clone_tree import clade_support, edge_support
from syclade.host.findings.consensus.relations import count_relations
from syclade.host.findings.consensus.tables import clone_tree_from_newick
from syclade.host.findings.samples.mutation_trees import judge_mutation_trees
from syclade.host.findings.samples.sampled import Sampling
from syclade.host.findings.unplaced import (
    CONTRADICTED,
    NEVER_SEEN,
    NO_OBSERVATION,
    NO_OTHER,
    Unplaced,
    UnplacedFinding,
    unplaced_in,
)
from syclade.host.ground.errors import MatrixError
from tests.support.clone_trees import samples_of

NAMES = ("A", "B", "C", "NO_DATA", "NEVER_SEEN")
RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native", "seed": 1}


def values() -> NDArray[np.uint8]:
    """Return 24 cells of a fork (A above B and C), a mutation without data, one never seen, an empty cell."""
    table = np.zeros((5, 25), dtype=np.uint8)
    table[0, :20], table[1, :9], table[2, 9:14] = 1, 1, 1
    table[3] = 3
    table[4, 3] = 3
    table[:, 24] = 3
    return table


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return syclade.infer(matrix_from_array(values(), NAMES), **RATES)


def test_the_reasons() -> None:
    assert unplaced_in(matrix_from_array(values())) == Unplaced(
        {3: NO_OBSERVATION, 4: NEVER_SEEN}, {24: NO_OBSERVATION}
    )
    table = values()
    table[4, 24] = 0
    assert unplaced_in(matrix_from_array(table)).cells == {24: NO_OTHER}
    table[4, 24] = 2
    assert unplaced_in(matrix_from_array(table)) == Unplaced({3: NO_OBSERVATION}, {})
    assert not unplaced_in(matrix_from_array(table[[0, 1, 2, 4]]))
    more = unplaced_in(matrix_from_array(values())).joined({1: "elsewhere", 4: "elsewhere"})
    assert more.mutations == {1: "elsewhere", 3: NO_OBSERVATION, 4: NEVER_SEEN}


def test_long_lists_of_names_are_shortened() -> None:
    matrix = matrix_from_array(np.full((1, 9), 3))
    words = unplaced_in(matrix).words(matrix.mutations, [f"s{number}" for number in range(9)])
    assert words == (
        "1 mutation without an observation (1), "
        "9 cells without an observation (s0, s1, s2, s3, s4 and 4 more)"
    )


def test_a_matrix_without_a_value_is_refused() -> None:
    """All trees would be equally likely; one value is enough, and reads count in place of calls."""
    table = np.full((3, 4), 3, np.uint8)
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "device": "numpy", "support": "none"}
    with pytest.raises(MatrixError, match="all entries are missing: the matrix says nothing of the tree"):
        syclade.infer(table, **options)
    table[1, 2] = 0
    assert syclade.infer(table, **options).unplaced.mutations
    reads = syclade.read_matrix(
        np.eye(3, 4, dtype=np.int64), total_reads=np.ones((3, 4), np.int64), evidence="reads", min_depth=2
    )
    assert (reads.values == 3).all()
    syclade.infer(reads, device="native", support="none", allelic_dropout=0.1, seq_error=0.01)


@pytest.mark.parametrize("gone", [(), (0,), (2, 5), (1, 3, 4, 6, 7), tuple(range(8))])
def test_trees_without_some_keep_the_relations_of_the_others(gone: tuple[int, ...]) -> None:
    unplaced, trees = Unplaced(dict.fromkeys(gone, "")), samples_of(8, 40, len(gone))
    placed, less = unplaced.placed_mutations(8), unplaced.of_trees(trees)
    assert less.dtype == np.int32
    for tree, small in zip(trees, less, strict=True):
        above = ancestor_matrix(tree)[:8, :8]
        np.testing.assert_array_equal(ancestor_matrix(small)[:-1, :-1], above[np.ix_(placed, placed)])
        np.testing.assert_array_equal(unplaced.of_tree(tree), small)
        nearest = unplaced.parents_of(tree)
        for node in placed.tolist():
            at = int(tree[node])
            while at in gone:
                at = int(tree[at])
            assert nearest[node] == at
        nodes = np.arange(9, dtype=np.int32)
        expected = [node if node not in gone else nearest[node] for node in nodes]
        full = np.append(placed, 8)
        np.testing.assert_array_equal(full[unplaced.nodes_of(tree, nodes)], expected)
    whole = count_relations(lambda: [trees])
    if len(placed):
        of_less = count_relations(unplaced.of_blocks(lambda: [trees[:7], trees[7:]]))
        np.testing.assert_array_equal(unplaced.of_relations(whole).above, of_less.above)


def test_a_wanderer_does_not_lower_the_support_of_others() -> None:
    """In each tree the fourth mutation is elsewhere; the others are always a fork."""
    trees = np.array([[4, 0, 0, at, 4] for at in (0, 1, 2, 4)], dtype=np.int32)
    best, unplaced = trees[0], Unplaced({3: NO_OBSERVATION})
    assert clade_support(best, lambda: [trees]).min() < 0.8  # control
    less = unplaced.of_blocks(lambda: [trees])
    assert clade_support(unplaced.of_tree(best), less).tolist() == [1.0, 1.0, 1.0]
    inside = np.array([[4, 3, 0, 0, 4], [4, 0, 0, 4, 4]], dtype=np.int32)
    assert edge_support(inside[0], lambda: [inside]).tolist() == [1.0, 0.5, 1.0, 0.5]
    assert edge_support(unplaced.of_tree(inside[0]), unplaced.of_blocks(lambda: [inside])).min() == 1.0


def test_the_start_names_them(caplog: pytest.LogCaptureFixture) -> None:
    matrix = with_cell_names(matrix_from_array(values(), NAMES), [f"c{number}" for number in range(25)])
    syclade.infer(matrix, support="none", **RATES)
    assert (
        "1 mutation without an observation (NO_DATA), 1 mutation seen in no cell (NEVER_SEEN), "
        "1 cell without an observation (c24): they say nothing of the tree "
        "(--min-cells 1 leaves such mutations out)"
    ) in caplog.messages
    syclade.infer(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]]), support="none", **RATES)
    one = "1 mutation seen in no cell (2): it says nothing of the tree"
    assert f"{one} (--min-cells 1 leaves such mutations out)" in caplog.messages


def test_support_and_consensus_leave_them_out(result: syclade.Result) -> None:
    support, consensus = result.support, result.consensus
    assert support is not None
    assert consensus is not None
    assert np.isnan(support.edges).tolist() == np.isnan(support.clades).tolist() == [False] * 3 + [True] * 2
    assert support.clades[:3].min() > 0.9
    assert np.flatnonzero(np.isnan(support.cells)).tolist() == [24]
    assert support.cells[:24].min() > 0.5
    assert np.isnan(support.before[3]).all()
    assert np.isnan(support.before[:, 4]).all()
    assert support.before[0, 1] > 0.9
    assert support.words.startswith(
        "support of at least 0.8 in the most likely tree: 3 of 3 edges, 3 of 3 clades, "
    )
    assert support.words.endswith(" of 24 cells")
    assert consensus.mutations == ("A", "B", "C")
    assert consensus.to_newick().endswith("root[&unplaced=2];\n")
    tree = clone_tree_from_newick(consensus.to_newick(), consensus.mutations)
    assert (tree.clone_of.tolist(), tree.parents.tolist()) == ([1, 2, 3], [0, 0, 1, 1])
    assert consensus.words[0].startswith(
        "consensus of the samples: 3 mutations in 3 clones, 2 unplaced, 0 of 24"
    )
    sure = sum(float(row.split("\t")[2] or 0) >= 0.8 for row in consensus.to_cells().splitlines()[1:])
    assert 0 < sure < 24
    assert consensus.words[0].endswith(f" and {sure} are of one with a probability of at least 0.8")
    assert set(consensus.seeding(["s0", "s1"])) == {"A", "B", "C"}
    with pytest.raises(MatrixError, match="cell 's24' is unplaced"):
        consensus.seeding(["s24"])
    again = pickle.loads(pickle.dumps(result))
    assert again.consensus.to_clones() == consensus.to_clones()
    assert count_relations(again.consensus.sampled).samples == consensus.relations.samples


def test_diagnostics_leave_them_out(result: syclade.Result) -> None:
    """They go anywhere, so that chains differ in where they have them, which is no doubt of the others."""
    support = result.support
    assert support is not None
    placed = support.before[:3, :3]
    assert support.pairs.uncertain == np.count_nonzero((placed >= LEAST) & (placed <= MOST))
    every = support.sampled.posterior.ancestors
    assert support.pairs.uncertain < np.count_nonzero((every >= LEAST) & (every <= MOST))
    sampled = support.sampled
    sampling = Sampling(sampled.every, sampled.burn_in)
    of_all = judge_mutation_trees(sampled.store, sampling, sampled.problem, NAMES)
    assert sampled.spread < of_all.spread


def test_the_tree_has_every_mutation(result: syclade.Result) -> None:
    np.testing.assert_array_equal(from_newick(result.to_newick(), NAMES), result.parents)
    assert result.unplaced == unplaced_in(matrix_from_array(values()))


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines(), delimiter="\t"))


def test_all_tables_say_so(result: syclade.Result, tmp_path: Path) -> None:
    result.write(tmp_path, report=True)
    (left,) = [row for row in rows(tmp_path / "clones.tsv") if row["clone"] == "unplaced"]
    assert (left["mutations"], left["support"], left["cells"]) == ("NO_DATA|NEVER_SEEN", "", "1")
    relations = rows(tmp_path / "relations.tsv")
    assert {row["consensus"] for row in relations if {row["first"], row["second"]} <= set("ABC")} == {
        "before", "apart",
    }  # fmt: skip
    assert [tuple(row.values()) for row in relations[3:]] == [
        (name, "", "", "", "", "unplaced", "", "", "") for name in ("NO_DATA", "NEVER_SEEN")
    ]
    edges = {row["mutation"]: row for row in rows(tmp_path / "support.tsv")}
    for name in ("NO_DATA", "NEVER_SEEN"):
        assert (edges[name]["parent"], edges[name]["p_parent"], edges[name]["p_clade"]) == (
            "unplaced",
            "",
            "",
        )
    assert [edges[name]["parent"] for name in "ABC"] == ["root", "A", "A"]
    cells = rows(tmp_path / "cells.tsv")
    assert tuple(cells[24].values()) == ("s24", "unplaced", "", "", "", "", "")
    assert {row["clone"] for row in cells[:24]} == {"0", "1", "2", "3"}
    assert rows(tmp_path / "attachments.tsv")[24]["support"] == ""
    assert "[&&NHX:unplaced=yes]" in (tmp_path / "support.nhx").read_text()
    assert "nan" not in (tmp_path / "tree.gv").read_text()
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written["unplaced"] == {
        "mutations": {NO_OBSERVATION: ["NO_DATA"], NEVER_SEEN: ["NEVER_SEEN"]},
        "cells": {NO_OBSERVATION: ["s24"]},
    }
    assert written["consensus"]["clone_of"] == [1, 2, 3, None, None]
    page = (tmp_path / "report.html").read_text()
    clones = len(result.kind.clones(result.tree, Unplaced())) - 1
    assert f"Most likely tree: {clones} clones." in page
    assert "<p>The tree to publish has 3 clones with 3 of the 5 mutations; the data do not place" in page
    assert ">Unplaced</h3>" in page
    assert "1 mutation seen in no cell (NEVER_SEEN)" in page
    of_mutations, of_cells = quality_of(files_in_memory(result))
    assert of_mutations.words[2].startswith("2 mutations are not in this tree (see Unplaced) and last: ")
    assert of_cells.words[2].startswith("1 cell is not in this tree (see Unplaced) and last: ")
    for section, of_last in (
        (of_mutations, [("NO_DATA", "", "25 (100%)", "0"), ("NEVER_SEEN",)]),
        (of_cells, [("s24",)]),
    ):
        assert section.table is not None
        for row, first in zip(section.table.rows[-len(of_last) :], of_last, strict=True):
            assert (row[: len(first)], row[4:]) == (first, ("", "")), "there is nothing to compare with"
    assert "nan%" not in page


def test_places_that_cells_contradict_are_not_called_arbitrary() -> None:
    def words(**reasons: str) -> tuple[str, ...]:
        by_row = {NAMES.index(name): reason for name, reason in reasons.items()}
        section = UnplacedFinding(Unplaced(by_row), NAMES, ()).section()
        assert section is not None
        return section.words

    (against,) = words(B=CONTRADICTED)
    assert "cells contradict" in against
    assert "arbitrary" not in against
    assert "the consensus leaves them out" in against
    (others,) = words(NO_DATA=NO_OBSERVATION)
    assert others == (
        "Their places in the most likely tree are arbitrary; support and consensus leave them out."
    )
    first, second = words(B=CONTRADICTED, NO_DATA=NO_OBSERVATION)
    assert (first, second) == (against, others.replace("Their places", "The places of all others"))


def test_the_others_are_as_without_them(result: syclade.Result) -> None:
    """The consensus is that of the matrix without the rows and columns that say nothing."""
    alone = syclade.infer(matrix_from_array(values()[:3, :24], NAMES[:3]), **RATES)
    assert alone.consensus is not None
    assert result.consensus is not None
    assert alone.consensus.tree.clone_of.tolist() == result.consensus.tree.clone_of.tolist()
    np.testing.assert_allclose(
        alone.consensus.cells.probability, result.consensus.cells.probability, atol=1e-12
    )
    assert not alone.unplaced
    assert "unplaced" not in "".join(map(str, alone.consensus.files().values()))
    assert alone.summary()["unplaced"] == {"mutations": {}, "cells": {}}


def test_samples_of_chains_leave_them_out_too(tmp_path: Path) -> None:
    true = tmp_path / "true.newick"
    true.write_text(to_newick(np.array([5, 0, 3, 0, 5, 5]), NAMES))
    found = syclade.infer(
        matrix_from_array(values(), NAMES), **RATES, chains=2, steps=2000, samples=10, true_tree=true
    )
    assert found.consensus is not None
    assert found.consensus.mutations == ("A", "B", "C")
    assert found.consensus.truth is not None
    assert found.consensus.truth["ancestors"].true == 2
    assert "nan%" not in found.report()


@pytest.mark.parametrize("more", [(), ("--doublets=0.1",), ("--dropout=per-mutation",)])
def test_a_matrix_that_says_nothing_has_no_consensus(tmp_path: Path, more: tuple[str, ...]) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    matrix.write_text("0 3 0\n3 3 3\n")
    words = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.1", "--device=native", f"--out={out}"]
    said = CliRunner().invoke(cli, [*words, "--report", "--genotypes", *more], catch_exceptions=False)
    assert said.exit_code == 0
    assert (
        "syclade: warning: 1 mutation seen in no cell (1), 1 mutation without an observation (2), "
        "2 cells observed only at unplaced mutations (s0, s2), 1 cell without an observation (s1): they say "
        "nothing of the tree (--min-cells 1 leaves such mutations out)\n"
    ) in said.stderr
    assert "support of at least 0.8 in the most likely tree: 0 of 0 edges" in said.stdout
    assert not (out / "consensus.newick").exists()
    assert "consensus" not in json.loads((out / "summary.json").read_text())


def test_cell_trees_name_them_too(caplog: pytest.LogCaptureFixture) -> None:
    found = syclade.infer(values(), tree="leaf", chains=2, steps=200, samples=10, **RATES)
    assert "without an observation (4)" in caplog.text
    assert "nan%" not in found.report()
