from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names, read_names
from syclade.host.data.trees.graphviz import from_graphviz, to_graphviz
from syclade.host.data.trees.newick import from_newick, to_newick
from syclade.host.data.trees.tree import node_labels
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import TreeError
from tests.support.tree_strategies import names, path_tree, trees

AB = ("a", "b")
Writer = Callable[[NDArray[np.int32], Any], str]
Reader = Callable[[str, Any], NDArray[np.int32]]
FORMATS = pytest.mark.parametrize(
    ("write", "read"), [(to_newick, from_newick), (to_graphviz, from_graphviz)], ids=["newick", "graphviz"]
)


@FORMATS
@given(data=st.data(), parents=trees())
def test_round_trip(write: Writer, read: Reader, data: st.DataObject, parents: NDArray[np.int32]) -> None:
    n = len(parents) - 1
    for mutations in (default_names(n), data.draw(names(n))):
        again = read(write(parents, mutations), mutations)
        assert again.dtype == np.int32
        np.testing.assert_array_equal(again, parents)


@FORMATS
@pytest.mark.parametrize(
    "name", ["root", "node", "graph", "s1", "a\\", 'say "x"', "it's", "a -> b", "#1", "//", "a--b", "[x]"]
)
def test_names_that_mean_something_else(write: Writer, read: Reader, name: str) -> None:
    mutations = (name, "other")
    for parents in ([1, 2, 2], [2, 0, 2], [2, 2, 2]):
        again = read(write(np.array(parents, np.int32), mutations), mutations)
        assert again.tolist() == parents


@FORMATS
@pytest.mark.parametrize(
    "others", [("node", "lightgrey"), ("node", "[color=lightgrey]"), ("node[lightgrey", "]")]
)
def test_names_that_together_mean_something_else(
    write: Writer, read: Reader, others: tuple[str, str]
) -> None:
    """SCITE's list of cells begins with a statement of these words, after which ``s1`` is a cell."""
    mutations = (*others, "s1", "TP53 p.R175H")
    parents = np.array([4, 0, 1, 2, 4], np.int32)
    np.testing.assert_array_equal(read(write(parents, mutations), mutations), parents)


@FORMATS
def test_a_path_of_5000_nodes(write: Writer, read: Reader) -> None:
    mutations = default_names(5000)
    np.testing.assert_array_equal(read(write(path_tree(5000), mutations), mutations), path_tree(5000))


@given(trees(), st.data())
def test_the_newick_library_reads_ours(parents: NDArray[np.int32], data: st.DataObject) -> None:
    import newick

    # The library treats a backslash as an escape, even inside quotes.
    mutations = data.draw(
        names(len(parents) - 1).filter(lambda given: not re.search(r"[\\]", "".join(given)))
    )
    labels = node_labels(mutations)
    (root,) = newick.loads(to_newick(parents, mutations).strip())
    edges = {(node.ancestor.unquoted_name, node.unquoted_name) for node in root.walk() if node.ancestor}
    assert edges == {(labels[parents[node]], labels[node]) for node in range(len(parents) - 1)}


def test_a_message_is_no_longer_than_it_bears(tmp_path: Path) -> None:
    """Messages stay short for a label of 100,000 characters and for a cycle of as many nodes."""
    label = "x" * 100_000
    cycle = "".join(f"{node} -> {(node + 1) % 100_000};\n" for node in range(100_000))
    texts = [
        f"((a,{label})b)r;",
        f"({label} {label})r;",
        f"(({label},{label})a)r;",
        f"digraph {{ {label} {label} }}",
    ]
    for text in [*texts, f"digraph {{ a -> {label}; b -> {label} }}", f"digraph {{\n{cycle}}}"]:
        (tmp_path / "tree").write_text(text)
        with pytest.raises(TreeError) as caught:
            read_tree(tmp_path / "tree", AB)
        assert len(str(caught.value)) < 1000


# ---- exact texts


