"""Files of names beside a matrix are used if they fit."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest

import syclade
from syclade.host.commands.main import main

TEXT = "1 0 1\n0 1 3\n"
RATES = {"fp_rate": 0.01, "fn_rate": 0.1}
QUICK: dict[str, Any] = {**RATES, "device": "numpy", "chains": 2, "steps": 20}


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Write a matrix of two mutations and three cells with names beside it, and return its path."""
    (tmp_path / "x.csv").write_text(TEXT)
    (tmp_path / "x.geneNames").write_text("TP53\nKRAS\n")
    (tmp_path / "x.cellNames").write_text("c1\nc2\nc3\n")
    return tmp_path / "x.csv"


def test_they_are_used(matrix: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "syclade"):
        read = syclade.read_matrix(matrix)
    assert (read.mutations, read.cells) == (("TP53", "KRAS"), ("c1", "c2", "c3"))
    gene_names, cell_names = str(matrix.with_name("x.geneNames")), str(matrix.with_name("x.cellNames"))
    assert (read.names_from, read.cell_names_from) == (gene_names, cell_names)
    assert caplog.messages == [f"names of the mutations: {gene_names}", f"names of the cells: {cell_names}"]


@pytest.mark.parametrize("name", ["x.csv.gz", "x", "x.tsv"])
def test_only_the_ending_of_the_matrix_differs(matrix: Path, name: str) -> None:
    other = matrix.with_name(name)
    other.write_bytes(gzip.compress(TEXT.encode()) if name.endswith(".gz") else TEXT.encode())
    assert syclade.read_matrix(other).mutations == ("TP53", "KRAS")


def test_other_names_win(matrix: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "syclade"):
        read = syclade.read_matrix(matrix, ["a", "b"])
        assert (read.mutations, read.names_from) == (("a", "b"), None)
        assert read.cells == ("c1", "c2", "c3")
        read = syclade.read_matrix(matrix, cell_names=["a", "b", "c"])
        assert (read.mutations, read.cells, read.cell_names_from) == (("TP53", "KRAS"), ("a", "b", "c"), None)
    assert [line.partition(":")[0] for line in caplog.messages] == [
        "names of the cells",
        "names of the mutations",
    ]
    read = syclade.read_matrix(syclade.read_matrix(matrix), ["a", "b"])
    assert (read.mutations, read.names_from) == (("a", "b"), None)


def test_none_are_looked_for(matrix: Path) -> None:
    """Look for no names with `beside=False`, in streams, and for other formats."""
    read = syclade.read_matrix(matrix, beside=False)
    assert (read.mutations, read.cells, read.names_from) == (("1", "2"), None, None)
    with matrix.open("rb") as stream:
        assert syclade.read_matrix(stream).mutations == ("1", "2")
    other = matrix.with_name("x.SC")
    other.write_text("cellIDxmutID\tm1\tm2\nz1\t0\t1\n")
    assert syclade.read_matrix(other).mutations == ("m1", "m2")


def test_those_beside_the_target_of_a_link(
    matrix: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A link has the names beside its target, unless some are beside it; a message says which."""
    caplog.set_level(logging.INFO, logger="syclade")
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "y.csv"
    link.symlink_to(Path("..") / matrix.relative_to(tmp_path))
    read = syclade.read_matrix(link)
    assert (read.mutations, read.cells) == (("TP53", "KRAS"), ("c1", "c2", "c3"))
    assert f"names of the mutations: {matrix.resolve().with_name('x.geneNames')}" in caplog.text
    (folder / "y.geneNames").write_text("A\nB\n")
    assert syclade.read_matrix(link).names_from == str(folder / "y.geneNames")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("TP53\n", "1 names for a matrix of 2 mutations (rows) and 3 cells (columns)"),
        ("TP53\nTP53\n", "the name 'TP53' occurs twice, for mutations 1 and 2"),
        ("", "the file is empty"),
        ("TP53\tx\nKRAS\ty\n", "several columns of names"),
    ],
)
def test_names_that_do_not_fit_are_a_warning(
    matrix: Path, caplog: pytest.LogCaptureFixture, content: str, problem: str
) -> None:
    names = matrix.with_name("x.geneNames")
    names.write_text(content)
    read = syclade.read_matrix(matrix)
    assert (read.mutations, read.names_from, read.cells) == (("1", "2"), None, ("c1", "c2", "c3"))
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.getMessage().startswith(str(names))
    assert warning.getMessage().endswith(f"{problem}; the mutations are numbered")


def test_results_are_those_of_given_names(matrix: Path) -> None:
    found = syclade.infer(matrix, **QUICK)
    given = syclade.infer(
        [[1, 0, 1], [0, 1, 3]], names=["TP53", "KRAS"], cell_names=["c1", "c2", "c3"], **QUICK
    )
    assert found.summary() == given.summary()
    assert found.options["names"] == str(matrix.with_name("x.geneNames"))
    assert found.options["cell_names"] == str(matrix.with_name("x.cellNames"))
    leaf = syclade.infer_leaf(matrix, **QUICK)
    assert (leaf.mutations, leaf.cells) == (found.mutations, found.cells)
    assert leaf.options["names"] == found.options["names"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs a command, which must succeed, and returns its standard error."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr().err
        assert caught.value.code == 0, said
        return said

    return run


@pytest.mark.parametrize("more", [(), ("--format", "scite"), ("--tree", "leaf", "--format", "scite")])
def test_a_simulated_matrix_is_inferred_as_it_is(tmp_path: Path, run: Any, more: tuple[str, ...]) -> None:
    """Check the message that names were found; `--quiet` omits it."""
    made, out = tmp_path / "made", tmp_path / "out"
    rates = ("--fp-rate", 0.01, "--fn-rate", 0.1)
    run("simulate", "--cells", 9, "--mutations", 5, *rates, "--seed", 1, "--out", made)
    true = () if "leaf" in more else ("--true-tree", made / "true_tree.newick")
    request = ("infer", made / "matrix.csv", *rates, *more, "--device", "numpy", "--chains", 2, "--steps", 50)
    request = (*request, "--out", out, "--force")
    line = f"syclade: names of the mutations: {made / 'matrix.geneNames'}"
    assert run(*request, *true).splitlines().count(line) == 1
    assert json.loads((out / "run.json").read_text())["options"]["names"] == str(made / "matrix.geneNames")
    assert json.loads((out / "summary.json").read_text())["mutations"] == ["M1", "M2", "M3", "M4", "M5"]
    assert "names" not in run(*request, *true, "--quiet")
    (made / "other.names").write_text("a\nb\nc\nd\nM1\n")
    assert "names" not in run(*request, "--names", made / "other.names")
    assert json.loads((out / "summary.json").read_text())["mutations"] == ["a", "b", "c", "d", "M1"]
    if true:
        assert line in run("score", made / "matrix.csv", made / "true_tree.newick", *rates)
