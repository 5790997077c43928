"""Plateau: all trees as likely as the best ones that moves between trees of equal score reach."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.recorders.key import tree_keys
from syclade.host.data.model.problem import Problem
from syclade.host.findings.cooptimal.neighbours import Scorer, equal_neighbours
from syclade.host.ground.values import short_repr

__all__ = ["CoOptimal", "walk_plateau"]


@dataclass(frozen=True, eq=False)
class CoOptimal:
    """Trees of equal score.

    Attributes:
        trees: int32, shape (trees, n + 1): distinct parent vectors; the first is the best tree itself.
        complete: whether these are all trees that moves between trees of equal score reach; if false, there
            may be more.
    """

    trees: NDArray[np.int32]
    complete: bool

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def counted(self) -> str:
        """Number of trees, as text."""
        return str(len(self.trees)) if self.complete else f"at least {len(self.trees)}"


def walk_plateau(
    problem: Problem,
    best: Sequence[NDArray[np.int32]],
    most: int,
    stopped: Callable[[], bool] = lambda: False,
) -> CoOptimal:
    """Walk from the best trees through all neighbours of equal score, breadth first.

    The order depends on the trees only, so it is the same on every device.

    Args:
        problem: the problem that defines the scores.
        best: int32 parent vectors, shape (n + 1,); those that score less than the first are left out.
        most: number of trees at which to stop.
        stopped: returns whether to stop with the trees so far.
    """
    scorer = Scorer.of(problem)
    top, _ = equal_neighbours(scorer, best[0])
    found: dict[int, NDArray[np.int32]] = {}
    waiting: deque[NDArray[np.int32]] = deque()
    more = False

    def take(trees: NDArray[np.int32]) -> None:
        nonlocal more
        for key, tree in zip(tree_keys(trees).tolist(), trees, strict=True):
            if key in found:
                continue
            if len(found) >= most:
                more = True
                return
            found[key] = tree
            waiting.append(tree)

    take(np.asarray(best[0], dtype=np.int32)[None])
    for tree in best[1:]:
        if equal_neighbours(scorer, tree)[0] == top:
            take(np.asarray(tree, dtype=np.int32)[None])
    while waiting and not more and not stopped():
        _, trees = equal_neighbours(scorer, waiting.popleft())
        if len(trees):
            take(trees)
    return CoOptimal(np.array(list(found.values()), dtype=np.int32), complete=not more and not waiting)
