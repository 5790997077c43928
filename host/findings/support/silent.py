"""Silent mutations: the matrix has no cell with them, so the chains for support leave them out.

Support and consensus are of trees without these mutations. Chains that moved them, too, would spend most
steps on them where they are many. In the samples they are children of the root that no cell has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import Event, Sink
from syclade.host.data.input.matrix import Matrix
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.values import short_repr

__all__ = ["Silent", "WholeTrees", "silent_in"]

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Silent:
    """Silent mutations, and the others.

    Attributes:
        mutations: the silent ones.
        others: int64: rows of the others, at least one.
        count: n, the number of all.
    """

    mutations: Unplaced
    others: NDArray[np.int64]
    count: int

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return len(self.others) < self.count

    def of_matrix(self, matrix: Matrix) -> Matrix:
        """Return the matrix of the other mutations."""
        return self.mutations.of_matrix(matrix)

    def of_trees(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return trees, int32, (trees, n + 1), without the silent mutations."""
        return self.mutations.of_trees(trees)

    def whole_trees(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return trees of the other mutations with the silent ones below the root: int32, (trees, n + 1)."""
        nodes = np.append(self.others, self.count).astype(np.int32)
        return self.whole(nodes[trees], self.count)

    def whole(self, values: NDArray[Number], of_silent: object) -> NDArray[Number]:
        """Return values of all mutations, and of the root if these have it.

        Args:
            values: shape (..., others) or (..., others + 1): of the other mutations, and of the root.
            of_silent: value of silent mutations; may be an array of shape (..., 1).
        """
        root = values.shape[-1] - len(self.others)
        found = np.empty((*values.shape[:-1], self.count + root), dtype=values.dtype)
        found[...] = of_silent
        found[..., self.others] = values[..., : len(self.others)]
        found[..., self.count :] = values[..., len(self.others) :]
        return found


def silent_in(unplaced: Unplaced, count: int) -> Silent:
    """Return the silent mutations of a matrix; none if all are.

    Args:
        unplaced: mutations of which the matrix says nothing.
        count: number of all mutations.
    """
    some = Unplaced(unplaced.mutations) if len(unplaced.mutations) < count else Unplaced()
    return Silent(some, some.placed_mutations(count), count)


class WholeTrees:
    """A sink that gives samples of trees without silent mutations to another one, as trees with these.

    Args:
        silent: the silent mutations.
        sink: the other sink.
    """

    def __init__(self, silent: Silent, sink: Sink) -> None:
        self._silent, self._sink = silent, sink

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        if self._silent and events:
            trees = self._silent.whole_trees(np.stack([event.parents for event in events]))
            events = [event._replace(parents=tree) for event, tree in zip(events, trees, strict=True)]
        self._sink.take(events)
