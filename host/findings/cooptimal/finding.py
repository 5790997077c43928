"""Co-optimal trees as a finding: each tree in both formats, and how frequent each edge and relation is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.graphviz import quoted, to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import ancestor_matrix, node_labels
from syclade.host.findings.finding import CloneShares, Finding, Question, Section, cut, made_by_stage
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import JsonObject, short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.cooptimal.plateau import CoOptimal
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = [
    "CO_OPTIMAL",
    "CoOptimalFinding",
    "Consensus",
    "consensus_of",
    "files_of",
]


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
        rows = []
        for relation, shares in (("parent", self.edges), ("ancestor", self.ancestors)):
            places = np.argwhere(shares > 0)
            order = np.argsort(-shares[tuple(places.T)], kind="stable")
            for upper, lower in places[order].tolist():
                rows.append((relation, labels[upper], labels[lower], f"{shares[upper, lower]:.6g}"))
        return tsv_text(("relation", "upper", "lower", "share"), rows)

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


@dataclass(frozen=True, eq=False, repr=False)
class CoOptimalFinding(Finding):
    """Trees that are as likely as the best one.

    Attributes:
        found: these trees.
        mutations: names of the mutations.
    """

    name = "co_optimal"
    found: CoOptimal
    mutations: tuple[str, ...]

    def files(self) -> dict[str, Content]:
        """Return each tree in both formats, and how frequent each edge and relation is."""
        return {**files_of(self.found, self.mutations)}

    def summary(self) -> JsonObject:
        """Return their number, and whether these are all."""
        return {"co_optimal": {"trees": len(self.found.trees), "complete": self.found.complete}}

    @property
    def lines(self) -> list[str]:
        """Their number."""
        return [self._words]

    @property
    def _words(self) -> str:
        have = "tree has" if self.found.counted == "1" else "trees have"
        return f"{self.found.counted} {have} this log-likelihood"

    def clone_shares(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> CloneShares | None:
        """Return the share of these trees that have the edge to each clone, if there are several."""
        if len(self.found.trees) == 1:
            return None
        shared = consensus_of(self.found.trees)
        shares = shared.of_edges(parents, [clone.node for clone in clones[1:]])
        return CloneShares([None, *shares], f"{shared.trees} equal trees")

    def section(self) -> Section:
        """Return the edges that are not in all of them."""
        words = f"{self._words}; co_optimal.tsv has what they share."
        if len(self.found.trees) == 1:
            return Section("Trees that are as likely", (words,))
        shares, labels = consensus_of(self.found.trees).edges, node_labels(self.mutations)
        unsure = [(upper, lower) for upper, lower in np.argwhere((shares > 0) & (shares < 1)).tolist()]
        unsure.sort(key=lambda edge: (-shares[edge], edge))
        rows = [(labels[upper], labels[lower], f"{shares[upper, lower]:.0%}") for upper, lower in unsure]
        same = int((shares == 1).sum())
        more = f"{same} of {len(self.mutations)} edges are in all of them; the others, by their shares:"
        return Section("Trees that are as likely", (words, more), cut(("parent", "child", "share"), rows))


def _names(question: Question) -> Iterable[str]:
    if question.options.max_trees is None:
        return ()
    return ("tree_0.newick", "tree_0.gv", "co_optimal.tsv", "co_optimal.gv")


CO_OPTIMAL = made_by_stage(CoOptimalFinding, _names)


def files_of(found: CoOptimal, mutations: Sequence[str]) -> dict[str, str]:
    """Return the texts of the files, by file name.

    Args:
        found: the co-optimal trees.
        mutations: the n names.
    """
    files = {}
    for number, tree in enumerate(found.trees):
        files[f"tree_{number}.newick"] = to_newick(tree, mutations)
        files[f"tree_{number}.gv"] = to_graphviz(tree, mutations)
    shared = consensus_of(found.trees)
    files["co_optimal.tsv"] = shared.to_table(mutations)
    files["co_optimal.gv"] = shared.to_graphviz(mutations)
    return files
