"""Files of cell trees: Newick with the cells as leaves, GraphViz with mutations on edges, placements."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.leaf.placement import Placements
from syclade.host.trees.graphviz import quoted
from syclade.host.trees.newick import newick_of
from syclade.host.trees.tree import children, preorder

__all__ = ["COLUMNS", "format_placements", "leaf_labels", "to_leaf_graphviz", "to_leaf_newick"]

COLUMNS = ("mutation", "name", "edge", "cells", "ties", "log_likelihood")
"""Columns of placements.tsv: the mutation's row in the matrix, from 1, and its name; the label of the node
below its edge, and the number of cells below; the number of equally good edges, including this one; the
log-likelihood of the row (natural log)."""


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


def format_placements(
    placements: Placements, below: NDArray[np.bool_], mutations: Sequence[str], cells: Sequence[str]
) -> str:
    """Return the text of ``placements.tsv``: a line with ``COLUMNS``, then one line per mutation.

    The mutations are in the order of the matrix.

    Args:
        placements: placements of all mutations.
        below: bool, shape (2m - 1, m): the cells below each node.
        mutations, cells: names.
    """
    labels = leaf_labels(cells)
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(
        zip(
            range(1, len(mutations) + 1),
            mutations,
            (labels[node] for node in placements.node.tolist()),
            below[placements.node].sum(axis=1).tolist(),
            placements.ties.tolist(),
            placements.log_likelihood.tolist(),
            strict=True,
        )
    )
    return text.getvalue()
