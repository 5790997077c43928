"""GraphViz files of mutation trees.

Edges are read by a small scanner instead of a DOT library. SCITE writes names without quotes, so its files
are not valid DOT when a name has a hyphen or a dot (``BDNF-AS``), and strict parsers reject them. Attributes
are ignored, and so are the cells that SCITE attaches with ``-a``. But if nodes have labels that name all
mutations, as in the files of ∞SCITE, the labels count instead of the names of the nodes. ∞SCITE names nodes
by the rows of the matrix, from 0, and labels them with numbers from 1 if it has no names: then rows count.

The language: https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.labelled import CELL, LabelledEdge, parents_from_edges
from syclade.host.data.trees.tree import node_labels, preorder
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import excerpt

__all__ = ["from_graphviz", "graphviz_edges", "quoted", "to_graphviz"]

_HEAD = "digraph mutation_tree {\n    node [shape=box, style=rounded];\n"
_CELLS = "    node [shape=box, style=filled, color=lightgrey];\n"
# Names may contain hyphens and dots (SCITE's do), but they end before an arrow.
_LABEL = re.compile(r'[\[,;\s]label\s*=\s*"((?:[^"\\]|\\(?s:.))*)"')
_TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+) | (?P<comment>//[^\n]*|/\*(?s:.*?)\*/|^\#[^\n]*)
    | (?P<attributes>\[(?:[^\]"]|"(?:[^"\\]|\\(?s:.))*")*\]) | (?P<arrow>->|--) | (?P<end>[;\n{}])
    | (?P<quoted>"(?:[^"\\]|\\(?s:.))*") | (?P<plain>(?:(?!->|--)[^\s;{}"\[\]])+)""",
    re.VERBOSE | re.MULTILINE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def to_graphviz(
    parents: NDArray[np.int32],
    mutations: Sequence[str],
    attached: Sequence[Sequence[str]] | None = None,
    support: Sequence[float] | None = None,
) -> str:
    """Return a tree as a GraphViz digraph, with all names in quotes.

    Args:
        parents: a valid parent vector, int32, shape (n + 1,).
        mutations: the n names. The root gets ``root_label``.
        attached: for each of the n + 1 nodes, the names of the cells attached to it, drawn as grey boxes;
            None for no cells.
        support: for each of the n mutations, the probability of the edge to it, written as its label, if it
            is not NaN; None for no labels.
    """
    labels = [quoted(label) for label in node_labels(mutations)]
    shares = [math.nan] * len(mutations) if support is None else support
    notes = ["" if math.isnan(share) else f' [label="{share:.2f}"]' for share in shares]
    edges = [
        f"    {labels[parents[node]]} -> {labels[node]}{notes[node]};\n"
        for node in preorder(parents).tolist()[1:]
    ]
    boxes = [
        f"    {labels[node]} -> {quoted(cell)};\n"
        for node, all_of_it in enumerate(attached or ())
        for cell in all_of_it
    ]
    if boxes:
        boxes.insert(0, _CELLS)
    return _HEAD + "".join(edges + boxes) + "}\n"


def from_graphviz(
    text: str, mutations: Sequence[str], path: str | os.PathLike[str] | None = None
) -> NDArray[np.int32]:
    """Parse a tree from a GraphViz digraph: ours or SCITE's.

    Args:
        text: lines ``parent -> child;``. Attached cells are left out. A child counts as a cell if at least
            two of these hold: its name is ``s0``, ``s1``, … as in SCITE's files; it comes after the statement
            that makes nodes grey; no mutation has its name.
        mutations: the n names of the mutations, in the order of the matrix.
        path: the file, for messages.

    Returns:
        Parent vector, int32, shape (n + 1,).

    Raises:
        TreeError: the text is not a digraph, has no edges, or ``parents_from_edges`` rejects it.
    """
    return parents_from_edges(graphviz_edges(text, mutations, path), mutations, path)


def graphviz_edges(
    text: str, mutations: Sequence[str], path: str | os.PathLike[str] | None = None
) -> list[LabelledEdge]:
    """Return the edges of a tree in a GraphViz digraph, without those to cells; see `from_graphviz`.

    Raises:
        TreeError: the text is not a digraph, or has no edges.
    """
    names = frozenset(mutations)
    edges: list[LabelledEdge] = []
    among_cells = False
    statements = list(_statements(text, path))
    labels = _labels(statements)
    if not names <= set(labels.values()):
        labels = _by_row(labels, mutations)
    for statement in statements:
        if _sets_colour_of_cells(statement):
            # The colour changes before the cells are listed. So a mutation may also have the name s1.
            among_cells = True
        if not any(token.kind == "arrow" for token in statement):
            continue
        for one in _edges(statement, path):
            edge = LabelledEdge(
                labels.get(one.parent, one.parent), labels.get(one.child, one.child), one.line
            )
            # A cell has two of three signs: its name, its position, and that no mutation has its name.
            signs = bool(CELL.fullmatch(edge.child)) + among_cells + (edge.child not in names)
            if signs < 2:
                edges.append(edge)
    if not edges:
        raise TreeError("there are no edges", path=path, hint="write them as: parent -> child;")
    return edges


