"""Swaps of labels of nodes and their children (the mirror of `kernels/shares/label_swaps.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import log

__all__ = ["swapped_labels"]

_MOST_CHANGED = 16
"""Most nodes that a swap may change."""

_LEAST_PART = 2.0**-56
"""Part of a likelihood that vanishes in it."""


def swapped_labels(
    parents: NDArray[np.int32],
    likelihoods: NDArray[np.float64],
    shares: NDArray[np.float64],
    observed: NDArray[np.uint8],
    factors: NDArray[np.float64],
    turns: NDArray[np.int32],
    numbers: NDArray[np.float64],
    length: int,
) -> NDArray[np.int32]:
    """Return the mutation of each node after a swap is proposed for each, and change the likelihoods.

    Args:
        parents: int32, shape (n + 1,): the tree.
        likelihoods: IN OUT, float64, shape (n + 1, cells): of the cells at the nodes, relative to the best.
        shares: float64, shape (n + 1,): of the nodes.
        observed: uint8, shape (n, cells): class of every entry.
        factors: float64, shape (2, 256): 2^weight of the classes, and its inverse.
        turns: int32, shape (n,): order of the nodes.
        numbers: float64, shape (2, n + 1): uniform numbers, of the child and of the acceptance.
        length: ratios of likelihoods whose product is a normal number.

    Returns:
        int32, shape (n + 1,).
    """
    label = np.arange(len(parents), dtype=np.int32)
    sums = (likelihoods * shares[:, None]).cumsum(axis=0)[-1]
    children, order = _children_and_order(parents)
    place, size = np.argsort(order), _sizes(parents, order)
    for node in turns.tolist():
        if not children[node]:
            continue
        child = children[node][int(numbers[0, node] * len(children[node]))]
        count = size[node] - size[child]
        if count > _MOST_CHANGED:
            continue
        below = order[place[node] : place[node] + size[node]]
        first = place[child] - place[node]
        changed = np.array(below[:first] + below[first + size[child] :])
        lost, got = observed[label[node]], observed[label[child]]
        cells = np.flatnonzero(lost != got)
        ratio, rows = factors[0, got[cells]] * factors[1, lost[cells]], likelihoods[np.ix_(changed, cells)]
        part = (rows * shares[changed, None]).cumsum(axis=0)[-1]
        gained, before = part * ratio, sums[cells]
        tells = part + gained > before * _LEAST_PART
        after = np.where(tells, np.maximum(before - part, 0.0) + gained, before)
        if log(numbers[1, node : node + 1])[0] < _log_product((after / before)[tells], length):
            label[[node, child]] = label[[child, node]]
            sums[cells] = after
            likelihoods[np.ix_(changed, cells)] = rows * ratio
    return label


def _children_and_order(parents: NDArray[np.int32]) -> tuple[list[list[int]], list[int]]:
    """Return the children of each node, the last one first, and all nodes in preorder."""
    children: list[list[int]] = [[] for _ in parents]
    for node in range(len(parents) - 2, -1, -1):
        children[parents[node]].append(node)
    order, left = [], [len(parents) - 1]
    while left:
        order.append(left.pop())
        left += children[order[-1]][::-1]
    return children, order


def _sizes(parents: NDArray[np.int32], order: list[int]) -> list[int]:
    """Return the number of the nodes at and below each node."""
    size = [1] * len(parents)
    for node in order[:0:-1]:
        size[parents[node]] += size[node]
    return size


def _log_product(ratios: NDArray[np.float64], length: int) -> float:
    """Return the natural log of a product, from products of so many factors."""
    whole = np.ones(-(-max(len(ratios), 1) // length) * length)
    whole[: len(ratios)] = ratios
    products = whole.reshape(-1, length).cumprod(axis=1)[:, -1]
    return sum(log(products).tolist(), 0.0)
