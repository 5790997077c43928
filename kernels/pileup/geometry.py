"""Extent of a read on the reference, and the window and band of its base alignment quality.

Source of the window: samtools' and LoFreq's behaviour, found from their results.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.pileup.numbers import four_bytes
from syclade.kernels.target import device_function

_0, _1, _2, _3, _4, _15 = (np.int64(number) for number in (0, 1, 2, 3, 4, 15))
MATCH, INSERTION, DELETION, SKIP, CLIP, EQUAL, DIFFERENT = (np.int64(one) for one in (0, 1, 2, 3, 4, 7, 8))
"""Codes of CIGAR operations in BAM."""
BAND = np.int64(7)


class Extent(NamedTuple):
    """Meaning of a CIGAR.

    Attributes:
        end: position after the last one of the reference.
        length: bases that it uses.
        skips: whether it skips positions (N).
        first_base, last_base, first_place, last_place: first matching base and position, and after the last.
    """

    end: Any
    length: Any
    skips: Any
    first_base: Any
    last_base: Any
    first_place: Any
    last_place: Any


class Window(NamedTuple):
    """Where a read is aligned: first position, number of positions, and half width of the band."""

    begin: Any
    length: Any
    band: Any


@device_function
def matches(operation):
    """Return whether an operation pairs bases of read and reference."""
    return operation == MATCH or operation == EQUAL or operation == DIFFERENT


@device_function
def extent_of(
    raw,  # IN uint8
    cigar,  # IN int64, index in `raw`
    operations,  # IN int64
    position,  # IN int64
):
    """Return the `Extent` of a CIGAR that begins at a position."""
    place, base, skips = position, _0, _0
    first_base, last_base, first_place, last_place = -_1, -_1, -_1, -_1
    for number in range(operations):
        code = four_bytes(raw, cigar + number * _4)
        operation, length = code & _15, code >> _4
        if matches(operation):
            if first_base < _0:
                first_base, first_place = base, place
            place += length
            base += length
            last_base, last_place = base, place
        elif operation == INSERTION or operation == CLIP:
            base += length
        elif operation == DELETION:
            place += length
        elif operation == SKIP:
            place += length
            skips = _1
    return Extent(place, base, skips, first_base, last_base, first_place, last_place)


@device_function
def window_of(extent, length, contig_length):
    """Return the `Window` of a read: the matching part, and as much on both sides as its other bases may
    need."""
    difference = abs((extent.last_place - extent.first_place) - (extent.last_base - extent.first_base))
    band = difference + _3 if difference > BAND else BAND
    begin = max(extent.first_place - extent.first_base - band // _2, _0)
    end = extent.last_place + length - extent.last_base + band // _2
    if end - begin - length > band:
        begin += (end - begin - length - band) // _2
        end -= (end - begin - length - band) // _2
    end = min(end, contig_length)
    width = end - begin
    half = min(max(width, length), band)
    return Window(begin, width, max(half, abs(width - length)))
