"""Files of cell-leaf trees: Newick with the cells as leaves, GraphViz with mutations on edges, placements."""

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
"""The mutation's row in the matrix, from 1, and its name; the node below its edge, as the tree's files call
it, and how many cells are below; how many edges are equally good, that one included; the log-likelihood of
the row (natural log)."""


def leaf_labels(cells: Sequence[str]) -> list[str]:
    """The labels of the nodes 0 to 2m-2: the names of the cells, then joint1, joint2, … that no cell has."""
    joint = "joint"
    while any(name.startswith(joint) for name in cells):
        joint += "_"
    return [*cells, *(f"{joint}{number}" for number in range(1, len(cells)))]


def to_leaf_newick(parents: NDArray[np.int32], cells: Sequence[str]) -> str:
    """The tree in Newick format, every node labelled; the last joint is the root."""
    return newick_of(children(parents), leaf_labels(cells))


def to_leaf_graphviz(
    parents: NDArray[np.int32], cells: Sequence[str], mutations: Sequence[str], node: NDArray[np.int32]
) -> str:
    """The tree as a GraphViz digraph: cells are grey boxes, and edges have the mutations that sit on them.

    Args:
        parents: a valid cell-leaf tree.
        cells: names of the leaves.
        mutations: names.
        node: of every mutation, the node below its edge.
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
    """Names below each other."""
    return '"' + "\\n".join(quoted(name)[1:-1] for name in names) + '"'


def format_placements(
    placements: Placements, below: NDArray[np.bool_], mutations: Sequence[str], cells: Sequence[str]
) -> str:
    """The text of ``placements.tsv``: a line with ``COLUMNS``, then the mutations in the matrix's order.

    Args:
        placements: of every mutation.
        below: (2m - 1, m) bool: the cells below each node.
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
