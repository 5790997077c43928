"""``syclade infer --tree leaf`` and its Python form, end to end."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.commands import main as main_module
from syclade.host.data.trees.cells import clades, validate_leaf_parents
from syclade.host.data.trees.newick import newick_edges
from syclade.host.data.trees.treefile import (
    leaf_labels,
    leaf_parents_from_newick,
    read_leaf_tree,
    to_leaf_graphviz,
)
from syclade.host.findings.kinds.cell_trees import CELL
from syclade.host.ground.errors import CheckpointError, OptionError, TreeError
from syclade.quality.oracle.leaf import clades_below
from tests.support.leaf import LeafCase

CASE = LeafCase(9, 8, "zygosity")
RATES: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "fn_rate_hom": 0.25, "hom_rate": 0.005}
GIVEN = [f"--{name.replace('_', '-')}={value}" for name, value in RATES.items()]
QUICK: dict[str, Any] = {**RATES, "chains": 3, "steps": 400, "device": "numpy"}
NAMES = [*(f"cell {number}" for number in range(1, 8)), 'joint "1"']


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(argument) for argument in arguments])
        assert isinstance(caught.value.code, int)
        return (caught.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    file = tmp_path / "matrix.csv"
    np.savetxt(file, CASE.matrix().values, fmt="%d")
    return file


def clades_of_newick(text: str, cells: list[str]) -> set[frozenset[str]]:
    """Return the sets of cells below the nodes of a tree."""
    below: dict[str, list[str]] = {}
    for edge in newick_edges(text):
        below.setdefault(edge.parent, []).append(edge.child)

    def cells_of(label: str) -> frozenset[str]:
        if label in cells:
            assert label not in below
            return frozenset({label})
        one, other = below[label]
        return cells_of(one) | cells_of(other)

    return {cells_of(label) for label in (*below, *cells)}


def test_files(run: Any, matrix: Path, tmp_path: Path) -> None:
    names, out = tmp_path / "cells.txt", tmp_path / "out"
    names.write_text("\n".join(NAMES) + "\n")
    arguments = [
        "infer",
        matrix,
        *GIVEN,
        "--tree",
        "leaf",
        "--chains",
        3,
        "--steps",
        400,
        "--device",
        "numpy",
    ]
    status, printed, _ = run(*arguments, "--cell-names", names, "--out", out)
    assert status == 0
    assert {path.name for path in out.iterdir()} == set(CELL.file_names)
    result = syclade.infer_leaf(CASE.matrix(), **QUICK, cell_names=NAMES)
    assert f"log-likelihood {result.log_likelihood:.6f}" in printed
    validate_leaf_parents(result.parents)
    parents = result.parents.tolist()
    own = {frozenset(NAMES[cell] for cell in clade) for clade in clades_below(parents)}
    assert clades_of_newick((out / "tree.newick").read_text(), NAMES) == own
    summary = json.loads((out / "summary.json").read_text())
    assert summary["parents"] == parents
    assert summary["log_likelihood"] == result.log_likelihood
    assert summary["tree"] == "leaf"
    assert json.loads((out / "run.json").read_text())["encoding"] == "plain"
    placements = (out / "placements.tsv").read_text().splitlines()
    rows = list(csv.DictReader(placements, delimiter="\t"))
    below, labels = clades(result.parents), leaf_labels(NAMES)
    assert labels[8].startswith("joint_")  # since the name of a cell begins with joint
    assert [int(row["row"]) for row in rows] == list(range(1, len(rows) + 1))
    assert [row["mutation"] for row in rows] == list(result.mutations)
    for row, node, ties in zip(rows, result.placement, result.placement_ties, strict=True):
        assert row["edge"] == labels[node]
        assert int(row["cells"]) == below[node].sum()
        assert int(row["ties"]) == ties
    total = sum(float(row["log_likelihood"]) for row in rows)
    assert total == pytest.approx(result.log_likelihood, abs=1e-9)
    assert result.to_placements() == (out / "placements.tsv").read_text()
    assert result.mutation_log_likelihoods.sum() == pytest.approx(result.log_likelihood, abs=1e-9)
    with pytest.raises(AttributeError, match="see `assignment`"):
        result.to_attachments()
    again = run(*arguments, "--cell-names", names, "--out", out)
    assert again[0] == 2
    assert "already has" in again[2]


def test_graphviz_has_every_edge_and_mutation_once() -> None:
    parents = np.array([3, 3, 4, 4, 4], dtype=np.int32)
    text = to_leaf_graphviz(parents, ["a", 'b"', "top"], ["m1", "m2", 'm"3'], np.array([3, 3, 4], np.int32))
    edges = [line.strip() for line in text.splitlines() if "->" in line]
    assert edges == [
        '"top_" -> "joint2" [label="m\\"3"];',
        '"joint2" -> "top";',
        '"joint2" -> "joint1" [label="m1\\nm2"];',
        '"joint1" -> "a";',
        '"joint1" -> "b\\"";',
    ]


def test_a_run_goes_on_where_it_was_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    syclade.infer_leaf(CASE.matrix(), **{**QUICK, "checkpoint": kept, "checkpoint_every": 0})
    ended = syclade.infer_leaf(CASE.matrix(), **QUICK, resume=kept)
    assert ended.summary() == syclade.infer_leaf(CASE.matrix(), **QUICK).summary()
    assert (ended.work, ended.device, ended.run()["work"]) == ((), None, [])
    assert "all done by an earlier run" in repr(ended)
    with pytest.raises(CheckpointError):
        syclade.infer(CASE.matrix(), **QUICK, resume=kept)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--attach"], "--attach does not go with --tree leaf"),
        (["--max-trees", "3"], "--max-trees does not go with --tree leaf"),
        (["--score", "sum"], "--score sum does not go with --tree leaf"),
        (["--move-probs", "1", "1", "1"], "no swaps of subtrees"),
        (["--encoding", "preorder"], "have no encoding 'preorder'"),
    ],
)
def test_what_is_for_mutation_trees_is_refused(run: Any, matrix: Path, options: list[str], said: str) -> None:
    status, printed, error = run("infer", matrix, *GIVEN, "--tree", "leaf", "--device", "native", *options)
    assert (status, printed) == (2, "")
    assert said in error


def test_weights_of_moves_are_taken(run: Any, matrix: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["infer", matrix, *GIVEN, "--tree", "leaf", "--steps", 50, "--chains", 2, "--device", "numpy"]
    assert run(*arguments, "--move-probs", 1, 0, 0, "--out", out)[0] == 0
    assert set(json.loads((out / "summary.json").read_text())["moves"]) <= {"prune and reattach", "null move"}


def test_the_encoding_of_cell_leaf_trees_is_for_them_only() -> None:
    with pytest.raises(OptionError, match="for cell trees"):
        syclade.infer(CASE.matrix(), **QUICK, encoding="clade")


def test_score_reads_what_infer_wrote(run: Any, matrix: Path, tmp_path: Path) -> None:
    names, file = tmp_path / "cells.txt", tmp_path / "tree.newick"
    names.write_text("\n".join(NAMES) + "\n")
    result = syclade.infer_leaf(CASE.matrix(), **QUICK, cell_names=NAMES)
    file.write_text(result.to_newick())
    arguments = ["score", matrix, file, *GIVEN, "--tree", "leaf", "--cell-names", names]
    assert run(*arguments) == (0, f"{result.log_likelihood!r}\n", "")
    assert json.loads(run(*arguments, "--json")[1])["log_likelihood"] == result.log_likelihood
    np.testing.assert_array_equal(read_leaf_tree(file, NAMES, 8), result.parents)
    given: dict[str, Any] = {**RATES, "cell_names": NAMES, "kind": "leaf"}
    assert syclade.score(CASE.matrix(), file, **given) == result.log_likelihood
    with pytest.raises(OptionError, match="--score sum"):
        syclade.score(CASE.matrix(), file, **given, score="sum")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("((s0,s1)a,s2)b;", None),
        ("((1,2)4,3)5", None),
        ("(s0,s1,s2)b;", "1 internal nodes for 3 cells"),
        ("((s0,s1)a,x)b;", "the leaf 'x' is not a cell"),
        ("((1,s1)4,3)5", "the leaf '1' is not a cell"),
        ("(s0,s1)b;", "the cell 's2' is not a leaf"),
        ("((s0,s1)s2,s3)b;", "the leaf 's3' is not a cell"),
        ("((s0,s1,s2)a)b;", "internal node 3 has 3 children"),
        ("((s0,s1)a,s2", "not closed"),
    ],
)
def test_trees_that_are_read(text: str, said: str | None) -> None:
    if said is None:
        assert leaf_parents_from_newick(text, None, 3).tolist() == [3, 3, 4, 4, 4]
        return
    with pytest.raises(TreeError, match=said):
        leaf_parents_from_newick(text, None, 3)


@pytest.mark.shared
def test_scites_own_tree_has_its_score(run: Any, shared_dir: Path) -> None:
    folder = shared_dir / "reference" / "scite-cli" / "transpose"
    (report,) = re.findall(r"best log score for tree:\s*(\S+)", (folder / "stdout.txt").read_text())
    rates = ["--fp-rate", "2.67e-5", "--fn-rate", "0.1643"]
    matrix, tree = shared_dir / "data" / "dataXu.csv", folder / "out_ml0.newick"
    status, printed, _ = run("score", matrix, tree, "--tree", "leaf", *rates)
    assert status == 0
    assert float(printed) == pytest.approx(float(report), abs=1e-9)


@pytest.mark.shared
def test_scites_score_of_its_cell_leaf_tree(shared_dir: Path) -> None:
    """Compare with the score that SCITE -transpose reported for the same data."""
    report = (shared_dir / "reference" / "scite-cli" / "transpose" / "stdout.txt").read_text()
    (line,) = [line for line in report.splitlines() if line.startswith("best log score for tree")]
    file = shared_dir / "data" / "dataXu.csv"
    result = syclade.infer_leaf(
        file, fp_rate=2.67e-5, fn_rate=0.1643, device="native", chains=8, steps=100_000
    )
    assert result.log_likelihood == pytest.approx(float(line.split(":")[1]), abs=1e-9)
