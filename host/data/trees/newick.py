"""Newick files of mutation trees.

Reading and writing are iterative. Mutation trees are often a single long path, and the ``newick`` library
calls itself for each level, so that it reaches Python's recursion limit. It also treats a backslash as an
escape, contrary to the format, and does not report the line of an error.

The format: https://phylipweb.github.io/phylip/newicktree.html. Quotes are doubled inside quotes;
comments in brackets and branch lengths are skipped; underscores stay as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.labelled import LabelledEdge, parents_from_edges, without_cells
from syclade.host.data.trees.tree import children, node_labels
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import counted, excerpt

__all__ = [
    "from_newick",
    "newick_edges",
    "newick_of",
    "newick_texts",
    "pieces_of",
    "quoted_label",
    "to_newick",
]

_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<comment>\[[^\]]*\]) | (?P<mark>[(),;]) | (?P<length>:\s*[^\s()\[\]',:;]+)
    | (?P<quoted>'(?:[^']|'')*') | (?P<plain>[^\s()\[\]',:;]+)""",
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def to_newick(
    parents: NDArray[np.int32],
    mutations: Sequence[str],
    attached: Sequence[Sequence[str]] | None = None,
) -> str:
    """Return a tree in Newick format, ending with a semicolon and a line end.

    Args:
        parents: a valid parent vector, int32, shape (n + 1,).
        mutations: the n names; quoted where the format requires it. The root gets ``root_label``.
        attached: for each of the n + 1 nodes, the names of the cells attached to it, written as leaves before
            the nodes below it; None for no cells.
    """
    below: list[list[int | str]] = [list(nodes) for nodes in children(parents)]
    for node, cells in enumerate(attached or ()):
        below[node] = [*map(quoted_label, cells), *below[node]]
    return newick_of(below, node_labels(mutations))


def newick_of(
    below: Sequence[Sequence[int | str]],
    names: Sequence[str],
    comments: Sequence[str] | None = None,
    *,
    quoted: bool = True,
) -> str:
    """Return any tree in Newick format.

    Args:
        below: children of each node: numbers of nodes, or texts of leaves to write unchanged. The last node
            is the root.
        names: names of the nodes.
        comments: comments behind the names, in brackets; empty for none.
        quoted: whether names that need quotes get them; there must be none otherwise.
    """
    labels = [quoted_label(name) for name in names] if quoted else list(names)
    if comments is not None:
        labels = [label + comment for label, comment in zip(labels, comments, strict=True)]
    pieces: list[str] = []
    # Items still to be written, last first: a node to open, or a text to write unchanged.
    pending: list[int | str] = [";\n", len(below) - 1]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif not below[item]:
            pieces.append(labels[item])
        else:
            pieces.append("(")
            pending.append(")" + labels[item])
            for child in reversed(below[item]):
                pending += [child, ","]
            pending.pop()  # no comma before the first child
    return "".join(pieces)


def from_newick(
    text: str,
    mutations: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    cells: Collection[str] = (),
) -> NDArray[np.int32]:
    """Parse a tree in Newick format: ours, or SCITE's, which has numbers and no semicolon.

    Args:
        text: the tree; every node except the root needs a label. Attached cells are left out.
        mutations: the n names of the mutations, in the order of the matrix.
        cells: names of cells, in addition to s0, s1, ….
        path: the file, for messages.

    Returns:
        Parent vector, int32, shape (n + 1,).

    Raises:
        TreeError: the text is not Newick, has more than one tree, or ``parents_from_edges`` rejects it.
    """
    return parents_from_edges(without_cells(newick_edges(text, path), mutations, cells), mutations, path)


def newick_edges(
    text: str,
    path: str | os.PathLike[str] | None = None,
    *,
    joints: bool = False,
    unnamed: bool = False,
    line: int = 1,
) -> list[LabelledEdge]:
    """Return all edges of a tree in Newick format, including those to cells; see `from_newick`.

    Args:
        text, path: as for `from_newick`.
        joints: whether to ignore the labels of internal nodes and give them unique labels instead. Labels of
            internal nodes may be support values, which may occur twice.
        unnamed: whether internal nodes may lack a label; they get unique labels, which begin with a null
            character.
        line: line of the file in which the text begins, for messages.
    """
    builder = _Builder(path, joints, unnamed)
    for token in _tokens(text, path, line):
        builder.take(token)
    return builder.edges


def newick_texts(text: str, path: str | os.PathLike[str] | None = None) -> list[tuple[int, str]]:
    """Split a text into its Newick trees: the line in which each begins, and its text.

    A tree ends with a semicolon or, as in SCITE's files, with its line.
    """
    found: list[tuple[int, str]] = []
    begin, depth, line, first_line = 0, 0, 1, 0
    for match in pieces_of(text, path):
        kind, piece = str(match.lastgroup), match.group()
        if kind == "mark":
            depth += (piece == "(") - (piece == ")")
        ends = piece == ";" if kind == "mark" else kind == "space" and "\n" in piece and depth == 0
        if kind in ("mark", "plain", "quoted") and not first_line:
            first_line = line
        line += piece.count("\n")
        if ends:
            if first_line:
                found.append((first_line, text[begin : match.end()].strip()))
            begin, first_line, depth = match.end(), 0, 0
    if first_line:
        found.append((first_line, text[begin:].strip()))
    return [(at, piece) for at, piece in found if piece != ";"]


