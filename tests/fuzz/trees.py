"""Tree files and parent vectors: an accepted input is a tree of the matrix."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from syclade.host.data.model.simulate import random_parents
from syclade.host.data.trees.comparison import compare_cell_trees, compare_trees
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.named import read_cell_trees, read_named_trees
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import validate_parents
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import TreeError
from tests.fuzz.damage import damaged, soup

__all__ = ["Trees"]

NAMES = (
    ("1", "2", "3", "4", "5"),
    ("TP53", "it's", 'say "x"', "a b", "s1"),
    ("node", "lightgrey", "s0", "BDNF-AS", "5"),
)
SCITE = (
    b"((1,4)2,(5)3)6\n",
    b"digraph G {\nnode [color=deeppink4, style=filled, fontcolor=white];\n2 -> 1;\n6 -> 2;\n2 -> 4;\n"
    b"6 -> 3;\n3 -> 5;\nnode [color=lightgrey, style=filled, fontcolor=black];\n1 -> s0;\n6 -> s1;\n}\n",
)
PIECES = (
    b"(", b")", b",", b";", b"1", b"2", b"3", b"4", b"5", b"6", b"'", b'"', b"[", b"]", b":", b"0.5", b" ",
    b"\n", b"digraph G {", b"}", b"->", b"->", b"--", b"node", b"graph ", b"/*", b"*/", b"//", b"#", b"\\",
    b"=", b"lightgrey",
    b"strict ", b"-1.5\t", b"s1", b"tree ", b"translate ", b"subgraph", b"\xff", b"\xc2\xa0",
)  # fmt: skip


class Trees:
    """Inputs of this kind: (bytes, names) for a file, a list for a parent vector."""

    name = "trees"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "tree"

    def make(self, draw: Random) -> Any:
        """Return a damaged file (ours or SCITE's), pieces in random order, or a possible parent vector."""
        way = draw.randrange(10)
        if way == 0:
            return [draw.choice((*range(-1, 8), 2**40)) for _ in range(draw.randint(0, 7))]
        names = draw.choice(NAMES)
        if way < 3:
            return draw.choice(
                (b"", b"(", b"digraph {", b"-1.5\t", b"#NEXUS\nbegin trees;\ntree a = (")
            ) + soup(PIECES, draw), names
        if way < 5:
            return damaged(draw.choice(SCITE), draw), NAMES[0]
        parents = random_parents(len(names), np.random.default_rng(draw.randrange(2**32)))
        return damaged(draw.choice((to_newick, to_graphviz))(parents, names).encode(), draw), names

    def take(self, given: Any) -> None:
        """Read the input, and check that the result is a tree."""
        if isinstance(given, list):
            validate_parents(given)
            return
        data, names = given
        self._file.write_bytes(data)
        with contextlib.suppress(TreeError):  # any program's trees, by names
            for tree in read_named_trees(self._file):
                validate_parents(tree.parents)
                assert len(set(tree.names)) == len(tree.names) == len(tree.node)
                assert not tree.names or compare_trees([tree], tree)[0].distances.clades.distance == 0
        with contextlib.suppress(TreeError):
            for cells in read_cell_trees(self._file):
                assert compare_cell_trees([cells], cells)[0].splits.distance == 0
        parents = read_tree(self._file, names)
        assert parents.dtype == np.int32
        assert parents.shape == (len(names) + 1,)
        validate_parents(parents)
