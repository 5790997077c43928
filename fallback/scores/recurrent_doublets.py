"""The score with doublets of trees with a recurrent mutation; `kernels/parities/sums.py` has the sums."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Score, State
from syclade.fallback.parities.tables import FORBIDDEN, Trees
from syclade.fallback.scores.doublets import of_cells as of_sums
from syclade.fallback.sums.numbers import Numbers, ones, powers_of_two, product, put, total
from syclade.fallback.sums.tables import upwards

_LOWEST = -(2**20)
"""Exponent of 0."""


class Parities(NamedTuple):
    """Sums over the nodes v below a node u, and over pairs, by the number of copies from u to v."""

    even: Numbers
    odd: Numbers
    both_even: Numbers
    both_odd: Numbers
    mixed: Numbers

    def at(self, index: Any) -> "Parities":
        """Return some of the numbers."""
        return Parities(*(one.at(index) for one in self))

    def times(self, factor: Numbers) -> "Parities":
        """Return the numbers times a factor."""
        return Parities(*(product(one, factor) for one in self))

    def exchanged(self) -> "Parities":
        """Return the numbers with even and odd exchanged."""
        return Parities(self.odd, self.even, self.both_odd, self.both_even, self.mixed)

    def with_child(self, child: "Parities") -> "Parities":
        """Return the numbers with those of one more child."""
        even, odd = self.even, self.odd
        mixed = total(self.mixed, product(even, child.odd).twice())
        return Parities(
            total(even, child.even),
            total(odd, child.odd),
            total(total(self.both_even, product(even, child.even).twice()), child.both_even),
            total(total(self.both_odd, product(odd, child.odd).twice()), child.both_odd),
            total(total(mixed, product(odd, child.even).twice()), child.mixed),
        )


def of_cells(state: State, slots: NDArray[Any], found: Any) -> NDArray[Any]:
    """Return the cells' contributions, (lanes, columns) int64; FORBIDDEN in such a tree."""
    trees: Trees = found
    mutation = state["recurrent"][slots]
    sums = []
    for parent, one, weights in zip(trees.parents, mutation.tolist(), state["weights"][slots], strict=True):
        singles, pairs = _sums(parent, one, powers_of_two(weights), trees.observed)
        sums.append(np.stack([*singles, *pairs], axis=-1))
    worth = of_sums(state, slots, np.stack(sums))
    return np.where(trees.allowed(mutation)[:, None], worth, FORBIDDEN)


def _sums(
    parent: NDArray[np.int32],  # IN (nodes,)
    mutation: int,
    factors: Numbers,  # IN (classes,)
    observed: NDArray[np.uint8],  # IN (mutations, columns)
) -> tuple[Numbers, Numbers]:
    """Return the columns' sums over the nodes of a tree, and over its pairs of nodes."""
    shape = (len(parent), observed.shape[1])
    now = Parities(ones(shape), _zeros(shape), ones(shape), _zeros(shape), _zeros(shape))
    for node, child in upwards(parent):
        below = now.at(child)
        if child in (mutation, len(parent) - 2):
            below = below.times(ones(shape[1:])).exchanged()
        else:
            below = below.times(factors.at(observed[child]))
        for numbers, values in zip(now, now.at(node).with_child(below), strict=True):
            put(numbers, node, values)
    root, own = now.at(-1), factors.at(observed[mutation])
    singles = total(root.even, product(root.odd, own))
    return singles, total(root.both_even, product(total(root.both_odd, root.mixed), own))


def _zeros(shape: tuple[int, ...]) -> Numbers:
    return Numbers(np.zeros(shape, dtype=np.int64), np.full(shape, _LOWEST, dtype=np.int64))


SCORE = Score(of_cells=of_cells)
"""The score with doublets."""
