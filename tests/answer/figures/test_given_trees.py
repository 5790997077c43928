"""Figures of trees of other programs, and of a consensus of given trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.figures.kinds import files_of_source
from syclade.host.commands.main import cli
from syclade.host.ground.errors import OptionError, TreeError

SCITE = """digraph G {
node [color=deeppink4, style=filled, fontcolor=white];
"TP53" -> KRAS;
Root -> "TP53";
Root -> APC;
node [color=lightgrey, style=filled, fontcolor=black];
KRAS -> s0;
}
"""


def test_tree_of_another_program(tmp_path: Path) -> None:
    """SCITE's GraphViz with an attached cell; a Newick with nodes of several mutations, and of none."""
    scite, newick = tmp_path / "a_ml0.gv", tmp_path / "b.nwk"
    scite.write_text(SCITE)
    newick.write_text("((APC|FLT3-ITD:chr13:28034100,KRAS),TP53)normal;")
    clones = files_of_source(scite).published.clones
    assert [(one.number, one.parent, one.mutations) for one in clones] == [
        (0, 0, ()), (1, 0, ("APC",)), (2, 0, ("TP53",)), (3, 2, ("KRAS",)),
    ]  # fmt: skip
    clones = files_of_source(newick).published.clones
    assert {one.mutations for one in clones if one.parent == 0} >= {
        ("KRAS",),
        ("TP53",),
    }
    for source in (scite, newick):
        out = source.with_suffix(".svg")
        made = CliRunner().invoke(cli, ["plot", str(source), "--out", str(out), "--highlight", "KRAS"])
        assert made.exit_code == 0, made.output
        text = out.read_text()
        assert all(word in text for word in ("KRAS", "TP53", f"Tree of {source.name}: "))
        assert "cells" not in text
        assert "nan" not in text


def test_consensus_of_given_trees(tmp_path: Path) -> None:
    first, second, out = tmp_path / "a.nwk", tmp_path / "b.nwk", tmp_path / "out"
    first.write_text("((B,C)A)r;")
    second.write_text("(((C)B)A)r;")
    assert CliRunner().invoke(cli, ["consensus", str(first), str(second), "--out", str(out)]).exit_code == 0
    for kind, right in (("tree", True), ("posterior", True), ("matrix", False)):
        figure = tmp_path / f"{kind}.svg"
        made = CliRunner().invoke(cli, ["plot", str(out), "--kind", kind, "--out", str(figure)])
        assert (made.exception is None, figure.exists()) == (right, right), made.output
    assert "support" in (tmp_path / "tree.svg").read_text()


def test_several_trees(tmp_path: Path) -> None:
    both = tmp_path / "both.nwk"
    both.write_text("((B)A)r;\n(A,B)r;\n")
    with pytest.raises(TreeError, match=r"the file has 2 trees\n.*consensus"):
        syclade.plot_tree(both)


def test_a_consensus_of_trees_of_cells_has_no_figure(tmp_path: Path) -> None:
    """The refusal says so, and which file other programs draw."""
    trees = [tmp_path / name for name in ("a.newick", "b.newick")]
    for path in trees:
        path.write_text("((s0,s1),(s2,s3));\n")
    out = tmp_path / "out"
    words = ["consensus", *map(str, trees), "--kind", "cells", "--out", str(out)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    drawn = CliRunner().invoke(cli, ["plot", str(out), "--out", str(tmp_path / "x.svg")])
    assert isinstance(drawn.exception, OptionError)
    assert str(drawn.exception).startswith(f"{out} is a consensus of trees of cells, which has no clones\n")
    assert "consensus.newick" in str(drawn.exception)
