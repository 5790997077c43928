"""Cells in tree files: written, skipped when read, named by the user, and not confused with mutations."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import syclade
from syclade.host.data.input.matrix import matrix_from_array, with_cell_names
from syclade.host.data.trees.cells import attached_cells, default_cell_names
from syclade.host.data.trees.graphviz import from_graphviz, to_graphviz
from syclade.host.data.trees.newick import from_newick, to_newick
from syclade.host.ground.errors import MatrixError
from tests.support.tree_strategies import names, trees

VALUES = [[1, 1, 0, 3], [0, 1, 1, 0]]
QUICK: dict[str, Any] = {
    "fp_rate": 0.01, "fn_rate": 0.2, "chains": 2, "steps": 50, "device": "numpy"
}  # fmt: skip


@given(st.data(), trees(6))
def test_cells_are_read_over(data: st.DataObject, parents: Any) -> None:
    """Cells are skipped whatever their names and wherever they are attached."""
    n = len(parents) - 1
    both = data.draw(names(n + 4))
    mutations, cells = both[:n], both[n:]
    if "root" in cells:  # the root has this name unless a mutation does
        cells = tuple(f"{cell}!" for cell in cells)
    nodes = data.draw(st.lists(st.integers(0, n), min_size=4, max_size=4))
    hanging = attached_cells(nodes, cells, mutations)
    assert [nodes[cells.index(cell)] for at in hanging for cell in at] == sorted(nodes)
    graph = to_graphviz(parents, mutations, hanging)
    assert from_graphviz(graph, mutations).tolist() == parents.tolist()
    newick = to_newick(parents, mutations, hanging)
    assert from_newick(newick, mutations, cells=cells).tolist() == parents.tolist()


def test_how_they_are_written() -> None:
    parents = np.array([2, 0, 2], np.int32)
    hanging = attached_cells([2, 1, 1], default_cell_names(3), ("a", "b c"))
    assert hanging == [[], ["s1", "s2"], ["s0"]]
    newick = "(s0,((s1,s2)'b c')a)root;\n"
    assert to_newick(parents, ("a", "b c"), hanging) == newick
    assert from_newick(newick, ("a", "b c")).tolist() == [2, 0, 2]
    assert to_graphviz(parents, ("a", "b c"), hanging).splitlines()[2:] == [
        '    "root" -> "a";',
        '    "a" -> "b c";',
        "    node [shape=box, style=filled, color=lightgrey];",
        '    "b c" -> "s1";',
        '    "b c" -> "s2";',
        '    "root" -> "s0";',
        "}",
    ]


def test_mutations_may_be_called_like_scites_cells() -> None:
    """In that case the cells of a tree need other names."""
    mutations, parents = ("s0", "s7"), np.array([2, 0, 2], np.int32)
    for cell in ("s0", "root"):
        with pytest.raises(MatrixError, match=f"'{cell}' is the name of a cell and of a node"):
            attached_cells([0, 1], ("x", cell), mutations)
    text = to_newick(parents, mutations)
    assert from_newick(text, mutations, cells=("s7",)).tolist() == [2, 0, 2]
    with pytest.raises(MatrixError, match="--cell-names"):
        syclade.infer(VALUES, names=mutations, attach=True, **QUICK)


def test_results_have_the_names(tmp_path: Path) -> None:
    plain = syclade.infer(VALUES, **QUICK)
    assert plain.cells == ("s0", "s1", "s2", "s3")
    assert plain.to_newick(attach=True).count("s") == 4
    named = syclade.infer(VALUES, cell_names=list("wxyz"), names=["a", "b"], attach=True, **QUICK)
    assert named.cells == tuple("wxyz")
    named.write(tmp_path)
    score: dict[str, Any] = {"cell_names": list("wxyz"), "names": ["a", "b"], "fp_rate": 0.01, "fn_rate": 0.2}
    for file in ("tree.newick", "tree.gv"):
        text = (tmp_path / file).read_text()
        assert all(cell in text for cell in "wxyz")
        assert syclade.score(VALUES, tmp_path / file, **score) == named.log_likelihood
    assert named.to_newick(attach=False) == to_newick(named.parents, ("a", "b"))
    with (tmp_path / "attachments.tsv").open(newline="") as table:
        assert [row["cell"] for row in csv.DictReader(table, delimiter="\t")] == list("wxyz")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\nb\nc\n", "3 names of cells for a matrix of 2 mutations"),
        ("a\nb\n", "2 names of cells"),
        ("a\nb\na\nc\n", "occurs twice, for cells 1 and 3"),
        ("a\n\nb\nc\n", "a name is empty"),
    ],
)
def test_names_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "cells"
    file.write_text(text)
    with pytest.raises(MatrixError, match=words) as caught:
        with_cell_names(matrix_from_array(VALUES), file)
    assert caught.value.path == str(file)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from syclade.host.commands.main import main

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(each) for each in arguments])
        assert not caught.value.code
        return capsys.readouterr().out

    matrix, cells, out = tmp_path / "matrix", tmp_path / "cells", tmp_path / "out"
    matrix.write_text("1 1 0 3\n0 1 1 0\n")
    cells.write_text("cell 1\ncell 2\nc3\nc4\n")
    rates = ["--fp-rate", 0.01, "--fn-rate", 0.2, "--cell-names", cells]
    quick = ["--chains", 2, "--steps", 50, "--device", "numpy", "--quiet"]
    score = float(run("infer", matrix, *rates, *quick, "--attach", "--out", out))
    for file in ("tree.newick", "tree.gv"):
        assert "cell 2" in (out / file).read_text()
        assert float(run("score", matrix, out / file, *rates)) == score