def test_newick_text() -> None:
    parents = np.array([3, 0, 0, 3], np.int32)
    assert to_newick(parents, ("1", "2", "3")) == "((2,3)1)root;\n"
    assert to_newick(parents, ("TP53", "it's", "x y")) == "(('it''s','x y')TP53)root;\n"


def test_graphviz_text() -> None:
    text = to_graphviz(np.array([2, 0, 2], np.int32), ('a"b', "c"))
    assert text.startswith("digraph ")
    assert [line.strip() for line in text.splitlines() if "->" in line] == [
        '"root" -> "a\\"b";',
        '"a\\"b" -> "c";',
    ]


# ---- files of other programs


@pytest.mark.parametrize(
    "text",
    [
        "((1)2)3",
        "((1)2)3;",
        " ( ( 1:0.5 ) 2 : 1e-3 [comment; (x)] )\n 3 : 0 ;\n\n",
        "((a)b)root;",
        "((a)b);",
        "(('a')\n'b')'a root';",
        "[x]((a)b)r;",
    ],
)
def test_newick_of_others(text: str) -> None:
    assert from_newick(text, AB).tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    "text",
    [
        "digraph G {\nnode [color=x, style=y];\n2 -> 1;\n3 -> 2;\n}\n",
        "digraph G {\nb -> a;\nRoot -> b;\nnode [color=lightgrey];\na -> s0;\nb -> s1;\na -> s1;\n}",
        "strict digraph{Root->b->a}",
        'digraph "my tree" { rankdir=LR; a [label="x -> y; ]"]; "Root" -> b [len=2] b -> a [x="]"] ; }',
        "/* a -> c */ digraph {\n# c -> d\n b -> a // e -> f\n Root\n -> b\n}",
        "digraph { subgraph x { b -> a; } Root -> b }",
    ],
)
def test_graphviz_of_others(text: str) -> None:
    assert from_graphviz(text, AB).tolist() == [1, 2, 2]


def test_a_mutation_may_be_called_like_a_cell() -> None:
    text = "digraph G {{\nnode [color=x];\n3 -> s1;\ns1 -> s2;\n{}}}"
    assert from_graphviz(text.format(""), ("s1", "s2")).tolist() == [2, 0, 2]
    cells = "node [color=lightgrey];\ns2 -> s1;\ns1 -> s2;\n3 -> s0;\n"
    assert from_graphviz(text.format(cells), ("s1", "s2")).tolist() == [2, 0, 2]


def test_names_with_hyphens_as_scite_writes_them() -> None:
    mutations = ("BDNF-AS_Chr11_27", "HLA-DRB1.2", "x(y)'z")
    text = (
        f"digraph G {{\nRoot -> {mutations[0]};\n{mutations[0]} -> {mutations[1]};\nRoot->{mutations[2]};\n}}"
    )
    assert from_graphviz(text, mutations).tolist() == [3, 0, 3, 3]


def test_scite_numbers_when_names_are_known() -> None:
    assert from_newick("((2)1)3", ("TP53", "KRAS")).tolist() == [2, 0, 2]
    # Names take precedence where both are possible.
    assert from_newick("((2)1)3", ("2", "1")).tolist() == [1, 2, 2]


