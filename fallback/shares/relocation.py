"""New places of mutations given the nodes of the cells (the mirror of `kernels/shares/relocation.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.shares.gibbs import powers_of

__all__ = ["SLIDES", "relocated"]

SLIDES = 4
"""Draws of the place of each mutation alone, for one draw of the place of each subtree."""

_LOWEST = 40
"""Octaves below the best place from which a place has no weight."""

_NEVER = -(2**62)
"""Score of a place that a mutation cannot have."""


def relocated(
    parents: NDArray[np.int32],
    nodes: NDArray[np.int64],
    weights: NDArray[np.int32],
    fraction: int,
    numbers: NDArray[np.float64],
) -> NDArray[np.int32]:
    """Return a tree in which the place of each mutation is drawn anew, given the nodes of the cells.

    Args:
        parents: int32, shape (n + 1,): the tree.
        nodes: int64, shape (cells,): the node of each cell.
        weights: int32, shape (n, cells): what each mutation adds to the score of a cell that has it, in units
            of 2^-fraction octave.
        fraction: bits of a fraction.
        numbers: float64, shape ((SLIDES + 1) * n,): uniform numbers.

    Returns:
        int32, shape (n + 1,).
    """
    places = _Places(parents, nodes, weights, fraction)
    count = len(parents) - 1
    slides, grafts = numbers[: SLIDES * count].reshape(SLIDES, count), numbers[SLIDES * count :]
    for turn in slides:
        for node in range(count):
            if places.is_free(node):
                places.slide(node, turn[node])
    for node in range(count):
        places.regraft(node, grafts[node])
    return places.parents


class _Places:
    """A tree, and the gains of its mutations: sums of their weights over the cells at and below nodes.

    Args:
        parents, nodes, weights, fraction: as for `relocated`.
    """

    def __init__(
        self,
        parents: NDArray[np.int32],
        nodes: NDArray[np.int64],
        weights: NDArray[np.int32],
        fraction: int,
    ) -> None:
        self.parents, self._fraction = parents.copy(), fraction
        self._root = len(parents) - 1
        self._cells = np.bincount(nodes, minlength=len(parents))
        self._gains = np.zeros((len(parents), self._root), dtype=np.int64)
        np.add.at(self._gains, nodes, weights.T)
        for node in self._order()[:0:-1]:
            self._gains[self.parents[node]] += self._gains[node]

    def _order(self) -> list[int]:
        """Return the nodes so that each comes after its parent."""
        below: list[list[int]] = [[] for _ in self.parents]
        for node, above in enumerate(self.parents[:-1].tolist()):
            below[above].append(node)
        order = [self._root]
        for node in order:
            order += below[node]
        return order

    def is_free(self, node: int) -> bool:
        """Return whether a mutation has no cells and at most one child."""
        return not self._cells[node] and np.count_nonzero(self.parents[:-1] == node) <= 1

    def _weights(self, gaps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the powers 2^-gap, or 0 for very small ones."""
        return np.where(gaps >> self._fraction < _LOWEST, powers_of(gaps, self._fraction), 0.0)

    def _likely(self, worth: NDArray[np.int64], best: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places that have a weight, and their cumulative weights."""
        places = np.flatnonzero(worth > best - (_LOWEST << self._fraction))
        return places, self._weights(best - worth[places]).cumsum()

    def slide(self, node: int, number: float) -> None:
        """Draw the place of a mutation alone."""
        root = self._root
        child = np.flatnonzero(self.parents[:-1] == node)
        self.parents[child] = self.parents[node]
        self.parents[node] = root  # its place until it is drawn does not matter
        worth = self._gains[:root, node].copy()
        worth[node] = _NEVER
        best = max(0, int(worth.max()))
        places, ends = self._likely(worth, best)
        total = float(ends[-1]) if len(ends) else 0.0
        alone = float(self._weights(np.array([best]))[0])
        wanted = number * (total + alone * root)
        if wanted < total or alone == 0.0:
            place = _first_beyond(places, ends, wanted)
            self.parents[node], self.parents[place] = self.parents[place], node
            self._gains[node] = self._gains[place]
        else:
            leaf = min(int((wanted - total) / alone), root - 1)
            self.parents[node] = leaf + (leaf >= node)
            self._gains[node] = 0

    def regraft(self, node: int, number: float) -> None:
        """Draw the parent of a mutation, which takes its subtree along."""
        worth = np.zeros(self._root + 1, dtype=np.int64)
        for other in self._order()[1:]:
            before = worth[self.parents[other]]
            gone = other == node or before == _NEVER
            worth[other] = _NEVER if gone else before + self._gains[node, other]
        places, ends = self._likely(worth, int(worth.max()))
        place = _first_beyond(places, ends, number * float(ends[-1]))
        for above, sign in ((int(self.parents[node]), -1), (place, 1)):
            while above != self._root:
                self._gains[above] += sign * self._gains[node]
                above = int(self.parents[above])
        self.parents[node] = place


def _first_beyond(places: NDArray[np.int64], ends: NDArray[np.float64], wanted: float) -> int:
    """Return the first place that ends beyond a part of the sum of the weights, or the last one."""
    return int(places[np.searchsorted(ends[:-1], wanted, side="right")])
