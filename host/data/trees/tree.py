"""Mutation trees as parent vectors, one or many at once.

Nodes 0 to n-1 are the mutations and node n is the root. A parent vector is int32, shape (n + 1,), with
``parents[n] == n``. No function here is recursive, so trees can have any depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.fallback.recorders.key import tree_keys
from syclade.host.data.input.names import default_names
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import on_host

if TYPE_CHECKING:
    import networkx

__all__ = [
    "Level", "ancestor_matrix", "are_trees", "children", "cycle_text", "depths", "depths_of_trees",
    "find_cycle", "levels_of", "node_labels", "preorder", "root_label", "to_networkx", "tree_key",
    "validate_parents",
]  # fmt: skip


Parents = NDArray[np.int32]


def are_trees(parents: NDArray[np.int32]) -> bool:
    """Return whether `validate_parents` accepts all rows: every node is below the last one.

    Args:
        parents: int32, shape (trees, n + 1), n >= 1.
    """
    nodes = parents.shape[1]
    if ((parents < 0) | (parents >= nodes)).any():
        return False
    above = parents.astype(np.intp)
    for _ in range(nodes.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    return bool((above == nodes - 1).all())


def validate_parents(parents: ArrayLike) -> Parents:
    """Check that a vector is the parent vector of a rooted tree.

    Args:
        parents: integers, shape (n + 1,), n >= 1.

    Returns:
        The same as a new C-contiguous int32 array.

    Raises:
        TreeError: the shape or type is wrong, a parent is out of range, the root is wrong, there are several
            roots, or there is a cycle.
    """
    try:
        vector = np.asarray(on_host(parents))
    except (TypeError, ValueError) as problem:  # for example lists of unequal lengths
        raise TreeError(f"a parent vector has n + 1 >= 2 integers: {problem}") from None
    if vector.ndim != 1 or vector.dtype.kind not in "iu" or vector.size < 2:
        raise TreeError(
            f"a parent vector has n + 1 >= 2 integers, this is {vector.dtype} of shape {vector.shape}"
        )
    n = vector.size - 1
    outside = np.flatnonzero((vector < 0) | (vector > n))
    if outside.size:
        node = int(outside[0])
        raise TreeError(f"node {node} has the parent {vector[node]}, which is not in 0 to {n}")
    if vector[n] != n:
        raise TreeError(f"the root, node {n}, has the parent {vector[n]}", hint="the root is its own parent")
    own = np.flatnonzero(vector[:n] == np.arange(n))
    if own.size:
        raise TreeError(f"node {own[0]} is its own parent", hint=f"only the root, node {n}, is")
    vector = np.array(vector, dtype=np.int32, order="C", copy=True)
    cycle = find_cycle(vector)
    if cycle:
        raise TreeError(f"these nodes form a cycle: {cycle_text([str(node) for node in cycle])}")
    return vector


def find_cycle(parents: Parents) -> list[int]:
    """Return a cycle that does not contain the root, from parent to child, or an empty list.

    Args:
        parents: int32, shape (n + 1,), entries 0 to n, ``parents[n] == n``.
    """
    above = parents.tolist()
    root = len(above) - 1
    # The walk in which each node was first met; the root counts as met before all walks.
    met = [-1] * root + [root]
    for start in range(root):
        node = start
        while met[node] < 0:
            met[node] = start
            node = above[node]
        if met[node] == start:
            cycle = [node]
            while above[cycle[-1]] != node:
                cycle.append(above[cycle[-1]])
            return cycle[::-1]
    return []


def cycle_text(labels: Sequence[str], most: int = 8) -> str:
    """Return a cycle as text: its labels, at most `most` of them, and the first one again."""
    shown = [*labels[:most], *([f"... {len(labels) - most} more ..."] if len(labels) > most else [])]
    return " -> ".join([*shown, labels[0]])


def children(parents: Parents) -> list[list[int]]:
    """Return the children of each node in ascending order; a list of n + 1 lists."""
    below: list[list[int]] = [[] for _ in range(len(parents))]
    for node, parent in enumerate(parents[:-1].tolist()):
        below[parent].append(node)
    return below


def preorder(parents: Parents) -> NDArray[np.int32]:
    """Return the nodes in depth-first preorder, root first, children in ascending order.

    Args:
        parents: a valid parent vector, int32, shape (n + 1,).

    Returns:
        int32, shape (n + 1,).
    """
    below = children(parents)
    order: list[int] = []
    stack = [len(parents) - 1]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(below[node]))
    return np.array(order, dtype=np.int32)


def depths(parents: Parents) -> NDArray[np.int32]:
    """Return the number of edges between each node and the root: int32, shape (n + 1,)."""
    return np.append(depths_of_trees(parents[None])[0], 0).astype(np.int32)


def ancestor_matrix(parents: Parents) -> NDArray[np.bool_]:
    """Return the matrix A, where A[x, y] is true if x is y or an ancestor of y (ffSCITE's tree encoding).

    Returns:
        bool, shape (n + 1, n + 1), C-contiguous.
    """
    descendant = np.zeros((len(parents), len(parents)), np.bool_)
    for node in preorder(parents).tolist():
        descendant[node] = descendant[parents[node]]
        descendant[node, node] = True
    return np.ascontiguousarray(descendant.T)


def root_label(mutations: Sequence[str]) -> str:
    """Return a label for the root that no mutation has.

    If the mutations have no names but numbers 1 to n, the label is n + 1, as in SCITE's files. Otherwise it
    is ``root``, with underscores added while a mutation has that name.
    """
    used = set(mutations)
    if tuple(mutations) == default_names(len(mutations)):
        return str(len(mutations) + 1)
    label = "root"
    while label in used:
        label += "_"
    return label


def node_labels(mutations: Sequence[str]) -> list[str]:
    """Return the labels of the nodes 0 to n: the names of the mutations, then the root's label."""
    return [*mutations, root_label(mutations)]


def to_networkx(parents: Parents, labels: Sequence[str]) -> networkx.DiGraph[str]:
    """Return the tree as a networkx graph with edges from parent to child.

    Args:
        parents: a valid parent vector, int32, shape (nodes,).
        labels: the labels of the nodes.

    Returns:
        A graph whose nodes are the labels, each with its number as the attribute
        ``index``; the graph's attribute ``root`` is the label of the root.
    """
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph(root=labels[-1])
    for index, label in enumerate(labels):
        graph.add_node(label, index=index)
    for node in preorder(parents).tolist()[1:]:
        graph.add_edge(labels[parents[node]], labels[node])
    return graph


def tree_key(parents: NDArray[np.int32]) -> int:
    """Return the key of a tree: the sum over all mutations of a hash of (mutation, parent), 0 … 2^64-1.

    Args:
        parents: int32, shape (n + 1,); the root n is its own parent.
    """
    return int(tree_keys(np.asarray(parents)[None])[0])


class Level(NamedTuple):
    """All nodes at one depth, of all trees.

    Attributes:
        trees: int64, shape (nodes,): number of the tree of each node.
        nodes, parents: int64, shape (nodes,): the nodes, and their parents.
    """

    trees: NDArray[np.int64]
    nodes: NDArray[np.int64]
    parents: NDArray[np.int64]


def levels_of(trees: NDArray[np.int32]) -> Iterator[Level]:
    """Yield the nodes at depth 1, at depth 2, and so on; the root, at depth 0, is left out.

    Args:
        trees: int32, shape (trees, n + 1): valid parent vectors.
    """
    n = trees.shape[1] - 1
    depth = depths_of_trees(trees)
    order = np.argsort(depth.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(depth.ravel()))
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        of, nodes = np.divmod(order[start:end], n)
        yield Level(of, nodes, trees[of, nodes].astype(np.int64))


def depths_of_trees(trees: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of edges from the root to each other node: int64, shape (trees, n).

    Args:
        trees: int32, shape (trees, n + 1): valid parent vectors.
    """
    n = trees.shape[1] - 1
    above = trees.astype(np.int64)
    above[:, n] = n
    found = (above != n).astype(np.int64)
    while (above != n).any():  # each turn doubles the length of the jumps
        found += np.take_along_axis(found, above, axis=1)
        above = np.take_along_axis(above, above, axis=1)
    return np.asarray(found[:, :n] + 1, dtype=np.int64)
