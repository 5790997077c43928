"""Reads of equal shape, computed together, and the cells of their bands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "blocks_of"]

INSERTED = 0.25
"""Probability of any base in an insertion."""

UNKNOWN = 3
"""Greatest number of a known base."""

MOST_READS = 256
"""Reads that are computed together: their rows fit in a cache."""


@dataclass(frozen=True)
class Block:
    """Reads of equal shape. Bases i and places k are counted from 1.

    The cell of base i and place k is number k − i + band + 1 of its row, so the same place of the next row is
    one cell to the left. A row has an empty cell at either end.

    Attributes:
        query, reference, band: length of the reads and of the windows, and half width of the band.
        chances: probabilities of transitions, in the order of `kernels.baq.arguments.CHANCES`.
        letters: int64, (query, reads): index of each base in the arrays of all letters.
        bases: uint8, (query, reads).
        match, mismatch: float64, (query, reads): probability of each base, where the window agrees and where
            it does not.
        window: uint8, (reference, reads).
        members: (first, end) in the block's row of the arrays by block and member.
    """

    query: int
    reference: int
    band: int
    chances: tuple[float, ...]
    letters: NDArray[np.int64]
    bases: NDArray[np.uint8]
    match: NDArray[np.float64]
    mismatch: NDArray[np.float64]
    window: NDArray[np.uint8]
    members: tuple[int, int]

    def rows(self, number: int) -> NDArray[np.float64]:
        """Return rows of zeros, float64, (number, cells, reads)."""
        return np.zeros((number, 2 * self.band + 3, self.bases.shape[1]))

    def places(self, i: int) -> tuple[int, int]:
        """Return the first and the last place of row i."""
        return max(1, i - self.band), min(self.reference, i + self.band)

    def cells(self, i: int) -> tuple[int, int]:
        """Return the first cell of row i, and that after the last one."""
        begin, end = self.places(i)
        return begin - i + self.band + 1, end - i + self.band + 2

    def emission(self, i: int, begin: int, end: int) -> NDArray[np.float64]:
        """Return the probability of base i at the places from `begin` to `end`, (places, reads)."""
        there = self.window[begin - 1 : end]
        found = np.where(there == self.bases[i - 1], self.match[i - 1], self.mismatch[i - 1])
        return np.where(there > UNKNOWN, 1.0, found)


def blocks_of(arrays: dict[str, NDArray[Any]], slot: int) -> Iterator[Block]:
    """Yield the reads of a slot by their shapes.

    Args:
        arrays: those of `kernels.baq.arguments.BAQ`.
        slot: the slot.
    """
    shapes = arrays["shapes"][slot, : int(arrays["blocks"][slot])]
    width = arrays["reads"].shape[-1]
    new = np.ones(len(shapes), dtype=bool)
    new[1:] = (shapes[1:] != shapes[:-1]).any(axis=1)
    bounds = np.append(np.flatnonzero(new), len(shapes)) * width
    for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        for begin in range(first, end, MOST_READS):
            yield _block(arrays, slot, begin // width, (begin, min(end, begin + MOST_READS)))


def _block(arrays: dict[str, NDArray[Any]], slot: int, number: int, members: tuple[int, int]) -> Block:
    """Return some members of consecutive blocks of equal shape, of which `number` is the first."""
    query, reference, band = arrays["shapes"][slot, number].tolist()
    reads, windows = (arrays[name][slot].ravel()[slice(*members)] for name in ("reads", "windows"))
    letters = reads + np.arange(query)[:, None]
    bases = arrays["bases"].ravel()[letters]
    qualities = arrays["qualities"].ravel()[letters]
    known = bases <= UNKNOWN
    return Block(
        query,
        reference,
        band,
        tuple(arrays["chances"][slot, number].tolist()),
        letters,
        bases,
        np.where(known, arrays["match"][qualities], 1.0),
        np.where(known, arrays["mismatch"][qualities], 1.0),
        arrays["reference"].ravel()[windows + np.arange(reference)[:, None]],
        members,
    )