# ---- refusals


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("((a,b", 1, "2 parentheses are not closed"),
        ("(a)b)r;", 1, "')' without '('"),
        ("(a,b)r;\n(a,b)r;", 2, "more after the end"),
        ("(a,\n)r;", 2, "without a label"),
        ("(a,(b))r;", 1, "without a label"),
        ("(a b)r;", 1, "two labels"),
        ("(a(b))r;", 1, "comma is missing"),
        ("(a,b)r,c;", 1, "comma outside"),
        ("(a,'b)r;", 1, "quote is not closed"),
        ("(a,[b)r;", 1, "comment is not closed"),
        ("(a,b]r;", 1, "does not belong here"),
        ("(a,\n(a)b)r;", 2, "'a' occurs twice, first in line 1"),
        ("(b)r;", None, "1 of the matrix's 2 mutations are missing: 'a'"),
        ("(a,b,\nc)r;", 2, "not among the matrix's 2 mutations: 'c'"),
        ("(b)a;", None, "the mutation 'a' is the root"),
        (";", 1, "there is no tree"),
        ("a;", None, "there is no tree"),
    ],
)
def test_newick_refused(text: str, line: int | None, words: str) -> None:
    with pytest.raises(TreeError) as caught:
        from_newick(text, AB, "t.newick")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.line) == ("t.newick", line)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("digraph {\nr -> a;\n}", None, "missing: 'b'"),
        ("digraph {\nr -> a;\nr -> b;\na -> c;\n}", 4, "not among the matrix's 2 mutations: 'c'"),
        ("digraph {\nr -> a;\nr -> b;\na -> b;\n}", 4, "'b' has two parents: 'r' in line 3 and 'a'"),
        ("digraph {\nr -> a;\nq -> b;\n}", None, "several roots: 'r', 'q'"),
        ("digraph {\na -> b;\nb -> a;\n}", 3, "cycle"),
        ("digraph {\nr -> q;\na -> b;\nb -> a;\n}", 4, "form a cycle: 'a' -> 'b' -> 'a'"),
        ("digraph {\na -> a;\n}", 2, "cycle: 'a' -> 'a'"),
        ("digraph {\na -> b;\n}", None, "the mutation 'a' is the root"),
        ("digraph {\n}", None, "no edges"),
        ("graph {\nr -- a;\nr -- b;\n}", 2, "without direction"),
        ("digraph {\nr -> ;\n}", 2, "without a second node"),
        ("digraph {\nr a -> b;\n}", 2, "'a' does not belong here"),
        ('digraph {\nr -> "a;\n}', 2, "quote is not closed"),
        ("digraph {\nr -> a [x\n}", 2, "attributes are not closed"),
    ],
)
def test_graphviz_refused(text: str, line: int | None, words: str) -> None:
    with pytest.raises(TreeError) as caught:
        from_graphviz(text, AB, "t.gv")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.line) == ("t.gv", line)


@given(st.text("ab,();'[]:\\ \n", max_size=12), st.text('ab->;{}"[]\\ \n', max_size=12))
def test_any_text_is_read_or_refused(newick: str, graphviz: str) -> None:
    for read, text in ((from_newick, newick), (from_graphviz, "digraph {" + graphviz)):
        with contextlib.suppress(TreeError):
            assert len(read(text, AB)) == 3


# ---- files


def test_the_content_decides_the_format(tmp_path: Path) -> None:
    path = tmp_path / "tree.txt"
    for text in ("\ufeff((a)b)r;\r\n", "// ours\r\ndigraph G {\r\nr -> b -> a;\r\n}\r\n"):
        path.write_bytes(text.encode())
        assert read_tree(path, AB).tolist() == [1, 2, 2]


@pytest.mark.parametrize(("data", "words"), [(b"", "empty"), (b"0 1 3\n", "neither"), (b"(\xff)r;", "UTF-8")])
def test_files_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "tree"
    path.write_bytes(data)
    with pytest.raises(TreeError, match=words) as caught:
        read_tree(path, AB)
    assert caught.value.path == str(path)
    with pytest.raises(TreeError, match="no such file"):
        read_tree(tmp_path / "none", AB)


@pytest.mark.shared
@pytest.mark.parametrize("call", ["ml", "ml-names-attach", "map-samples", "gamma-moves", "zygosity"])
def test_scites_own_files(shared_dir: Path, call: str) -> None:
    folder = shared_dir / "reference" / "scite-cli" / call
    data = re.findall(r"(data\w+)\.csv", (folder / "command.txt").read_text())[0]
    mutations = read_names(shared_dir / "data" / f"{data}.geneNames")
    for file in sorted(folder.glob("*.newick")):
        parents = read_tree(file, mutations)
        numbers = default_names(len(mutations))
        graphviz = file.with_suffix(".gv")
        with_names = mutations[0] in graphviz.read_text()
        np.testing.assert_array_equal(read_tree(graphviz, mutations if with_names else numbers), parents)
        np.testing.assert_array_equal(read_tree(graphviz, mutations), parents)


