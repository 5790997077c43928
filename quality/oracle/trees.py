"""Rooted labelled trees as parent vectors, and the enumeration of all trees of a few mutations.

Mutations are 0 … n-1; the root is n and its own parent. A node is an ancestor and a descendant of itself.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

ParentVector = tuple[int, ...]
"""n + 1 parents; hashable, so that trees can be counted."""

ParentsLike = Sequence[int] | NDArray[np.integer[Any]]
"""Parent vectors that the oracle accepts: a list, a tuple or an integer array of shape (n + 1,)."""


def parent_vector(parents: ParentsLike) -> ParentVector:
    """Return the tree as a tuple of Python integers. ValueError if it is not a tree with root n."""
    vector = tuple(int(parent) for parent in parents)
    root = len(vector) - 1
    if root < 1 or vector[root] != root:
        raise ValueError(f"a parent vector ends in its root, which is its own parent: {vector}")
    if any(not 0 <= parent <= root for parent in vector):
        raise ValueError(f"a parent is not a node of the tree: {vector}")
    for node in range(root):
        if path_to_root(vector, node)[-1] != root:
            raise ValueError(f"node {node} does not reach the root: {vector}")
    return vector


def path_to_root(parents: ParentsLike, node: int) -> list[int]:
    """Return the nodes from `node` to the root, both included.

    If the vector is not a tree, the walk may stop after n + 1 nodes without reaching the root.
    """
    path, above = [node], int(parents[node])
    while above != path[-1] and len(path) < len(parents):
        path.append(above)
        above = int(parents[above])
    return path


def is_ancestor(parents: ParentsLike, upper: int, lower: int) -> bool:
    """Return whether `upper` is `lower` or an ancestor of it."""
    return upper in path_to_root(parents, lower)


def descendants(parents: ParentsLike, v: int) -> list[int]:
    """Return the nodes of the subtree of v, v included, in the order of their labels."""
    return [node for node in range(len(parents)) if is_ancestor(parents, v, node)]


def non_descendants(parents: ParentsLike, v: int) -> list[int]:
    """Return the nodes outside the subtree of v, in the order of their labels."""
    return [node for node in range(len(parents)) if not is_ancestor(parents, v, node)]


def ancestor_matrix(parents: ParentsLike) -> NDArray[np.bool_]:
    """Return a bool array of shape (n + 1, n + 1): entry [x, y] is true iff x is y or an ancestor of y."""
    paths = [path_to_root(parents, y) for y in range(len(parents))]
    return np.array([[x in path for path in paths] for x in range(len(parents))], dtype=np.bool_)


def from_pruefer(code: Sequence[int], n: int) -> ParentVector:
    """Return the tree on the nodes 0 … n with this Prüfer code (n - 1 nodes), rooted at n.

    Prüfer (1918): repeatedly remove the smallest leaf and write down its neighbour. Node n is the largest,
    and a tree has at least two leaves, so n is never removed. The neighbour is towards n: it is the parent.
    """
    if n < 1 or len(code) != n - 1:
        raise ValueError(f"the Prüfer code of a tree of {n} mutations has {n - 1} entries, not {len(code)}")
    parents = [n] * (n + 1)
    left = set(range(n + 1))
    for position, neighbour in enumerate(code):
        leaf = min(left.difference(code[position:]))
        parents[leaf] = neighbour
        left.remove(leaf)
    return tuple(parents)


def all_trees(n: int) -> Iterator[ParentVector]:
    """Yield every tree of n mutations once: (n + 1)^(n - 1) parent vectors (Cayley's formula)."""
    if n < 1:
        raise ValueError("a tree has at least one mutation")
    for code in product(range(n + 1), repeat=n - 1):
        yield from_pruefer(code, n)