def _sets_colour_of_cells(statement: list[_Token]) -> bool:
    """Return whether this is ``node [... lightgrey ...]``.

    Mutations can have the names ``"node"`` and ``"lightgrey"``, so the kinds of tokens are checked as well.
    """
    kinds = [token.kind for token in statement]
    return (
        kinds == ["plain", "attributes"] and statement[0].text == "node" and "lightgrey" in statement[1].text
    )


def _labels(statements: list[list[_Token]]) -> dict[str, str]:
    """Return the labels of nodes that have one: statements ``node [label="..."]``."""
    labels = {}
    for statement in statements:
        if len(statement) != 2 or statement[1].kind != "attributes":
            continue
        name, attributes = statement
        found = _LABEL.search(attributes.text)
        if found and not (name.kind == "plain" and name.text in ("node", "edge", "graph")):
            labels[name.text] = _unescaped(found[1])
    return labels


def _by_row(labels: Mapping[str, str], mutations: Sequence[str]) -> dict[str, str]:
    """Return the labels of ∞SCITE's nodes, whose names are rows from 0, where it or we know no other names.

    Its own labels are then numbers from 1, and may differ from the mutations' names. Empty for other files.
    """
    root = len(mutations)
    rows = [labels.get(str(row), "") for row in range(root)]
    if labels.get(str(root)) != "Root" or not (_are_numbers(rows) or _are_numbers(mutations)):
        return {}
    return {str(node): label for node, label in enumerate(node_labels(mutations))}


def _are_numbers(labels: Sequence[str]) -> bool:
    """Return whether labels are the numbers from 1; the last one may be the copy of a mutation."""
    numbers = default_names(len(labels))
    copy = bool(labels) and labels[-1] in {f"{number}_copy" for number in numbers[:-1]}
    return tuple(labels[:-1]) == numbers[:-1] and (copy or tuple(labels[-1:]) == numbers[-1:])


def _edges(statement: list[_Token], path: str | os.PathLike[str] | None) -> Iterator[LabelledEdge]:
    """Yield the edges of ``a -> b -> c [attributes]``."""
    nodes: list[str] = []
    after_arrow = True
    for token in (token for token in statement if token.kind != "attributes"):
        if token.text == "--" and token.kind == "arrow":
            _refuse("an edge without direction", token, path, hint="write edges as: parent -> child;")
        if after_arrow == (token.kind == "arrow"):
            _refuse(f"{excerpt(token.text)} does not belong here", token, path)
        after_arrow = token.kind == "arrow"
        if not after_arrow:
            if nodes:
                yield LabelledEdge(nodes[-1], token.text, token.line)
            nodes.append(token.text)
    if after_arrow:
        _refuse("an edge without a second node", statement[-1], path)


def _statements(text: str, path: str | os.PathLike[str] | None) -> Iterator[list[_Token]]:
    """Yield the statements inside the braces, which end with a semicolon, an attribute list or their line."""
    statement: list[_Token] = []
    for token in _tokens(text, path):
        if token.kind == "end" and token.text == "\n":
            continue
        if statement and (token.kind == "end" or _begins(token, statement[-1])):
            yield statement
            statement = []
        if token.kind != "end":
            statement.append(token)
    if statement:
        yield statement


def _begins(token: _Token, last: _Token) -> bool:
    """Return whether a statement begins with this token although there is no semicolon before it."""
    if "arrow" in (token.kind, last.kind) or token.kind == "attributes":
        return False
    return token.line > last.line or last.kind == "attributes"


def _tokens(text: str, path: str | os.PathLike[str] | None) -> Iterator[_Token]:
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            what = {'"': "a quote is not closed", "[": "attributes are not closed"}
            bad = text[position]
            _refuse(what.get(bad, f"{bad!r} does not belong here"), _Token("end", bad, line), path)
        kind, piece, position = str(match.lastgroup), match.group(), match.end()
        if kind == "quoted":
            yield _Token(kind, _unescaped(piece[1:-1]), line)
        elif kind not in ("space", "comment"):
            yield _Token(kind, piece, line)
        line += piece.count("\n")


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\"\\])", r"\1", text)


def quoted(label: str) -> str:
    """Return the label in quotes, which keywords and labels with special characters need."""
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _refuse(
    problem: str, token: _Token, path: str | os.PathLike[str] | None, hint: str | None = None
) -> NoReturn:
    raise TreeError(f"not a GraphViz digraph: {problem}", path=path, line=token.line, hint=hint)
