"""Credible sets: the fewest parents of a mutation that together have at least some probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVELS", "Covered", "parent_sets"]

LEVELS: Final = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Covered:
    """Credible sets of one level.

    Attributes:
        level: least probability of each set.
        sets: number of sets, one for each mutation.
        claimed: sum of their probabilities, each at least the level.
        covering: sets that contain the true parent.
    """

    level: float
    sets: int
    claimed: float
    covering: int


def parent_sets(edges: NDArray[np.float64], parents: NDArray[np.int32]) -> tuple[Covered, ...]:
    """Return the credible sets of the mutations' parents, for each of `LEVELS`.

    Args:
        edges: float64, shape (n + 1, n): probability that the row's node is the column's parent.
        parents: int32, shape (n + 1,): the true tree.
    """
    n = edges.shape[1]
    order = np.argsort(-edges, axis=0, kind="stable")
    sums = np.cumsum(np.take_along_axis(edges, order, axis=0), axis=0)
    place = np.argmax(order == parents[:n], axis=0)  # of the true parent in the order
    found = []
    for level in LEVELS:
        last = np.argmax(sums >= level - 1e-12, axis=0)
        claimed = float(sums[last, np.arange(n)].sum())
        found.append(Covered(level, n, claimed, int((place <= last).sum())))
    return tuple(found)