class _Builder:
    """Builder of edges from tokens. A node's label comes after its children, so the children wait for it."""

    def __init__(self, path: str | os.PathLike[str] | None, joints: bool, unnamed: bool) -> None:
        self.edges: list[LabelledEdge] = []
        self._path = path
        self._joints = joints
        self._unnamed = unnamed
        self._label: _Token | None = None
        # The children of the node that is being read, after its parenthesis is closed.
        self._below: list[_Token] | None = None
        # The finished nodes in each open parenthesis; the first list is for the root.
        self._open: list[list[_Token]] = [[]]
        self._seen: dict[str, int] = {}

    def take(self, token: _Token) -> None:
        """Take the next token; the last one is a semicolon."""
        if token.kind == "label":
            if self._label is not None:
                self._refuse(
                    f"two labels for one node: {excerpt(self._label.text)} and {excerpt(token.text)}", token
                )
            self._label = token
        elif token.text == "(":
            if self._label is not None or self._below is not None:
                self._refuse("a comma is missing before '('", token)
            self._open.append([])
        else:
            self._check_end(token)
            self._finish_node(token)
            if token.text == ")":
                self._below = self._open.pop()

    def _check_end(self, token: _Token) -> None:
        """Check that a comma, ``)`` or semicolon is allowed here."""
        depth = len(self._open) - 1
        if token.text == ";" and depth > 0:
            self._refuse(f"{counted(depth, 'parenthesis is', 'parentheses are')} not closed", token)
        if token.text == ")" and depth == 0:
            self._refuse("')' without '('", token)
        if token.text == "," and depth == 0:
            self._refuse("a comma outside all parentheses", token)

    def _finish_node(self, end: _Token) -> None:
        """Finish the node that is being read. Only the root and ignored internal nodes may lack a label."""
        node = self._label
        if self._below is not None and (self._joints or (self._unnamed and node is None)):
            node = _Token("label", f"\0{len(self._seen)}", end.line)  # a label that no file has
        if node is None:
            if end.text != ";" or self._below is None:
                self._refuse("there is no tree" if end.text == ";" else "a node without a label", end)
            node = _Token("label", "", end.line)
        if node.text in self._seen:
            raise TreeError(
                f"{excerpt(node.text)} occurs twice, first in line {self._seen[node.text]}",
                path=self._path,
                line=node.line,
                hint="in a mutation tree every mutation occurs once",
            )
        self._seen[node.text] = node.line
        self._open[-1].append(node)
        self.edges += [LabelledEdge(node.text, child.text, child.line) for child in self._below or ()]
        self._label = self._below = None

    def _refuse(self, problem: str, token: _Token) -> NoReturn:
        _refuse(problem, token, self._path)


def pieces_of(text: str, path: str | os.PathLike[str] | None, line: int = 1) -> Iterator[re.Match[str]]:
    """Yield all pieces of the text: labels, marks, lengths, spaces and comments, with the kind as last
    group."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            what = {"'": "a quote is not closed", "[": "a comment is not closed"}
            bad, line = text[position], line + text.count("\n", 0, position)
            _refuse(what.get(bad, f"{bad!r} does not belong here"), _Token("mark", bad, line), path)
        position = match.end()
        yield match


def _tokens(text: str, path: str | os.PathLike[str] | None, line: int = 1) -> Iterator[_Token]:
    """Yield labels and marks up to the semicolon, which is added if it is missing."""
    ended = False
    for match in pieces_of(text, path, line):
        kind, piece = str(match.lastgroup), match.group()
        if kind in ("mark", "quoted", "plain"):
            if ended:
                _refuse("there is more after the end of the tree", _Token(kind, piece, line), path)
            ended = piece == ";" and kind == "mark"
            yield _Token("mark" if kind == "mark" else "label", _label(kind, piece), line)
        line += piece.count("\n")
    if not ended:
        yield _Token("mark", ";", line)


def _label(kind: str, piece: str) -> str:
    return piece[1:-1].replace("''", "'") if kind == "quoted" else piece


def quoted_label(label: str) -> str:
    """Return the label, in quotes unless it consists of letters, digits and the characters ``_.+-``."""
    return label if re.fullmatch(r"[\w.+-]+", label) else "'" + label.replace("'", "''") + "'"


def _refuse(problem: str, token: _Token, path: str | os.PathLike[str] | None) -> NoReturn:
    raise TreeError(f"not a tree in Newick format: {problem}", path=path, line=token.line)
