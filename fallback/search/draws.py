"""Random numbers of a search, from counters of their own (the mirror of `kernels/search/draws.py`)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.acceptance import negative_log_uniform
from syclade.fallback.chain.philox import Words, philox_4x32_10

TURNS = 0xFFFFFFFF
"""Turn of the draws that shuffle a sweep."""

JOINS = 0xFFFFFFFE
"""Turn of the draws that resolve polytomies."""

SCORE_BITS = 20
"""Keys are scores times 2^20, with room for noise below."""

BONUS = 1 << 19
"""Advantage of the current place over its equals: half a unit of score."""

DRAWN_AT_ONCE = 2**16
"""Approximate count of numbers whose intermediate values fit in a level 2 cache."""

_LOW = 0xFFFFFFFF


class Draws:
    """The random numbers of one search.

    Args:
        seed: 0 ... 2^64-1.
        search: number of the search.
        log_table: (257,) int64: ln(1 + j/256) in units of 2^-16.
    """

    def __init__(self, seed: int, search: int, log_table: NDArray[np.int64]) -> None:
        self._keys = seed & _LOW, seed >> 32
        self._search = search
        self._log_table = log_table

    def below(self, item: Any, turn: int, sweep: int, count: Any) -> list[int]:
        """Return whole numbers from 0 to count - 1, for arrays of items and counts."""
        words = self._words(np.asarray(item), turn, sweep)
        return ((words * np.asarray(count, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64).tolist()

    def shuffled(self, count: int, sweep: int) -> list[int]:
        """Return 0 ... count-1 in a random order (Fisher and Yates)."""
        numbers = list(range(count))
        last = np.arange(count - 1, 0, -1)
        for at, to in zip(last.tolist(), self.below(last, TURNS, sweep, last + 1), strict=True):
            numbers[at], numbers[to] = numbers[to], numbers[at]
        return numbers

    def gumbel(self, turns: int, count: int, sweep: int, noise: int) -> Iterator[NDArray[np.int64]]:
        """Yield the Gumbel noise of `count` places for each turn of a sweep; zeros if `noise` is 0."""
        if noise == 0:
            silence = np.zeros(count, dtype=np.int64)
            for _ in range(turns):
                yield silence
            return
        item, step = np.arange(count), max(1, DRAWN_AT_ONCE // count)
        for start in range(0, turns, step):
            turn = np.arange(start, min(start + step, turns))[:, None]
            words = self._words(item, turn, sweep)
            yield from self._gumbel(words.ravel()).reshape(words.shape) * np.int64(noise)

    def _words(self, item: NDArray[Any], turn: Any, sweep: int) -> Words:
        """Return random words < 2^32, of a shape to which items and turns broadcast."""
        # The last word of a chain's counters is 0.
        return philox_4x32_10(item, turn, self._search, (1 + 256 * sweep) & _LOW, *self._keys)[0]

    def _gumbel(self, words: Words) -> NDArray[np.int64]:
        """Return -ln(-ln(u)) in units of 2^-16, u = (word + 1/2) / 2^32, as the kernel computes it."""
        tables = np.broadcast_to(self._log_table, (len(words), len(self._log_table)))
        inner = negative_log_uniform(words, tables)
        return negative_log_uniform(inner.astype(np.uint64), tables) - 16 * self._log_table[256]


def keys_of(scores: Any, gumbel: Any) -> Any:
    """Return the keys by which places are compared: scores plus noise."""
    return (scores << SCORE_BITS) + gumbel
