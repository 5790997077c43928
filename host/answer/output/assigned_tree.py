"""The tree of a result with its cells and mutations: arrays by name, and forms of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.output.named_findings import NamedFindings
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.trees.tree import to_networkx
from syclade.host.findings.kinds.kind import Tree, TreeKind

if TYPE_CHECKING:
    import networkx

__all__ = ["AssignedTree"]


class AssignedTree(NamedFindings):
    """A tree, to which cells or mutations are assigned; the attributes are those of `Result`."""

    kind: TreeKind
    parents: NDArray[np.int32]
    assignment: Assignment
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.cells)

    @property
    def tree(self) -> Tree:
        """The tree with its names, its assignment and its support."""
        return Tree(self.parents, self.mutations, self.cells, self.assignment, self.support)

    @property
    def labels(self) -> list[str]:
        """Labels of the nodes in files."""
        return self.kind.labels(self.mutations, self.cells)

    @property
    def attachment(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the best node of every cell of a mutation tree; the root is n."""
        return self._assigned("cell").node

    @property
    def attachment_ties(self) -> NDArray[np.int32]:
        """int32, shape (cells,): number of equally good nodes of every cell, the best one included."""
        return self._assigned("cell").ties

    @property
    def cell_log_likelihoods(self) -> NDArray[np.float64]:
        """float64, shape (cells,): log-likelihood of every cell at its node, natural log."""
        return self._assigned("cell").log_likelihood

    @property
    def attachment_posteriors(self) -> NDArray[np.float64] | None:
        """float64, (cells,): probability of every cell's node, given the tree; None unless score is sum."""
        return self._assigned("cell").posterior

    @property
    def placement(self) -> NDArray[np.int32]:
        """int32, shape (n,): the node below the best edge of every mutation of a cell tree."""
        return self._assigned("mutation").node

    @property
    def placement_ties(self) -> NDArray[np.int32]:
        """int32, shape (n,): number of equally good edges of every mutation, the best one included."""
        return self._assigned("mutation").ties

    @property
    def mutation_log_likelihoods(self) -> NDArray[np.float64]:
        """float64, shape (n,): log-likelihood of every mutation on its edge, natural log."""
        return self._assigned("mutation").log_likelihood

    def _assigned(self, item: str) -> Assignment:
        """Return the assignment; raise an AttributeError if the tree does not assign these items."""
        if item != self.kind.item:
            raise AttributeError(
                f"{self.kind.title} assign each {self.kind.item} to one {self.kind.place}: see `assignment`"
            )
        return self.assignment

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return the tree as a directed graph from the root; its nodes are `labels`."""
        return to_networkx(self.parents, self.labels)

    def to_newick(self, *, attach: bool | None = None) -> str:
        """Return the tree in Newick format, every node labelled.

        Args:
            attach: whether to attach the cells of a mutation tree to their nodes, as leaves; None uses the
                option of `infer`. In a cell tree the cells are the leaves.

        Raises:
            MatrixError: a cell and a node have the same name.
        """
        return self.kind.newick(self.tree, self._attaches(attach))

    def to_graphviz(self, *, attach: bool | None = None) -> str:
        """Return the tree in GraphViz's dot language, a cell tree with mutations on its edges.

        With support, the edges of a mutation tree have their probabilities as labels.

        Arguments and errors are those of `to_newick`.
        """
        return self.kind.graphviz(self.tree, self._attaches(attach))

    def _attaches(self, attach: bool | None) -> bool:
        return bool(self.options.get("attach", False) if attach is None else attach)

    def to_attachments(self) -> str:
        """Return the attachments of the cells to a mutation tree: tab-separated, one line per cell."""
        self._assigned("cell")
        return self.kind.table(self.tree)

    def to_placements(self) -> str:
        """Return the placements of the mutations on a cell tree: tab-separated, one line per mutation."""
        self._assigned("mutation")
        return self.kind.table(self.tree)

    @property
    def trees(self) -> NDArray[np.int32]:
        """int32, shape (trees, nodes): the co-optimal trees if requested, or else only this one."""
        found = self.parents[None] if self.co_optimal is None else self.co_optimal.trees
        trees = found.copy()
        trees.flags.writeable = False
        return trees
