"""Features of sampled cell trees: scores, counts of clades, and the clades of some trees."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import Records, SampleStore

__all__ = ["CladeFeatures", "packed_clades"]

MOST_TREES = 2048
"""Most trees that a chain stores for the effective sample size; beyond it, every other tree is dropped."""

MOST_CLADES = 2**20
"""Most distinct clades; beyond it, clades that occurred only once are dropped."""

_TOGETHER = 64
"""Number of trees whose clades are computed at once."""


class _OfChain:
    """Features of one chain.

    Attributes:
        scores: scores of all samples, in units of 2^-f nat.
        trees: the tree of every `stride`-th sample: int64, shape (m - 1,), its clade numbers, sorted.
        stride: distance of stored trees, in samples.
        counts: number of samples with each clade, by clade number.
    """

    def __init__(self) -> None:
        self.scores = array("q")
        self.trees: list[NDArray[np.int64]] = []
        self.stride = 1
        self.counts: dict[int, int] = {}

    def take(self, score: int, clades: NDArray[np.int64]) -> None:
        """Add a sample."""
        if len(self.scores) % self.stride == 0:
            self.trees.append(clades)
            if len(self.trees) > MOST_TREES:
                self.trees = self.trees[::2]
                self.stride *= 2
        self.scores.append(score)
        for clade in clades.tolist():
            self.counts[clade] = self.counts.get(clade, 0) + 1


class CladeFeatures:
    """Features of all samples. Their memory grows by 8 bytes per sample, and with the number of clades.

    Args:
        store: the samples.
    """

    def __init__(self, store: SampleStore) -> None:
        self._chains: dict[int, _OfChain] = {}
        self._numbers: dict[bytes, int] = {}
        self._met = 0
        for number in store.chains:
            self._chains[number] = _OfChain()
            for records in store.of_chain(number):
                self._add(self._chains[number], records)

    def _add(self, chain: _OfChain, records: Records) -> None:
        for first in range(0, len(records), _TOGETHER):
            some = records[first : first + _TOGETHER]
            trees = np.ascontiguousarray(some["parents"])
            for score, rows in zip(some["score"].tolist(), packed_clades(trees), strict=True):
                numbers = [self._number(row.tobytes()) for row in rows]
                chain.take(score, np.array(sorted(numbers), dtype=np.int64))
            if len(self._numbers) > MOST_CLADES:
                self._forget_rare()

    def _number(self, clade: bytes) -> int:
        if clade not in self._numbers:
            self._numbers[clade] = self._met
            self._met += 1
        return self._numbers[clade]

    def _forget_rare(self) -> None:
        """Drop clades that occurred only once in a chain from its counts.

        A clade without a count in any chain gets a new number if it occurs again.
        """
        for chain in self._chains.values():
            chain.counts = {clade: count for clade, count in chain.counts.items() if count > 1}
        counted = {clade for chain in self._chains.values() for clade in chain.counts}
        self._numbers = {name: clade for name, clade in self._numbers.items() if clade in counted}

    @property
    def samples(self) -> int:
        """Number of samples of all chains."""
        return sum(len(chain.scores) for chain in self._chains.values())

    def scores(self) -> NDArray[np.int64]:
        """Return the scores, cut to the shortest chain: int64, shape (chains, samples)."""
        chains = [chain.scores for chain in self._in_order()]
        shortest = min((len(chain) for chain in chains), default=0)
        return np.array([chain[:shortest] for chain in chains], dtype=np.int64).reshape(len(chains), shortest)

    def trees(self) -> list[NDArray[np.int64]]:
        """Return the stored trees of each chain, as sorted clade numbers: int64, shape (stored, m - 1)."""
        return [np.array(chain.trees, dtype=np.int64) for chain in self._in_order()]

    def clades(self) -> dict[frozenset[int], float]:
        """Return the posterior probability of each clade of more than one cell, by its cells."""
        total = max(self.samples, 1)
        return {
            frozenset(_cells_of(name)): sum(of.counts.get(number, 0) for of in self._chains.values()) / total
            for name, number in self._numbers.items()
        }

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each chain's samples with each clade: float64, shape (chains, clades)."""
        numbers = [self._numbers[name] for name in sorted(self._numbers)]  # whatever order they came in
        return np.array(
            [
                [chain.counts.get(number, 0) / max(len(chain.scores), 1) for number in numbers]
                for chain in self._in_order()
            ]
        )

    def _in_order(self) -> list[_OfChain]:
        return [self._chains[number] for number in sorted(self._chains)]


def packed_clades(trees: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the cells below each internal node; all cells climb together, one node at a time.

    Args:
        trees: int32, shape (trees, 2m - 1).

    Returns:
        uint8, shape (trees, m - 1, ceil(m / 8)): one bit per cell; the first is the lowest of the first byte.
    """
    count, nodes = trees.shape
    cells = (nodes + 1) // 2
    below = np.zeros((count, nodes, cells), dtype=bool)
    tree, cell = np.indices((count, cells))
    at = np.broadcast_to(np.arange(cells), (count, cells))
    while True:
        at = np.take_along_axis(trees, at, axis=1)
        below[tree, at, cell] = True
        if (at == nodes - 1).all():
            break
    return np.packbits(below[:, cells:], axis=2, bitorder="little")


def _cells_of(clade: bytes) -> list[int]:
    bits = np.unpackbits(np.frombuffer(clade, dtype=np.uint8), bitorder="little")
    cells: list[int] = np.flatnonzero(bits).tolist()
    return cells
