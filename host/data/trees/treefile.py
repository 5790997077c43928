"""Reader of tree files in Newick, NEXUS or GraphViz format."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.textfile import read_text
from syclade.host.data.trees.graphviz import from_graphviz
from syclade.host.data.trees.newick import from_newick, pieces_of
from syclade.host.data.trees.tree import validate_parents
from syclade.host.ground.errors import TreeError

__all__ = ["is_graphviz", "is_samples", "read_tree", "tree_of", "tree_text"]

# There is only one way to match the end of a comment; with two, backtracking over many comments never ends.
_COMMENT = r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_GRAPHVIZ = re.compile(rf"(?:\s|//[^\n]*\n|{_COMMENT}|\#[^\n]*\n)*(?:strict\s+)?(?:di)?graph\b")

_SAMPLES = re.compile(r"\s*-?\d+(\.\d+)?(e[-+]?\d+)?\t")


def read_tree(
    path: str | os.PathLike[str], mutations: Sequence[str], cells: Collection[str] = ()
) -> NDArray[np.int32]:
    """Read a mutation tree in Newick or GraphViz format; the content determines the format.

    Args:
        path: the file: ours or SCITE's.
        mutations: the n names of the mutations, in the order of the matrix.
        cells: names of cells that may be attached to a Newick tree, in addition to s0, s1, …; they are left
            out.

    Returns:
        Parent vector, int32, shape (n + 1,).

    Raises:
        TreeError: the file is not a tree of these mutations. The error has the file, the line if known, and
            the names concerned.
    """
    text = tree_text(path)
    if is_graphviz(text):
        return from_graphviz(text, mutations, path)
    return from_newick(text, mutations, path, cells)


def tree_of(tree: Any, mutations: Sequence[str], cells: Collection[str] = ()) -> NDArray[np.int32]:
    """Return the parent vector, int32, shape (n + 1,), of a tree file or a parent vector.

    Args:
        tree: a file or a parent vector.
        mutations, cells: as for `read_tree`.

    Raises:
        TreeError: the tree is invalid, or has other mutations.
    """
    if isinstance(tree, (str, os.PathLike)):
        return read_tree(tree, mutations, cells)
    parents = validate_parents(tree)
    if len(parents) != len(mutations) + 1:
        raise TreeError(
            f"the tree has {len(parents) - 1} mutations, and the matrix {len(mutations)}",
            hint="a parent vector has a number for each mutation and one for the root",
        )
    return parents


def is_graphviz(text: str) -> bool:
    """Return whether a text begins like a GraphViz graph."""
    return bool(_GRAPHVIZ.match(text))


def is_samples(text: str) -> bool:
    """Return whether a text begins like SCITE's samples: a score, and more columns between tabs."""
    return bool(_SAMPLES.match(text))


def tree_text(path: str | os.PathLike[str], *, samples: bool = False) -> str:
    """Return the text of a file; check that it begins like a tree. The trees of NEXUS come as Newick.

    Args:
        path: the file.
        samples: whether it may have samples.
    """
    text = read_text(path, TreeError)
    if not text.strip():
        raise TreeError("the file is empty", path=path)
    if samples and is_samples(text):
        return text
    if text.lstrip()[:6].upper() == "#NEXUS":
        text = _newick_of_nexus(text, path)
        if not text.strip():
            raise TreeError("there is no tree in the NEXUS file", path=path)
    if not is_graphviz(text) and not text.lstrip().startswith(("(", "[")):
        raise TreeError(
            "neither a Newick tree, which begins with '(', nor a GraphViz digraph", path=path, line=1
        )
    return text


def _newick_of_nexus(text: str, path: str | os.PathLike[str]) -> str:
    """Return the trees of a NEXUS file in Newick format, in the same lines, with translated labels."""
    found: list[str] = []
    statement: list[re.Match[str]] = []
    names: dict[str, str] = {}
    for piece in pieces_of(text, path):
        statement.append(piece)
        if piece.group() == ";":
            found.append(_newick_of_statement(statement, names))
            statement = []
    return "".join(found)


def _newick_of_statement(statement: list[re.Match[str]], names: dict[str, str]) -> str:
    """Return the tree of a statement of NEXUS, or line ends alone; keep the names of a table of labels."""
    labels = [piece.group() for piece in statement if piece.lastgroup in ("plain", "quoted")]
    word, tree = labels[0].lower() if labels else "", len(statement)
    if word == "translate":
        names.update(zip(labels[1::2], labels[2::2], strict=False))
    if word in ("tree", "utree"):
        tree = next((at for at, piece in enumerate(statement) if piece.group() == "("), tree)
    before = "".join(piece.group() for piece in statement[:tree])
    return "\n" * before.count("\n") + "".join(
        names.get(piece.group(), piece.group()) if piece.lastgroup in ("plain", "quoted") else piece.group()
        for piece in statement[tree:]
    )
