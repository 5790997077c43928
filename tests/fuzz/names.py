"""Names of mutations: accepted names survive a round trip through every format."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.input.names import read_names
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import node_labels
from syclade.host.data.trees.treefile import read_tree
from syclade.host.findings.kinds.mutation_trees import format_attachments
from tests.fuzz.damage import damaged, soup

__all__ = ["Names"]

GOOD = (
    b"TP53\nKRAS\nBDNF-AS\n", b"node\nlightgrey\ns1\ns0\ngraph\n", b"p.R175H het\nit's (x)\nsay \"x\"\n",
    "β-catenin\n漢字\nNaïve é\n".encode(), b"1\n2\n3\n", b"3\n1\n2\n", b"root\nroot_\n[x]\n#y\n//z\n",
)  # fmt: skip
PIECES = (
    b"\n", b"\n", b"a", b"b", b" ", b"'", b'"', b"\\", b"[", b"]", b"->", b";", b"#", b"/*", b"*/", b"//",
    b"s1", b"node", b"{", b"}", b"(", b")", b",", b":", b"=", b"\t", b"\x1f", b"\xc2\x85",
    b"\xe2\x80\xa8", b"1", b"2", b"0 1", b"\xc2\xa0", b"\xe3\x80\x80", b"\xef\xbb\xbf", b"\xe2\x80\x8b",
)  # fmt: skip
OBJECTS: tuple[Any, ...] = (
    "a",
    "b",
    "a b",
    "",
    " ",
    "\ud800",
    "\0",
    None,
    1,
    b"a",
    1.5,
    (),
    ["a"],
    np.str_("c"),
)
MOST = 60
"""Largest number of names with which trees are made; more names would take the same path."""


class Names:
    """Inputs of this kind: bytes for a file, or a list of any objects."""

    name = "names"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "names"
        self._tree = folder / "tree"

    def make(self, draw: Random) -> Any:
        """Return a damaged file, pieces in random order, or a list."""
        way = draw.randrange(10)
        if way == 0:
            return draw.choices(OBJECTS, k=draw.randint(1, 4))
        return soup(PIECES, draw) if way < 5 else damaged(draw.choice(GOOD), draw)

    def take(self, given: Any) -> None:
        """Read the names, write a tree and attachments with them, and read these again."""
        if isinstance(given, bytes):
            self._file.write_bytes(given)
            names = read_names(self._file)
        else:
            names = matrix_from_array([[0]] * len(given), given).mutations
        if len(names) > MOST:
            return
        n = len(names)
        parents = np.array([*range(1, n), n, n], np.int32)
        parents[0] = n
        for text in (to_newick(parents, names), to_graphviz(parents, names)):
            self._tree.write_text(text, encoding="utf-8", newline="\n")
            assert read_tree(self._tree, names).tolist() == parents.tolist(), text
        nodes = np.arange(n + 1, dtype=np.int32)
        table = format_attachments(Assignment(nodes, nodes, nodes / 3), names, (*names, "cell of the root"))
        read = [row["node"] for row in csv.DictReader(io.StringIO(table, newline=""), delimiter="\t")]
        assert read == node_labels(names)