@pytest.mark.shared
def test_scites_cell_tree_is_refused(shared_dir: Path) -> None:
    file = shared_dir / "reference" / "scite-cli" / "transpose" / "out_ml0.newick"
    with pytest.raises(TreeError, match="are missing"):
        read_tree(file, default_names(35))


def test_many_comments_are_read_in_no_time(tmp_path: Path) -> None:
    """Comments without a graph after them are not GraphViz."""
    file = tmp_path / "tree"
    file.write_text("/**/" * 4000 + "x")
    started = time.process_time()
    with pytest.raises(TreeError):
        read_tree(file, ["a", "b"])
    assert time.process_time() - started < 5
    file.write_text("/** a * b **/ // c\n# d\n/***/" * 50 + "digraph { root -> a; a -> b; }")
    assert read_tree(file, ["a", "b"]).tolist() == [2, 0, 2]


INFSCITE = """digraph g{
node [color=deeppink4, style=filled, fontcolor=white];
0[label="1"];
1[label="2"];
2[label="3"];
3[label="Root"];
1 -> 0;
3 -> 1;
0 -> 2;
node [color=lightgrey, style=filled, fontcolor=black, shape=circle, fixedsize=true];
s_0[label="s_1"];
2 -> s_0;
}
"""


def test_labels_of_infscite_are_the_names() -> None:
    """Numbers of nodes begin with 0 and labels with 1, so only the labels say which mutation is which."""
    assert from_graphviz(INFSCITE, ["1", "2", "3"]).tolist() == [1, 3, 0, 3]


def test_labels_that_do_not_name_all_mutations_are_ignored() -> None:
    text = 'digraph { a [label="A (3 cells)"]; "b" [shape=box, label="B"]; root -> a; a -> b }'
    assert from_graphviz(text, ["a", "b"]).tolist() == [2, 0, 2]
    text = text.replace("A (3 cells)", 'the \\"A\\"')
    assert from_graphviz(text, ['the "A"', "B"]).tolist() == [2, 0, 2]


_BY_ROW = (
    'digraph g{\n0[label="%s"];\n1[label="%s"];\n2[label="%s"];\n3[label="Root"];\n'
    "3 -> 1;\n1 -> 0;\n3 -> 2;\n}\n"
)


@pytest.mark.parametrize(
    ("labels", "mutations"),
    [
        (("1", "2", "3"), ("a", "b", "c")),
        (("1", "2", "2_copy"), ("a", "b", "b_copy")),
        (("1", "2", "3"), ("c", "Root", "1")),
        (("a", "b", "c"), ("1", "2", "3")),
        (("a", "b", "b_copy"), ("1", "2", "2_copy")),
    ],
)
def test_rows_of_infscite_count_where_only_one_side_has_names(
    labels: tuple[str, ...], mutations: tuple[str, ...]
) -> None:
    assert from_graphviz(_BY_ROW % labels, mutations).tolist() == [1, 3, 3, 3]


@pytest.mark.parametrize(
    ("text", "mutations"),
    [
        (_BY_ROW % ("a", "b", "c"), ("x", "y", "z")),
        (_BY_ROW % ("2", "1", "3"), ("x", "y", "z")),
        (_BY_ROW % ("1", "2", "3"), ("x", "y", "z", "x_copy")),
        ((_BY_ROW % ("1", "2", "3")).replace("Root", "root"), ("x", "y", "z")),
    ],
)
def test_rows_do_not_count_where_names_differ(text: str, mutations: tuple[str, ...]) -> None:
    with pytest.raises(TreeError, match="not among the matrix's"):
        from_graphviz(text, mutations)
