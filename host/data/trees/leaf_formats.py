"""Formats of cell trees: Newick with the cells as leaves, GraphViz with mutations on the edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.graphviz import quoted
from syclade.host.data.trees.newick import newick_of
from syclade.host.data.trees.tree import children, preorder

__all__ = ["leaf_labels", "leaf_newick", "to_leaf_graphviz", "to_leaf_newick"]


def leaf_labels(cells: Sequence[str]) -> list[str]:
    """Return the labels of the nodes 0 to 2m-2: the names of the cells, then joint1, joint2, ….

    If a cell's name begins with the prefix ``joint``, underscores are added to the prefix.
    """
    joint = "joint"
    while any(name.startswith(joint) for name in cells):
        joint += "_"
    return [*cells, *(f"{joint}{number}" for number in range(1, len(cells)))]


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
        told = f" [label={_lines(on_edge[one])}]" if on_edge[one] else ""
        lines.append(f"    {upper} -> {names[one]}{told};")
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
