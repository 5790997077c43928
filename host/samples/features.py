"""Features of samples for diagnostics and posteriors: scores, some trees, and counts of relations."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["Features"]

MOST_TREES = 2048
"""Most trees that a chain stores for the effective sample size; beyond it, every other tree is dropped."""


class _OfChain:
    """Features of one chain.

    Attributes:
        scores: scores of all samples, in units of 2^-f nat.
        leaves: numbers of leaves of all samples' trees.
        rates: grid indices of both rates (fn, fp) of all samples, if a rate is learned.
        trees: the tree of every `stride`-th sample.
        stride: distance of stored trees, in samples.
        edges: int64, shape (n + 1, n): number of samples with each edge.
        above: int64, shape (n, n): number of samples in which the row's mutation is above the column's.
    """

    def __init__(self, n: int) -> None:
        self.scores = array("q")
        self.leaves = array("q")
        self.rates = (array("q"), array("q"))
        self.trees: list[NDArray[np.int32]] = []
        self.stride = 1
        self.edges = np.zeros((n + 1, n), dtype=np.int64)
        self.above = np.zeros((n, n), dtype=np.int64)

    def keep(self, parents: NDArray[np.int32]) -> None:
        """Store the tree of every `stride`-th sample. Call it for every sample, after adding its score."""
        if (len(self.scores) - 1) % self.stride == 0:
            self.trees.append(parents.copy())  # a view would keep all trees of its launch in memory
            if len(self.trees) > MOST_TREES:
                self.trees = self.trees[::2]
                self.stride *= 2


class Features:
    """A sink of samples. Its memory grows by 16 bytes per sample, or by 32 if rates are learned.

    Args:
        why: bit of the recorder of samples.
        mutations: n.
        learning: whether rates are learned.
    """

    def __init__(self, why: int, mutations: int, learning: bool = False) -> None:
        self._why = why
        self._learning = learning
        self._n = mutations
        self._chains: dict[int, _OfChain] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        by_chain: dict[int, list[Event]] = {}
        for event in events:
            if event.why & self._why:
                by_chain.setdefault(event.chain, []).append(event)
        for number, some in by_chain.items():
            chain = self._chains.setdefault(number, _OfChain(self._n))
            trees = np.array([event.parents for event in some], dtype=np.int32)
            for event, tree in zip(some, trees, strict=True):
                chain.scores.append(event.score)
                chain.leaves.append(len(tree) - len(set(tree.tolist())))
                chain.keep(tree)
                if self._learning:
                    for places, place in zip(chain.rates, event.rate_at, strict=True):
                        places.append(place)
            _count(trees, chain.edges, chain.above)

    @property
    def samples(self) -> int:
        """Number of samples of all chains."""
        return sum(len(chain.scores) for chain in self._chains.values())

    def scores(self) -> NDArray[np.int64]:
        """Return the scores, cut to the shortest chain: int64, shape (chains, samples)."""
        return _rows([chain.scores for chain in self._in_order()])

    def leaves(self) -> NDArray[np.int64]:
        """Return the numbers of leaves of the trees: int64, shape (chains, samples)."""
        return _rows([chain.leaves for chain in self._in_order()])

    def rates(self, rate: int) -> NDArray[np.int64]:
        """Return the grid indices of a learned rate: int64, shape (chains, samples)."""
        return _rows([chain.rates[rate] for chain in self._in_order()])

    def trees(self) -> list[NDArray[np.int32]]:
        """Return the stored trees of each chain: int32, shape (stored, n + 1)."""
        return [np.array(chain.trees, dtype=np.int32) for chain in self._in_order()]

    def edges(self) -> NDArray[np.float64]:
        """Return the posterior probability of each edge (row: parent, column: child).

        Returns:
            float64, shape (n + 1, n).
        """
        none = np.zeros((self._n + 1, self._n), dtype=np.int64)  # before the first sample
        return np.asarray(sum((chain.edges for chain in self._in_order()), none) / max(self.samples, 1))

    def above(self) -> NDArray[np.float64]:
        """Return the posterior probability that the row's mutation is above the column's.

        Returns:
            float64, shape (n, n).
        """
        none = np.zeros((self._n, self._n), dtype=np.int64)
        return np.asarray(sum((chain.above for chain in self._in_order()), none) / max(self.samples, 1))

    def above_by_chain(self) -> NDArray[np.float64]:
        """Return `above` for each chain: float64, shape (chains, n, n)."""
        return np.array([chain.above / max(len(chain.scores), 1) for chain in self._in_order()])

    def _in_order(self) -> list[_OfChain]:
        return [self._chains[number] for number in sorted(self._chains)]


def _rows(chains: Sequence[array[int]]) -> NDArray[np.int64]:
    shortest = min((len(chain) for chain in chains), default=0)
    return np.array([chain[:shortest] for chain in chains], dtype=np.int64).reshape(len(chains), shortest)


def _count(trees: NDArray[np.int32], edges: NDArray[np.int64], above: NDArray[np.int64]) -> None:
    """Count each edge and each ancestor relation in trees; all trees are climbed together, node by node.

    Args:
        trees: int32, shape (trees, n + 1).
        edges: int64, shape (n + 1, n): counts to add to.
        above: int64, shape (n, n): counts to add to.
    """
    n = trees.shape[1] - 1
    mutations = np.broadcast_to(np.arange(n), (len(trees), n))
    upper = trees[:, :n].astype(np.int64)
    edges += np.bincount((upper * n + mutations).ravel(), minlength=(n + 1) * n).reshape(n + 1, n)
    while True:
        inner = upper < n
        if not inner.any():
            return
        above += np.bincount((upper * n + mutations)[inner], minlength=n * n).reshape(n, n)
        upper = np.take_along_axis(trees, upper, axis=1).astype(np.int64)
