"""Identify the tree in each slot, for thousands of slots at once, in any encoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner
from syclade.host.chains.encodings import Encoding
from syclade.host.chains.plan import Plan
from syclade.quality.oracle.trees import ParentVector

__all__ = ["StateIndex", "TreeIndex"]


def _itself(parents: NDArray[np.int32]) -> ParentVector:
    return tuple(parents.tolist())


class TreeIndex:
    """Number of a tree in a list, by its representation in a runner's memory.

    A tree may have several representations (orders of its nodes, for example). Each is decoded once, when it
    first occurs.

    Args:
        encoding: encoding of the runner.
        trees: the list.
        name_of: returns the parent vector in the list that names a tree; by default the tree's own.
    """

    def __init__(
        self,
        encoding: Encoding,
        trees: Sequence[ParentVector],
        name_of: Callable[[NDArray[np.int32]], ParentVector] = _itself,
    ) -> None:
        self._encoding = encoding
        self._name_of = name_of
        self._numbers = {tree: number for number, tree in enumerate(trees)}
        self._names = tuple(encoding.encode(np.array(trees[0], dtype=np.int32)))
        self._met: dict[bytes, int] = {}

    def of(self, runner: Runner) -> NDArray[np.int64]:
        """Return the number of the tree in each slot: int64, shape (slots,).

        Raises:
            KeyError: a slot's tree is not in the list.
        """
        arrays = {name: runner.read_all(name) for name in self._names}
        parts = [np.ascontiguousarray(a).reshape(runner.slots, -1).view(np.uint8) for a in arrays.values()]
        looks = np.concatenate(parts, axis=1)
        whole = looks.view(np.dtype((np.void, looks.shape[1]))).ravel()
        distinct, first, slots = np.unique(whole, return_index=True, return_inverse=True)
        numbers = np.empty(len(distinct), dtype=np.int64)
        for place, (look, slot) in enumerate(zip(distinct, first, strict=True)):
            key = look.tobytes()
            if key not in self._met:
                parents = self._encoding.decode({name: array[slot] for name, array in arrays.items()})
                self._met[key] = self._numbers[self._name_of(parents)]
            numbers[place] = self._met[key]
        return numbers[slots]


class StateIndex:
    """Number of a state: of a tree, or of a tree with the grid positions of learned rates.

    Args:
        trees: index of the trees.
        plan: plan of the chain.
    """

    def __init__(self, trees: TreeIndex, plan: Plan) -> None:
        self._trees = trees
        model = plan.problem.rate_tables.model
        self._points = model.points if model.learns else None

    def of(self, runner: Runner) -> NDArray[np.int64]:
        """Return the number of the state in each slot: int64, shape (slots,)."""
        trees = self._trees.of(runner)
        if self._points is None:
            return trees
        places = trees
        for points, at in zip(self._points, runner.read_all("rate_at").T, strict=False):
            places = places * points + at
        return places
