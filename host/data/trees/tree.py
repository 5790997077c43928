"""Trees as parent vectors, one or many at once; initial trees, uniform over all.

Of a mutation tree, nodes 0 to n-1 are the mutations and node n is the root. A parent vector is int32, shape
(n + 1,), with ``parents[n] == n``. No function here is recursive, so trees can have any depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.moves.words import draw_below
from syclade.fallback.recorders.key import tree_keys
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import on_host

if TYPE_CHECKING:
    import networkx

__all__ = [
    "Level",
    "ancestor_matrix",
    "are_trees",
    "children",
    "cycle_text",
    "depths",
    "depths_of_trees",
    "find_cycle",
    "initial_leaf_parents",
    "initial_parents",
    "levels_of",
    "node_labels",
    "parents_from_pruefer",
    "preorder",
    "root_label",
    "to_networkx",
    "tree_key",
    "validate_parents",
]


Parents = NDArray[np.int32]

_NONE = -1


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
    above, last = parents.tolist(), len(parents) - 1
    first, following = [_NONE] * (last + 1), [_NONE] * (last + 1)
    for node in range(last - 1, -1, -1):
        parent = above[node]
        following[node], first[parent] = first[parent], node
    order, waiting, node = [last], [_NONE], first[last]
    while node != _NONE:
        order.append(node)
        child, sibling = first[node], following[node]
        if child == _NONE:
            node = waiting.pop() if sibling == _NONE else sibling
            continue
        if sibling != _NONE:
            waiting.append(sibling)
        node = child
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
    """Return a label for the root that no mutation has: ``root``, with underscores added if one has it."""
    used, label = set(mutations), "root"
    while label in used:
        label += "_"
    return label


def node_labels(mutations: Sequence[str]) -> list[str]:
    """Return the labels of the nodes 0 to n: the names of the mutations, then the root's label."""
    return [*mutations, root_label(mutations)]


def to_networkx(
    parents: Parents, labels: Sequence[str], support: NDArray[np.float64] | None = None
) -> networkx.DiGraph[str]:
    """Return the tree as a networkx graph with edges from parent to child.

    Args:
        parents: a valid parent vector, int32, shape (nodes,).
        labels: the labels of the nodes.
        support: float64, shape (nodes - 1,): probability of the edge to each node; NaN for unplaced nodes,
            whose edges have none. None for none.

    Returns:
        A graph whose nodes are the labels, each with its number as the attribute ``index``, and whose edges
        have the attribute ``support``; the graph's attribute ``root`` is the label of the root.
    """
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph(root=labels[-1])
    for index, label in enumerate(labels):
        graph.add_node(label, index=index)
    for node in preorder(parents).tolist()[1:]:
        known = support is not None and not np.isnan(support[node])
        attributes = {"support": float(support[node])} if support is not None and known else {}
        graph.add_edge(labels[parents[node]], labels[node], **attributes)
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


DOMAIN = 1
"""Fourth counter word for drawing initial trees; chain steps use 0."""


def initial_parents(mutations: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw the initial tree of a chain: int32 parent vector, shape (mutations + 1,).

    Args:
        mutations: n >= 1.
        seed: 0 <= seed < 2^64.
        chain: number of the chain, 0 <= chain < 2^32.
    """
    words = _words(max(mutations - 1, 0), seed, chain)
    return parents_from_pruefer(draw_below(words, mutations + 1).tolist(), mutations)


def _words(count: int, seed: int, chain: int) -> NDArray[np.uint64]:
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    words = np.stack(philox_4x32_10(blocks, 0, chain, DOMAIN, seed & 0xFFFFFFFF, seed >> 32), axis=-1)
    return words.ravel()[:count]


def initial_leaf_parents(labels: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw the initial cell tree of a chain, uniformly from all (2m - 3)!! cell trees.

    Cells are added one by one. Each is attached to a random edge of the tree of the cells before it. A tree
    of k cells has 2k - 1 edges, including the one above the root; all are equally probable.

    Args:
        labels: 2m - 2, for m >= 2 cells.
        seed, chain: as for `initial_parents`.

    Returns:
        int32 parent vector, shape (2m - 1,): leaves are nodes 0 ... m-1, the root is the last node.
    """
    cells = labels // 2 + 1
    edges = 2 * np.arange(1, cells) - 1
    parents = np.full(labels + 1, -1, dtype=np.int32)
    for cell, drawn in enumerate(draw_below(_words(cells - 1, seed, chain), edges).tolist(), 1):
        below = drawn if drawn < cell else cells + drawn - cell
        inner = cells + cell - 1
        parents[inner] = parents[below]
        parents[[below, cell]] = inner
    # The root gets the last number.
    top, root = int(np.flatnonzero(parents < 0)[0]), labels
    number = np.arange(labels + 1, dtype=np.int32)
    number[[top, root]] = root, top
    named = np.empty_like(parents)
    named[number] = np.where(parents < 0, root, number[parents])
    return named


def parents_from_pruefer(code: list[int], mutations: int) -> NDArray[np.int32]:
    """Decode a Prüfer code into a parent vector: int32, shape (n + 1,), rooted at node n.

    The code has length n - 1 and labels 0 … n. Takes linear time. Codes and trees correspond one to one;
    there are (n + 1)^(n - 1) of each.
    """
    root = mutations
    parents = np.empty(mutations + 1, dtype=np.int32)
    parents[root] = root
    degree = [1] * (mutations + 1)
    for label in code:
        degree[label] += 1
    # The root is the largest label, so it is never removed: the neighbour of a removed leaf is its parent.
    pointer = degree.index(1)
    leaf = pointer
    for label in code:
        parents[leaf] = label
        degree[label] -= 1
        if degree[label] == 1 and label < pointer:
            leaf = label
        else:
            pointer = degree.index(1, pointer + 1)
            leaf = pointer
    parents[leaf] = root
    return parents
