"""Consensus of trees: how frequent each edge and each ancestor relation is, as a table and as a graph."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.graphviz import quoted
from syclade.host.data.trees.tree import ancestor_matrix, node_labels
from syclade.host.ground.values import short_repr

__all__ = ["Consensus", "consensus_of"]


@dataclass(frozen=True, eq=False)
class Consensus:
    """Shares of trees that have an edge or an ancestor relation.

    Attributes:
        trees: number of trees.
        edges: float64, shape (n + 1, n): share of trees in which the row's node is the column's parent.
        ancestors: float64, shape (n, n): share of trees in which the row's mutation is a proper ancestor of
            the column's.
    """

    trees: int
    edges: NDArray[np.float64]
    ancestors: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def of_edges(self, parents: NDArray[np.int32], nodes: Sequence[int]) -> list[float]:
        """Return the share of trees that have the edge to each of some nodes of a tree.

        Args:
            parents: int32, shape (n + 1,): the tree.
            nodes: mutations.
        """
        return [float(self.edges[parents[node], node]) for node in nodes]

    def to_table(self, mutations: Sequence[str]) -> str:
        """Return a tab-separated table with the columns relation, upper, lower and share.

        Edges come first, then ancestor relations; both are sorted by falling share.

        Args:
            mutations: the n names.
        """
        labels = node_labels(mutations)
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t", lineterminator="\n")
        table.writerow(("relation", "upper", "lower", "share"))
        for relation, shares in (("parent", self.edges), ("ancestor", self.ancestors)):
            places = np.argwhere(shares > 0)
            order = np.argsort(-shares[tuple(places.T)], kind="stable")
            for upper, lower in places[order].tolist():
                table.writerow((relation, labels[upper], labels[lower], f"{shares[upper, lower]:.6g}"))
        return text.getvalue()

    def to_graphviz(self, mutations: Sequence[str], least: float = 0.0) -> str:
        """Return a digraph of all edges with a share above `least`; rarer edges are lighter."""
        labels = node_labels(mutations)
        lines = ["digraph consensus {\n    node [shape=box, style=rounded];\n"]
        for upper, lower in np.argwhere(self.edges > least).tolist():
            share = float(self.edges[upper, lower])
            shade = f"gray{round(80 * (1 - share))}"
            ends = f"{quoted(labels[upper])} -> {quoted(labels[lower])}"
            lines.append(f'    {ends} [label="{share:.0%}", color={shade}];\n')
        return "".join(lines) + "}\n"


def consensus_of(trees: NDArray[np.int32]) -> Consensus:
    """Compute the shares of trees that have each edge and each ancestor relation.

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
    """
    count, n = len(trees), trees.shape[1] - 1
    edges, above = np.zeros((n + 1, n)), np.zeros((n, n))
    mutations = np.arange(n)
    for tree in trees:
        edges[tree[:n], mutations] += 1
        above += ancestor_matrix(tree)[:n, :n]
    np.fill_diagonal(above, 0)
    return Consensus(count, edges / count, above / count)
