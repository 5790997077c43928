"""Trees of a result in the forms of other programs: every clone with its values, by command and in Python."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.figures.exports import FORMS, tree_files
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnClone, DrawnTree
from syclade.host.commands.main import cli
from syclade.host.data.trees.newick import newick_edges
from syclade.host.ground.errors import OptionError

NAMES = ("it's", "a b", "a,b", "é|β:1", "5", "β")


def files_of(support: float | None = 0.9) -> ResultFiles:
    """Return the files of a result whose tree has five clones."""
    parents, own = (0, 0, 1, 1, 0), ((), (0, 3), (1,), (2,), (4, 5))
    clones = tuple(
        DrawnClone(at, parent, 1, tuple(NAMES[one] for one in mutations), 2.0, 0.25, support=support)
        for at, (parent, mutations) in enumerate(zip(parents, own, strict=True))
    )
    nothing = np.zeros(0, dtype=np.int64)
    found = ResultFiles("here", lambda _: None, best=DrawnTree(clones, nothing, nothing, nothing))
    found.__dict__["summary"] = {"tree": "mutation", "mutations": list(NAMES)}
    return found


def text_of(form: str, files: ResultFiles) -> str:
    return str(tree_files(files, form, "likely")[FORMS[form]])


def test_forms_have_names_lengths_and_values() -> None:
    values = "support=0.9:cells=2:share=0.25"
    nhx = text_of("nhx", files_of())
    assert nhx.startswith(f"((a_b:1[&&NHX:{values}],a_b_2:1[&&NHX:{values}])it_s|1|é|β_1:2[&&NHX:{values}],")
    figtree = text_of("figtree", files_of())
    assert figtree.startswith("#NEXUS\nbegin trees;\n\ttree clones = [&R] ((")
    assert 'a_b_2[&name="a_b_2",support=0.9,cells=2,share=0.25]:1' in figtree
    assert figtree.endswith(";\nend;\n")
    assert text_of("phylo", files_of(None)) == "(root:0,(it_s|1|é|β_1:0,a_b:1,a_b_2:1):2,5|1|β:2):0;\n"
    assert text_of("phylo", files_of()).replace("0.9", "") == text_of("phylo", files_of(None))
    for form in FORMS:
        tree = re.sub(r"^#NEXUS.*= \[&R\] |end;\n$", "", text_of(form, files_of()), flags=re.DOTALL)
        edges = newick_edges(tree, joints=form == "phylo")
        assert {"a_b", "a_b_2", "5|1|β", "it_s|1|é|β_1"} <= {edge.child for edge in edges}


def test_changed_names_are_in_a_table() -> None:
    table = tree_files(files_of(), "nhx", "likely")["labels.tsv"]
    assert table == "label\tclone\nit_s|1|é|β_1\tit's|1|é|β:1\na_b\ta b\na_b_2\ta,b\n"


def test_wrong_words_and_trees_of_cells_are_refused() -> None:
    for form, tree in (("itol", "likely"), ("nhx", "best")):
        with pytest.raises(OptionError):
            tree_files(files_of(), form, tree)
    cells = files_of()
    cells.__dict__["summary"] = {"tree": "leaf"}
    with pytest.raises(OptionError, match="leaves of this tree are cells") as refused:
        tree_files(cells, "nhx")
    assert "read tree.newick; for support" in str(refused.value.hint)


def test_forms_share_the_table_of_labels(tmp_path: Path) -> None:
    made = syclade.simulate(cells=8, mutations=3, fp_rate=0.01, fn_rate=0.1, missing=0.0, seed=4)
    names = ["a b", "c", "d"]
    result = syclade.infer(made.matrix.values, fp_rate=0.01, fn_rate=0.1, device="native", names=names)
    result.write(tmp_path / "r")
    out, table = tmp_path / "out", tmp_path / "out" / "labels.tsv"
    for form in FORMS:
        options = ["convert", str(tmp_path / "r"), "--to", form, "--out", str(out)]
        CliRunner().invoke(cli, options, catch_exceptions=False)
    assert {one.name for one in out.iterdir()} == {*FORMS.values(), table.name}
    (out / FORMS["nhx"]).unlink()
    table.write_text("of another tree")
    failed = CliRunner().invoke(cli, ["convert", str(tmp_path / "r"), "--to", "nhx", "--out", str(out)])
    assert "already has labels.tsv" in str(failed.exception)


def test_the_command_writes_what_the_result_returns(tmp_path: Path) -> None:
    made = syclade.simulate(cells=20, mutations=5, fp_rate=0.01, fn_rate=0.1, missing=0.0, seed=4)
    result = syclade.infer(made.matrix, fp_rate=0.01, fn_rate=0.1, device="native")
    result.write(tmp_path / "r é")
    run = CliRunner()
    for form, name in FORMS.items():
        for tree in ("published", "likely"):
            options = ["convert", str(tmp_path / "r é"), "--to", form, "--tree", tree]
            out = tmp_path / f"{form} {tree}"
            said = run.invoke(cli, [*options, "--out", str(out)], catch_exceptions=False)
            assert said.stdout == f"wrote {out / name}\n"
            assert (out / name).read_text("utf-8") == result.to_form(form, tree=tree)
            assert "already has" in str(run.invoke(cli, [*options, "--out", str(out)]).exception)
    run.invoke(
        cli, ["consensus", str(tmp_path / "r é"), "--out", str(tmp_path / "c")], catch_exceptions=False
    )
    out = tmp_path / "of consensus"
    run.invoke(
        cli, ["convert", str(tmp_path / "c"), "--to", "phylo", "--out", str(out)], catch_exceptions=False
    )
    assert re.search(r"\)1:\d", (out / "tree.nwk").read_text("utf-8"))
    for folder, words in (
        (tmp_path, "it is not the folder of a result"),
        (tmp_path / "none", "is not there"),
    ):
        failed = run.invoke(cli, ["convert", str(folder), "--to", "nhx", "--out", str(tmp_path / "x")])
        assert words in str(failed.exception)
    failed = run.invoke(cli, ["convert", "-", "--to", "nhx", "--out", str(tmp_path / "x")], input="")
    assert "not from standard input" in str(failed.exception)
