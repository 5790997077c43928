"""Reader of tree files in Newick, NEXUS or GraphViz format, and files of cell trees."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.source import read_text
from syclade.host.data.trees.cells import canonical, default_cell_names, validate_leaf_parents
from syclade.host.data.trees.graphviz import from_graphviz, quoted
from syclade.host.data.trees.labelled import LabelledEdge
from syclade.host.data.trees.newick import from_newick, newick_edges, newick_of, pieces_of
from syclade.host.data.trees.tree import children, preorder, validate_parents
from syclade.host.ground.errors import TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = [
    "is_graphviz",
    "is_samples",
    "leaf_labels",
    "leaf_newick",
    "leaf_parents_from_newick",
    "read_leaf_tree",
    "read_tree",
    "to_leaf_graphviz",
    "to_leaf_newick",
    "tree_of",
    "tree_text",
]


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


def read_leaf_tree(
    path: str | os.PathLike[str], cells: Sequence[str] | None, count: int
) -> NDArray[np.int32]:
    """Read a cell tree from a file; see `leaf_parents_from_newick`."""
    return leaf_parents_from_newick(read_text(path, TreeError), cells, count, path)


def leaf_parents_from_newick(
    text: str, cells: Sequence[str] | None, count: int, path: str | os.PathLike[str] | None = None
) -> NDArray[np.int32]:
    """Parse a cell tree from text.

    Args:
        text: a binary tree; all leaves need labels; labels of internal nodes are ignored.
        cells: names of the cells in the matrix's order; None if they have no names. Then the leaves are
            s0, s1, …, or all are numbers 1, 2, … as in SCITE's files.
        count: number of cells.
        path: the file, for messages.

    Returns:
        Canonical parent vector, int32, shape (2 * count - 1,).

    Raises:
        TreeError: the text is not Newick, not a binary tree, or not a tree of these cells.
    """
    edges = newick_edges(text, path, joints=True)
    joints = {edge.parent for edge in edges}
    leaves = [edge for edge in edges if edge.child not in joints]
    number = _numbers(leaves, cells, count)
    unknown = next((edge for edge in leaves if edge.child not in number), None)
    if unknown is not None:
        raise TreeError(
            f"the leaf {excerpt(unknown.child)} is not a cell of the matrix",
            path=path,
            line=unknown.line,
            hint=f"in a cell tree all leaves are cells ({flag_of('cell_names')})",
        )
    if len(leaves) != count:
        found = {edge.child for edge in leaves}
        missing = next((name for name in number if name not in found), "")
        raise TreeError(f"the cell {excerpt(missing)} is not a leaf of the tree", path=path)
    # The root is the only internal node without a parent; it gets the last number.
    below = {edge.child for edge in edges}
    ordered = sorted(joints, key=lambda label: (label not in below, label))
    place = {**number, **{label: count + at for at, label in enumerate(ordered)}}
    if len(place) != 2 * count - 1:
        raise TreeError(
            f"{len(joints)} internal nodes for {count} cells",
            path=path,
            hint=f"a binary tree has {count - 1}: resolve nodes with more than two children",
        )
    parents = np.arange(2 * count - 1, dtype=np.int32)
    for edge in edges:
        parents[place[edge.child]] = place[edge.parent]
    try:
        return canonical(validate_leaf_parents(parents))
    except TreeError as error:
        raise TreeError(error.message, path=path, hint=error.hint) from None


def _numbers(leaves: Sequence[LabelledEdge], cells: Sequence[str] | None, count: int) -> dict[str, int]:
    """Return the number of each cell, by its label in the tree."""
    names = default_cell_names(count) if cells is None else tuple(cells)
    of_scite = [str(number) for number in range(1, count + 1)]
    if cells is None and {edge.child for edge in leaves} <= set(of_scite):
        names = tuple(of_scite)
    return {name: number for number, name in enumerate(names)}


def leaf_labels(cells: Sequence[str]) -> list[str]:
    """Return the labels of the nodes 0 to 2m-2: the names of the cells, then joint1, joint2, ….

    If a cell's name begins with the prefix ``joint``, underscores are added to the prefix.
    """
    prefix = "joint"
    while any(name.startswith(prefix) for name in cells):
        prefix += "_"
    return [*cells, *(f"{prefix}{number}" for number in range(1, len(cells)))]


def to_leaf_newick(parents: NDArray[np.int32], cells: Sequence[str]) -> str:
    """Return the tree in Newick format with all nodes labelled; the last internal node is the root."""
    return newick_of(children(parents), leaf_labels(cells))


def to_leaf_graphviz(
    parents: NDArray[np.int32], cells: Sequence[str], mutations: Sequence[str], node: NDArray[np.int32]
) -> str:
    """Return the tree as a GraphViz digraph: cells are grey boxes, edges are labelled with their mutations.

    Args:
        parents: a valid cell tree, int32, shape (2m - 1,).
        cells: the m names of the leaves.
        mutations: the n names of the mutations.
        node: int32, shape (n,): the node below each mutation's edge.
    """
    labels = leaf_labels(cells)
    on_edge: list[list[str]] = [[] for _ in labels]
    for name, below in zip(mutations, node.tolist(), strict=True):
        on_edge[below].append(name)
    order = preorder(parents).tolist()
    above = "top"
    while above in labels:
        above += "_"
    names = [quoted(label) for label in labels]
    lines = ["digraph cell_tree {", "    edge [arrowhead=none];", "    node [shape=point];"]
    lines += [f"    {quoted(above)};"]
    lines += [f"    {names[one]};" for one in order if one >= len(cells)]
    lines += ["    node [shape=box, style=filled, color=lightgrey];"]
    lines += [f"    {names[one]};" for one in range(len(cells))]
    for one in order:
        upper = quoted(above) if one == order[0] else names[parents[one]]
        shown = f" [label={_lines(on_edge[one])}]" if on_edge[one] else ""
        lines.append(f"    {upper} -> {names[one]}{shown};")
    return "\n".join(lines) + "\n}\n"


def _lines(names: Sequence[str]) -> str:
    """Return a quoted label with one name per line."""
    return '"' + "\\n".join(quoted(name)[1:-1] for name in names) + '"'


def leaf_newick(parents: NDArray[np.int32], labels: Sequence[str]) -> str:
    """Return the tree in Newick format with cells as leaves; internal nodes have no names.

    The child with the lowest cell comes first.

    Args:
        parents: a valid cell tree of m cells, int32, shape (2m - 1,).
        labels: labels of the cells, quoted for Newick.
    """
    nodes = len(parents)
    upper = parents.tolist()
    open_children = [0] * len(labels) + [2] * (nodes - len(labels))
    texts: list[tuple[int, str] | None] = [(cell, label) for cell, label in enumerate(labels)]
    texts += [None] * (nodes - len(labels))
    for cell in range(len(labels)):
        at = cell
        while at != nodes - 1:  # climb while both children are complete
            above, own = upper[at], texts[at]
            open_children[above] -= 1
            if open_children[above]:
                texts[above] = own
                break
            first, second = sorted((texts[above], own))
            assert first is not None
            assert second is not None
            texts[above] = first[0], f"({first[1]},{second[1]})"
            at = above
    whole = texts[-1]
    assert whole is not None
    return f"{whole[1]};"
