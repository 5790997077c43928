"""Comparison of trees by names: definitions, different mutations, trees of cells, files, and the commands."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.trees import comparison
from syclade.host.data.trees.comparison import CellComparison, Comparison
from syclade.host.data.trees.distances import Agreement, Pairs, distances_between
from syclade.host.data.trees.multi_label import mp3_similarity, multi_label_distance
from syclade.host.data.trees.newick import newick_texts
from syclade.host.ground.errors import OptionError, SycladeError, TreeError

Nodes = NDArray[np.int32]
Tree = tuple[Nodes, Nodes]


def clone_trees(draw: Any, mutations: int) -> Tree:
    """Draw a tree of up to so many nodes, and the node of each mutation; nodes may be empty."""
    nodes = draw(st.integers(1, mutations + 1))
    order = draw(st.permutations(range(nodes)))
    parents = np.full(nodes + 1, nodes, dtype=np.int32)
    for at, node in enumerate(order):
        parents[node] = draw(st.sampled_from([nodes, *order[:at]]))
    return parents, np.array([draw(st.integers(0, nodes - 1)) for _ in range(mutations)], dtype=np.int32)


@st.composite
def pairs_of_trees(draw: st.DrawFn, most: int = 7) -> tuple[Tree, Tree]:
    mutations = draw(st.integers(1, most))
    return clone_trees(draw, mutations), clone_trees(draw, mutations)


def way_up(tree: Tree, node: int) -> Iterator[int]:
    """Yield a node and those above it, with the root."""
    yield node
    while node != len(tree[0]) - 1:
        node = int(tree[0][node])
        yield node


def sets_of(tree: Tree) -> dict[str, set[Any]]:
    """Return the claims of a tree by their definitions."""
    node = tree[1].tolist()
    mutations, root = range(len(node)), len(tree[0]) - 1
    ups = [list(way_up(tree, at)) for at in node]
    above = {(a, b) for a, b in itertools.permutations(mutations, 2) if node[a] in ups[b][1:]}
    same = {(a, b) for a, b in itertools.combinations(mutations, 2) if node[a] == node[b]}
    parents = set()
    for b in mutations:
        upper = next(at for at in ups[b][1:] if at == root or at in node)
        parents |= {(a, b) for a in mutations if node[a] == upper} or {(-1, b)}
    return {
        "parents": parents,
        "ancestors": above,
        "clones": same,
        "lineages": {
            pair
            for pair in itertools.combinations(mutations, 2)
            if pair not in above | same and pair[::-1] not in above
        },
        "clades": {frozenset(b for b in mutations if node[a] in ups[b]) for a in mutations},
    }


@given(pairs_of_trees())
def test_claims_are_those_of_their_definitions(trees: tuple[Tree, Tree]) -> None:
    found = distances_between(*(Pairs(*tree) for tree in trees))
    one, two = map(sets_of, trees)
    for name, kind in found.agreements.items():
        assert (kind.shared, kind.found, kind.true) == (
            len(one[name] & two[name]),
            len(one[name]),
            len(two[name]),
        ), name
    alike = distances_between(*(Pairs(*trees[0]) for _ in range(2))).caset
    assert alike == 0.0 if len(trees[0][1]) > 1 else np.isnan(alike)


def common_tree(one: Tree, two: Tree, kept: tuple[int, ...]) -> bool:
    """Return whether two trees, reduced to some mutations, have a common tree: same branches, one order."""
    return _below(one, two, len(one[0]) - 1, len(two[0]) - 1, frozenset(kept))


def _below(one: Tree, two: Tree, x: int, y: int, kept: frozenset[int]) -> bool:
    """Return whether the trees below x and y, with both, have a common tree with all kept mutations."""
    here = {m for m in kept if one[1][m] == x and two[1][m] == y}
    rest = kept - here
    if not rest:
        return True
    children = [[int(c) for c in np.flatnonzero(t[0][:-1] == n)] for t, n in ((one, x), (two, y))]
    within = [
        {c: frozenset(m for m in rest if c in way_up(t, int(t[1][m]))) for c in of}
        for t, of in zip((one, two), children, strict=True)
    ]
    if any(_below(one, two, c, y, rest) for c in children[0] if within[0][c] == rest):
        return True
    if any(_below(one, two, x, c, rest) for c in children[1] if within[1][c] == rest):
        return True
    parts = [{c: s for c, s in of.items() if s} for of in within]
    if any(set().union(*of.values()) != rest for of in parts if of) or not all(parts):
        return False
    match = {c: d for c, s in parts[0].items() for d, r in parts[1].items() if s == r}
    return len(match) == len(parts[0]) == len(parts[1]) and all(
        _below(one, two, c, d, parts[0][c]) for c, d in match.items()
    )


@given(pairs_of_trees(most=5))
def test_mltd_keeps_the_most_mutations_of_a_common_tree(trees: tuple[Tree, Tree]) -> None:
    found = multi_label_distance(*trees[0], *trees[1])
    mutations = range(len(trees[0][1]))
    sizes = [
        size
        for size in range(len(mutations) + 1)
        for kept in itertools.combinations(mutations, size)
        if common_tree(*trees, kept)
    ]
    assert found.common == max(sizes)
    assert found.distance == 2 * (len(mutations) - max(sizes))


def labels_at(tree: Tree, triple: tuple[int, ...], node: int) -> frozenset[int]:
    return frozenset(mutation for mutation in triple if tree[1][mutation] == node)


PARTED_BELOW: tuple[Tree, Tree] = (
    (np.array([6, 6, 3, 0, 6, 3, 6], np.int32), np.array([0, 5, 0, 2, 0], np.int32)),
    (np.array([6, 6, 0, 0, 6, 6, 6], np.int32), np.array([0, 2, 0, 3, 0], np.int32)),
)
"""Two mutations part at a node without labels below a third one, or at that one: the same topology."""


@given(pairs_of_trees(most=6))
@example(PARTED_BELOW)
def test_mp3_counts_triples_of_one_topology(trees: tuple[Tree, Tree]) -> None:
    def topology(tree: Tree, triple: tuple[int, ...]) -> list[object]:
        ups = {m: list(way_up(tree, int(tree[1][m]))) for m in triple}
        last = {
            pair: next(at for at in ups[pair[0]] if at in ups[pair[1]])
            for pair in itertools.combinations(triple, 2)
        }
        labels = {pair: labels_at(tree, triple, at) for pair, at in last.items()}
        for (
            pair,
            at,
        ) in last.items():  # a node without labels of the triple counts as the next one of all three
            (third,) = set(triple) - set(pair)
            whole = next(one for one in way_up(tree, at) if one in ups[third])
            labels[pair] = labels[pair] or labels_at(tree, triple, whole)
        depth = {pair: len(list(way_up(tree, at))) for pair, at in last.items()}
        deepest = max(depth.values())
        relation = [(labels[a, b], ups[a][0] in ups[b], ups[b][0] in ups[a]) for a, b in last]
        apart = not any(up or down for _, up, down in relation)
        return [relation if not apart else [depth[pair] == deepest for pair in last]]

    triples = list(itertools.combinations(range(len(trees[0][1])), 3))
    same = [topology(trees[0], triple) == topology(trees[1], triple) for triple in triples]
    assert mp3_similarity(*trees[0], *trees[1]) == pytest.approx(
        np.mean(same) if same else np.nan, nan_ok=True
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command in a new folder, after it has written files."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, **files: str) -> Result:
        for name, text in files.items():
            Path(name.replace("_", ".")).write_text(text, "utf-8")
        return CliRunner().invoke(cli, arguments)

    return invoke


def compared(one: str, two: str, folder: Path, **options: Any) -> Comparison | CellComparison:
    paths = [folder / "one tree ä.nwk", folder / "two.nwk"]
    for path, text in zip(paths, (one, two), strict=True):
        path.write_text(text, "utf-8")
    return syclade.compare(*paths, **options)


def test_different_mutations_are_left_out_and_counted(tmp_path: Path) -> None:
    found = compared("(('a|é',b)x)root;", "((a,(b)'é')y,z)root;", tmp_path)
    assert (found.shared, found.only_tree, found.only_true) == (3, ("x",), ("y", "z"))
    assert isinstance(found, Comparison)
    assert found.distances.clones.found == 1
    assert found.distances.lineages.shared == 1
    assert found.distances.ancestors.true == 1
    assert found.mltd is not None
    assert found.mltd.common == 2
    with pytest.raises(TreeError, match=r"share no mutation: .*one tree ä.nwk has 'a'"):
        compared("(a)root;", "(b)root;", tmp_path)


@pytest.mark.parametrize(
    ("one", "two", "shared"),
    [
        ("(b,c)a;", "((b,c)a)root;", 3),  # the root of one is a mutation of the other
        ("((b)a)root;", "((b)a)normal;", 2),
        ("(b,c)a;", "(b,c)a;", 2),  # nothing says that the root is one
        ("(b)'a|x';", "((b)x)a;", 3),
        ("(b)'a|x';", "(b)'a|x';", 3),  # two names are no label of a normal cell
        ("((b,c),a);", "((b,c)d,a)e;", 3),  # nodes without names
        ("((s0,b)a,s1)r;", "((b)a)r;", 2),  # SCITE's cells
        ("(M1)root;", "(M1)root;", 1),
    ],
)
def test_roots_empty_nodes_and_cells(tmp_path: Path, one: str, two: str, shared: int) -> None:
    assert compared(one, two, tmp_path).shared == shared
    assert compared(two, one, tmp_path).shared == shared


def test_numbers_need_names_in_order(tmp_path: Path) -> None:
    names = ["z", "a", "m"]
    with pytest.raises(TreeError, match="share no mutation"):
        compared("((1,2)3)4\n", "((z,a)m)root;", tmp_path)
    found = compared("((1,2)3)4\n", "((z,a)m)root;", tmp_path, names=names)
    assert found.agreements["parents"].distance == 0
    found = compared("((1,2)3)4\n", "((1,2)3)4\n", tmp_path, names=names)
    assert found.agreements["parents"].shared == 3
    file = tmp_path / "tree.gv"
    file.write_text('digraph t { n0 -> n1; n1 -> n2; n0 [label="3 1"]; n1 [label="2"]; n2 [label="4"]; }')
    (tmp_path / "true.nwk").write_text("(((4)2)'1 3')r;")
    assert syclade.compare(file, tmp_path / "true.nwk", separator=" ").agreements["clades"].distance == 0


def test_separators_of_both_trees(run: Any) -> None:
    trees = {"one_nwk": "(('a;b',c)x)r;", "two_nwk": "(('a|b',c)x)r;"}
    said = run("compare", "one.nwk", "two.nwk", "--separator", ";", "--separator", "|", **trees)
    assert said.stdout.startswith("4 mutations of both trees are compared")
    hint = "a|b is one name in one tree, and several in the other"
    for order in (("one.nwk", "two.nwk"), ("two.nwk", "one.nwk")):
        said = run("compare", *order, "--separator", ";", one_nwk="((a,b)c,d)r;", two_nwk="(('a|b')c,d)r;")
        assert hint in said.stdout
    assert hint not in run("compare", "one.nwk", "two.nwk").stdout, "the control: the bar is between"
    failed = run("compare", "one.nwk", "two.nwk", *["--separator", "|"] * 3)
    assert "3 separators" in str(failed.exception)
    failed = run("consensus", "one.nwk", "two.nwk", "--weights", "w", "--out", "c", w="1\n")
    assert str(failed.exception).startswith("1 weight for 2 trees")
    failed = run("compare", "one.nwk", "--true", "open.nwk", open_nwk="((a)r;")
    assert "1 parenthesis is not closed" in str(failed.exception)


def test_few_shared_mutations_are_warned_of(run: Any) -> None:
    own, other, third = Path("own.nwk"), Path("other.nwk"), Path("third.nwk")
    own.write_text("('a b c',('d e f',g)'h i')Root;")
    other.write_text("((((((((a)b)c)d)e)f)h)i,g)Root;")
    third.write_text("(('a b c')'d e f','h i')Root;")
    found = run("compare", str(own), str(other))
    assert "warning: 1 of 4 mutations of own.nwk, and of 9 of other.nwk, are in both" in found.output
    assert "with --separator ' ' between the mutations of a node, 9 would match" in found.output
    assert "warning" not in run("compare", str(other), str(other)).output
    with pytest.raises(TreeError, match="with --separator ' ' between"):
        syclade.compare(third, other)


def test_cells_of_a_tree_are_left_out(tmp_path: Path) -> None:
    one, two = "((c1,b)a,c2)root;", "((b)a)root;"
    assert compared(one, two, tmp_path).only_tree == ("c1", "c2")
    assert compared(one, two, tmp_path, cell_names=["c1", "c2"]).only_tree == ()


@st.composite
def nested(draw: st.DrawFn) -> str:
    """Draw a tree of five to seven cells in Newick format, with any branching."""
    parts = [f"c{number}" for number in draw(st.permutations(range(draw(st.integers(5, 7)))))]
    while len(parts) > draw(st.integers(1, 3)):
        size = draw(st.integers(2, len(parts)))
        parts = [f"({','.join(parts[:size])})", *parts[size:]]
    return f"({','.join(parts)});" if len(parts) > 1 else f"{parts[0]};"


@given(nested(), nested())
def test_trees_of_cells(tmp_path_factory: pytest.TempPathFactory, one: str, two: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    found = compared(one, two, folder, kind="cells")
    cells = sorted(
        {name for name in ("c0", "c1", "c2", "c3", "c4", "c5", "c6") if name in one and name in two}
    )
    assert (found.shared, len(found.only_tree)) == (len(cells), one.count("c") - len(cells))
    sets = []
    for text in (one, two):
        groups, open_at = set(), []
        for at, sign in enumerate(text):
            if sign == "(":
                open_at.append(at)
            elif sign == ")":
                inside = text[open_at.pop() : at]
                groups.add(frozenset(cell for cell in cells if cell in inside))
        clades = {group for group in groups if 1 < len(group) < len(cells)}
        splits = {
            frozenset((group, frozenset(cells) - group)) for group in clades if len(cells) - len(group) > 1
        }
        triplets = {
            (frozenset(pair), other)
            for group in clades
            for pair in itertools.combinations(sorted(group), 2)
            for other in set(cells) - group
        }
        sets.append((clades, splits, triplets))
    for kind, own, others in zip(found.agreements.values(), *sets, strict=True):
        assert (kind.shared, kind.found, kind.true) == (len(own & others), len(own), len(others))


def test_texts_are_split_into_trees() -> None:
    text = "(a,b)c\n((a)b)c\n\n[x;y](a,\nb)'x;y';(d)e;;\n[z](a)b"
    assert [line for line, _ in newick_texts(text)] == [1, 2, 4, 5, 6]
    assert [piece for _, piece in newick_texts(text)][2:4] == ["[x;y](a,\nb)'x;y';", "(d)e;"]


def test_many_trees_make_a_table(run: Any) -> None:
    many = "((b)a,c)r;\n((c)a,b)r;\n((b,c)a)r;\n"
    said = run("compare", "many.nwk", "--true", "true.nwk", many_nwk=many, true_nwk="((b)a,c)r;")
    lines = [line.split("\t") for line in said.stdout.splitlines()]
    head = lines[0]
    assert [line[0] for line in lines[1:]] == ["many.nwk:1", "many.nwk:2", "many.nwk:3"]
    assert [line[head.index("ancestors_distance")] for line in lines[1:]] == ["0", "2", "1"]
    assert "mltd" not in head
    assert "mp3_similarity" in run("compare", "many.nwk", "--true", "true.nwk", "--measures=all").stdout
    shown = json.loads(run("compare", "many.nwk", "--true", "true.nwk", "--json").stdout)
    assert [one["ancestors"]["f1"] for one in shown] == pytest.approx([1.0, 0.0, 2 / 3])
    assert "3 trees, where one is expected" in str(run("compare", "true.nwk", "many.nwk").exception)
    assert "give two trees" in str(run("compare", "true.nwk").exception)


def test_folders_of_results_are_trees(run: Any, tmp_path: Path) -> None:
    made = syclade.simulate(cells=20, mutations=5, fp_rate=0.01, fn_rate=0.1, missing=0.0, seed=4)
    result = syclade.infer(made.matrix, fp_rate=0.01, fn_rate=0.1, device="native")
    result.write(tmp_path / "my result")
    true = tmp_path / "true.nwk"
    true.write_text(result.to_newick())
    assert result.consensus is not None
    for which, clones in (("likely", 5), ("published", result.consensus.tree.clones - 1)):
        by_folder = syclade.compare(tmp_path / "my result", true, which=which)
        assert syclade.compare(result, true, which=which).to_dict() | {"tree": ""} == by_folder.to_dict() | {
            "tree": ""
        }
        assert by_folder.agreements["clades"].found == clones
    said = run("compare", "my result", "true.nwk", "--tree", "likely")
    assert "parent of              precision 1.0000" in said.stdout
    with pytest.raises(TreeError, match="has a tree of mutations, not of cells"):
        syclade.compare(tmp_path / "my result", true, kind="cells")
    said = run("consensus", "my result", "true.nwk", "--out", "c")
    assert said.stdout.startswith("consensus of 2 trees: 5 mutations in 5 clones")
    with pytest.raises(OptionError, match="which is 'best'"):
        syclade.compare(result, true, which="best")


def test_names_are_for_results_without(tmp_path: Path) -> None:
    values = np.array([[1] * 6, [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
    result = syclade.infer(values, fp_rate=0.01, fn_rate=0.1, device="native")
    result.write(tmp_path / "r")
    true = tmp_path / "true.nwk"
    true.write_text("((a|1,'b c')z)root;")
    for which in ("likely", "published"):
        for tree in (result, tmp_path / "r"):
            found = syclade.compare(tree, true, which=which, names=["z", "a|1", "b c"], separator="; ")
            assert (found.shared, found.agreements["clades"].distance) == (3, 0)


def test_equal_cells_are_not_parted(tmp_path: Path) -> None:
    values = np.array([[1] * 9 + [0], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]])
    result = syclade.infer(values, tree="leaf", fp_rate=0.01, fn_rate=0.1, device="native")
    result.write(tmp_path / "r")
    for tree in (result, tmp_path / "r"):
        found = syclade.consensus([tree], kind="cells")
        assert found.words == "consensus of 1 tree: 10 cells, 4 clades"  # with that of all cells
        assert syclade.compare(tree, tmp_path / "r", kind="cells").agreements["clades"].shared == 3


@pytest.mark.parametrize("text", ["", "((a)b", "digraph {", "(a,a)b;", "(a)b;(c", "('a|b',a)r;"])
def test_bad_files_are_refused(run: Any, text: str) -> None:
    said = run("compare", "bad.nwk", "good.nwk", bad_nwk=text, good_nwk="(a)r;")
    assert isinstance(said.exception, SycladeError)
    assert "bad.nwk" in str(said.exception)


def test_mp3_is_left_out_where_it_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_OF_MP3", 4)
    for count, has in ((4, True), (5, False)):
        text = "(" + ",".join(f"m{number}" for number in range(count)) + ")r;"
        found = compared(text, text, tmp_path)
        assert isinstance(found, Comparison)
        assert (found.mp3 is not None) == has
        assert found.mltd is not None
        assert found.mltd.similarity == 1.0


def test_samples_of_scite_are_trees(tmp_path: Path) -> None:
    file, cells = tmp_path / "run.samples", tmp_path / "cells.samples"
    file.write_text("-15.5\t1\t1 3 0 \n-1e-05\t1\t1 3 1 \n")
    names = ["z", "a", "m"]
    found = syclade.consensus([file], names=names)
    assert found.to_newick() == "(('m|z'[&support=0.5])a[&support=1])root;\n"
    (tmp_path / "t.nwk").write_text("(((m)z)a)r;")
    both = syclade.compare_many([file], tmp_path / "t.nwk", names=names)
    assert [one.agreements["parents"].distance for one in both] == [0, 2]
    cells.write_text("-15.5\t((1,2),3);\n-12\t((1,2),3);\n-13\t((1,3),2);\n")
    assert syclade.consensus([cells], kind="cells").to_newick() == "((1,2)67,3)100;\n"
    for text, words in (("-1\t1 2\n", "names"), ("-1\t1 0 3\n", "cycle"), ("-1\tx\n", "samples:1")):
        file.write_text(text)
        with pytest.raises(TreeError, match=words):
            syclade.consensus([file], names=names)


def test_files_of_a_folder_are_read_once(tmp_path: Path) -> None:
    """Of two files of one name, that with the names; in the order of their numbers."""
    for number in (2, 10):
        (tmp_path / f"ml{number}.newick").write_text("((1,2)3)4")
        (tmp_path / f"ml{number}.gv").write_text("digraph { Root -> a; a -> b; }")
    found = syclade.compare_many([tmp_path], tmp_path / "ml2.gv")
    assert [Path(one.tree).name for one in found] == ["ml2.gv", "ml10.gv"]
    assert found[0].shared == 2
    (tmp_path / "none").mkdir()
    with pytest.raises(TreeError, match="folder has no tree files"):
        syclade.compare_many([tmp_path / "none"], tmp_path / "ml2.gv")


def test_nexus_is_read(tmp_path: Path) -> None:
    file, bad = tmp_path / "trees.nexus", tmp_path / "bad.nexus"
    head = "#NEXUS\n[a; b]\nbegin taxa;\n dimensions ntax=3;\nend;\n"
    head += "Begin trees;\n translate\n 1 a, 2 'b c',\n 3 d;\n"
    trees = " tree one = [&R] ((1[&x=1]:2,2:1)90:1,\n 3);\n tree STATE_2 [&lnP=-1] = [&U] ((1,3),2);\nend;\n"
    file.write_text(head + trees)
    (tmp_path / "t.nwk").write_text("((a,'b c'),d);")
    found = syclade.compare_many([file], tmp_path / "t.nwk", kind="cells")
    assert [one.agreements["clades"].shared for one in found] == [1, 0]
    bad.write_text(head + " tree one = ((1,2)\n,;\nend;\n")
    with pytest.raises(TreeError, match=r"bad.nexus:1[0-2]"):
        syclade.compare_many([bad], file, kind="cells")
    bad.write_text("#NEXUS\nbegin data;\nend;\n")
    with pytest.raises(TreeError, match="no tree in the NEXUS file"):
        syclade.compare_many([bad], file, kind="cells")
    clones = '#nexus\nbegin trees;\ntree clones = [&R] ((c[&name="c",support=1]:1)a|b:2)root:0;\nend;\n'
    assert compared(clones, "((c)'a|b')r;", tmp_path).shared == 3


def test_shares_of_nothing_are_not_defined(run: Any) -> None:
    """No pair is on different lineages in both chains, and two mutations have no triple."""
    chains = {"one_nwk": "((((a)b)c)d)r;", "two_nwk": "((((b)a)c)d)r;"}
    said = run("compare", "one.nwk", "two.nwk", **chains).stdout
    assert "in different lineages  none in either tree\n" in said
    shown = json.loads(run("compare", "one.nwk", "two.nwk", "--json").stdout)
    assert {shown["lineages"][rate] for rate in ("precision", "recall", "f1")} == {None}
    assert shown["lineages"]["distance"] == 0
    star = run("compare", "one.nwk", "star.nwk", star_nwk="(a,b,c,d)r;").stdout
    assert "ancestor of            precision 0.0000  recall not defined  distance 6  F1 0.0000\n" in star
    assert "in different lineages  precision not defined  recall 0.0000  distance 6  F1 0.0000\n" in star
    few = run("compare", "few.nwk", "two.nwk", few_nwk="((a)b)r;")
    assert "MP3 similarity not defined" in few.stdout
    assert json.loads(run("compare", "few.nwk", "two.nwk", "--json").stdout)["mp3_similarity"] is None
    table = run("compare", "few.nwk", "one.nwk", "--true", "two.nwk", "--measures=all").stdout
    head, first, second = (line.split("\t") for line in table.splitlines())
    assert first[head.index("mp3_similarity")] == ""
    assert float(second[head.index("mp3_similarity")]) == 0.5
    assert first[head.index("lineages_f1")] == ""
    assert first[head.index("lineages_distance")] == "0"
    alone = run("compare", "alone.nwk", "alone.nwk", alone_nwk="(a)r;").stdout
    assert "CASet not defined  DISC not defined" in alone


def test_agreements_without_claims_have_no_shares() -> None:
    assert Agreement(0, 0, 0).rates == {"precision": None, "recall": None, "f1": None}
    assert Agreement(0, 2, 0).rates == {"precision": 0.0, "recall": None, "f1": 0.0}
    assert Agreement(1, 1, 4).rates == {"precision": 1.0, "recall": 0.25, "f1": 0.4}
