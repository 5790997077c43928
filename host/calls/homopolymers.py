"""Homopolymers of the reference: the quality of an indel beside one, and the length that records report."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DINDEL", "homopolymer_length", "indel_qualities"]

DINDEL = (0, 44, 44, 44, 43, 42, 36, 34, 31, 28, 27, 26, 25, 24, 23, 23, 22, 22, 21)
"""Phred quality of an indel before a homopolymer of 1, 2, … 18 bases, by length; longer ones have 0. Source:
Albers et al., "Dindel", Genome Res. 21 (2011), and LoFreq's `indelqual --dindel`."""


def indel_qualities(reference: NDArray[np.uint8], begin: int, end: int, longer: int = 0) -> NDArray[np.uint8]:
    """Return the quality of an indel after each position, uint8, (positions,).

    It follows from the homopolymer that begins at the next position; inside of one, the length counts as 1.
    The last position of the contig has 0.

    Args:
        reference: uint8, bases of the whole contig, by number.
        begin, end: the positions, from 0, without `end`.
        longer: quality before homopolymers that are longer than those of `DINDEL`.
    """
    longest = len(DINDEL)  # the length of all that are longer than the table
    number = end - begin
    bases = np.full(number + longest + 1, 255, dtype=np.uint8)  # 255: beyond the contig
    there = reference[begin : begin + len(bases)]
    bases[: len(there)] = there
    following = bases[1 : number + 1]
    length = (following != 255).astype(np.int64)
    goes_on = (following != bases[:number]) & (following != 255)
    for step in range(1, longest):
        goes_on = goes_on & (bases[1 + step : 1 + step + number] == following)
        length += goes_on
    quality: NDArray[np.uint8] = np.array((*DINDEL, longer), dtype=np.uint8)[length]
    return quality


def homopolymer_length(reference: NDArray[np.uint8], position: int) -> int:
    """Return the length of the homopolymer at the next position, as LoFreq reports it (HRUN).

    Bases on the left that are the same count, too: those of a gap that is not aligned as far to the left as
    possible.

    Args:
        reference: uint8, bases of the whole contig, by number.
        position: position of the base before the gap, from 0.
    """
    first = position + 1
    if first >= len(reference):
        return 1
    end, begin = first + 1, position
    while end < len(reference) and reference[end] == reference[first]:
        end += 1
    while begin >= 0 and reference[begin] == reference[first]:
        begin -= 1
    return end - begin - 1
