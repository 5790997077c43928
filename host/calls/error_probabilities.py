"""Error probabilities: of a base, from its mapping, alignment and base quality, and of an indel.

With PM, PA and PB the error probabilities of mapping, alignment and base call, a base is wrong with
probability PJ = PM + (1 − PM) PA + (1 − PM)(1 − PA) PB. Source: Wilm et al., "LoFreq", Nucleic Acids Res. 40
(2012). The quality of an indel follows from the homopolymer beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.pileup.arguments import NO_ALIGNMENT

__all__ = [
    "DINDEL",
    "LEAST_ERROR",
    "UNKNOWN",
    "homopolymer_length",
    "indel_qualities",
    "joint_errors",
    "phred",
    "phred_to_error",
]


Integers = NDArray[np.integer[Any]]

UNMAPPABLE = 0.5
"""PM of mapping quality 0: one other place is as good."""

_ROUNDING = 1e-9
"""Errors of rounding of a Phred quality are smaller."""

UNKNOWN = 255
"""Quality of a mapping or a base that is unknown, and taken as certain."""

LEAST_ERROR = 2.0**-52
"""Least joint error probability, as in LoFreq: a base with unknown qualities only may still be wrong."""

_PHRED = np.array([10.0 ** (-quality / 10.0) for quality in range(256)])  # by the C library, as LoFreq


def _of_mapping() -> NDArray[np.float64]:
    table = _PHRED.copy()
    table[0], table[UNKNOWN] = UNMAPPABLE, 0.0
    return table


def _of_base() -> NDArray[np.float64]:
    table = _PHRED.copy()
    table[UNKNOWN] = 0.0
    return table


def _of_alignment() -> NDArray[np.float64]:
    table = _PHRED[:128].copy()
    table[NO_ALIGNMENT] = 0.0
    return table


_MAPPING, _ALIGNMENT, _BASE = _of_mapping(), _of_alignment(), _of_base()


def joint_errors(
    mapping: Integers,
    alignment: Integers,
    quality: Integers,
    *,
    use_mapping: bool,
) -> NDArray[np.float64]:
    """Return the joint error probability of each base, float64.

    Args:
        mapping: Phred mapping qualities; 255 is unknown.
        alignment: Phred alignment qualities; `NO_ALIGNMENT` is unknown.
        quality: Phred qualities of bases, or of indels; `UNKNOWN` is unknown.
        use_mapping: whether mapping qualities count.
    """
    pm = _MAPPING[mapping] if use_mapping else np.zeros(len(mapping))
    pa, pb = _ALIGNMENT[alignment], _BASE[quality]
    joint: NDArray[np.float64] = pm + (1 - pm) * pa + (1 - pm) * (1 - pa) * pb
    return np.maximum(joint, LEAST_ERROR)


def phred_to_error(quality: int) -> float:
    """Return the error probability of a Phred quality."""
    return float(_PHRED[quality])


def phred(probability: NDArray[np.float64], *, exact: bool) -> NDArray[np.int64]:
    """Return integer Phred qualities of probabilities, cut, not rounded.

    Args:
        probability: the probabilities, above 0.
        exact: whether to cut the logarithm of the float64 itself, as LoFreq does: 0.01 is a little above
            10^-2, so its quality is 19. Otherwise, such an error of rounding does not count.
    """
    if exact:
        cut: NDArray[np.int64] = (-10 * np.log10(probability.astype(np.longdouble))).astype(np.int64)
    else:
        cut = (-10.0 * np.log10(probability) + _ROUNDING).astype(np.int64)
    return cut


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
