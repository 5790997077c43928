"""The kernel that takes reads from records of BAM. Source of the format: SAM/BAM specification, section
4.2."""

import numpy as np

from syclade.kernels.pileup.arguments import (
    BEYOND,
    DAMAGED,
    FIELDS,
    LIMITS,
    NO_QUALITIES,
    OTHER_CONTIG,
    OUTCOME,
    UNSORTED,
    WRONG_CIGAR,
)
from syclade.kernels.pileup.geometry import extent_of, window_of
from syclade.kernels.pileup.numbers import four_bytes, signed, two_bytes
from syclade.kernels.target import device_function

_0, _1, _2, _4 = np.int64(0), np.int64(1), np.int64(2), np.int64(4)
FIXED = np.int64(32)
"""Bytes of a record before its name, without its size."""
WIDTH = np.int64(len(FIELDS))
UNMAPPED, SECONDARY, FAILED, DUPLICATE = 0x4, 0x100, 0x200, 0x400
LEFT_OUT = np.int64(UNMAPPED | SECONDARY | FAILED | DUPLICATE)
PAIRED, PROPER, REVERSE = np.int64(0x1), np.int64(0x2), np.int64(0x10)
P_DAMAGED, P_OTHER, P_UNSORTED = np.int64(DAMAGED), np.int64(OTHER_CONTIG), np.int64(UNSORTED)
NO_QUALITY = np.uint8(255)

(
    BYTES,
    CONTIG,
    CONTIG_LENGTH,
    STOP,
    LEAST,
    MOST,
    ORPHANS,
    AS_LOFREQ,
    READS,
    LETTERS,
    WIDEST,
    PREVIOUS,
    ILLUMINA,
) = (np.int64(at) for at in range(len(LIMITS)))
(CONSUMED, TAKEN, USED, PROBLEM, PLACE, STOPPED, LAST, EMPTY, SEEN, UNALIGNED) = (
    np.int64(at) for at in range(len(OUTCOME))
)


@device_function
def base_of(code):
    """Return the base of a 4-bit code: 0 to 3, or 4."""
    if code == np.int64(1):
        return np.uint8(0)
    if code == np.int64(2):
        return np.uint8(1)
    if code == np.int64(4):
        return np.uint8(2)
    return np.uint8(3) if code == np.int64(8) else np.uint8(4)


@device_function
def is_wanted(limits, flag, mapping):
    """Return whether a read counts."""
    if flag & LEFT_OUT != _0:
        return False
    if mapping < limits[LEAST]:
        return False
    if mapping > limits[MOST] and limits[AS_LOFREQ] == _1:
        return True
    return limits[ORPHANS] == _1 or flag & PAIRED == _0 or flag & PROPER != _0


@device_function
def unpack(
    given,  # IN OUT arrays
    sequence,  # IN int64, index in `raw`
    length,  # IN int64
    to,  # IN int64, index in `bases`
):
    """Write the bases and qualities of a read; return whether it has qualities."""
    for at in range(length):
        pair = np.int64(given.raw[sequence + (at >> _1)])
        code = pair & np.int64(15) if at & _1 else pair >> _4
        given.bases[to + at] = base_of(code)
    qualities = sequence + ((length + _1) >> _1)
    if given.raw[qualities] == NO_QUALITY:
        return False
    lower = given.limits[ILLUMINA]
    for at in range(length):
        given.qualities[to + at] = np.uint8(max(np.int64(given.raw[qualities + at]) - lower, _0))
    return True


@device_function
def take(
    given,  # IN OUT arrays
    at,  # IN int64, index in `raw`
    size,  # IN int64
    flag,  # IN int64
    mapping,  # IN int64
):
    """Take the read of a record; return its problem, or 0."""
    raw, limits, outcome = given.raw, given.limits, given.outcome
    position, length = signed(raw, at + np.int64(8)), four_bytes(raw, at + np.int64(20))
    operations = two_bytes(raw, at + np.int64(16))
    cigar = at + _4 + FIXED + np.int64(raw[at + np.int64(12)])
    sequence = cigar + _4 * operations
    extent = extent_of(raw, cigar, operations, position)
    if extent.length != length:
        return np.int64(WRONG_CIGAR)
    if extent.end > limits[CONTIG_LENGTH]:
        return np.int64(BEYOND)
    to = outcome[USED]
    if not unpack(given, sequence, length, to):
        return np.int64(NO_QUALITIES)
    field = outcome[TAKEN] * WIDTH
    given.fields[field] = position
    given.fields[field + _1] = extent.end
    given.fields[field + _2] = _1 if flag & REVERSE != _0 else _0
    given.fields[field + np.int64(3)] = min(mapping, limits[MOST])
    given.fields[field + _4] = operations
    given.fields[field + np.int64(5)] = cigar
    given.fields[field + np.int64(6)] = to
    given.fields[field + np.int64(7)] = length
    window = window_of(extent, length, limits[CONTIG_LENGTH])
    aligned = extent.first_base >= _0 and window.length > _0 and window.band <= limits[WIDEST]
    if extent.skips == _1 and limits[AS_LOFREQ] == _0:
        aligned = False  # a skip is no deletion, which the model would find impossible
    given.fields[field + np.int64(8)] = window.begin
    given.fields[field + np.int64(9)] = window.length if aligned else _0
    given.fields[field + np.int64(10)] = window.band
    given.fields[field + np.int64(11)] = at
    given.fields[field + np.int64(12)] = size
    outcome[UNALIGNED] += _0 if aligned else _1
    outcome[TAKEN] += _1
    outcome[USED] = to + length
    return _0


@device_function
def is_damaged(raw, at, size):
    """Return whether the parts of a record do not fit in its size."""
    if size < FIXED:
        return True
    length = signed(raw, at + np.int64(20))
    if length < _0:
        return True
    parts = np.int64(raw[at + np.int64(12)]) + _4 * two_bytes(raw, at + np.int64(16))
    return FIXED + parts + ((length + _1) >> _1) + length > size


def make_records(**_others: int):
    """Return the kernel: it takes whole records until space, bytes or the region end."""

    @device_function
    def records(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `RECORDS`
    ):
        """Take reads from the raw bytes."""
        raw, limits, outcome = given.raw, given.limits, given.outcome
        for number in range(np.int64(len(OUTCOME))):
            outcome[number] = _0
        outcome[LAST] = limits[PREVIOUS]
        at = _0
        while at + _4 <= limits[BYTES]:
            size = four_bytes(raw, at)
            if at + _4 + size > limits[BYTES]:
                break
            problem = _0
            if is_damaged(raw, at, size):
                problem = P_DAMAGED
            elif signed(raw, at + _4) != limits[CONTIG]:
                problem = P_OTHER
            elif signed(raw, at + np.int64(8)) < outcome[LAST]:
                problem = P_UNSORTED
            elif signed(raw, at + np.int64(8)) >= limits[STOP]:
                outcome[STOPPED] = _1
                break
            else:
                length = four_bytes(raw, at + np.int64(20))
                if outcome[TAKEN] == limits[READS] or outcome[USED] + length > limits[LETTERS]:
                    break
                flag, mapping = two_bytes(raw, at + np.int64(18)), np.int64(raw[at + np.int64(13)])
                if is_wanted(limits, flag, mapping):
                    if length == _0:
                        outcome[EMPTY] += _1
                    else:
                        problem = take(given, at, size + _4, flag, mapping)
                outcome[LAST] = signed(raw, at + np.int64(8))
            if problem != _0:
                outcome[PROBLEM] = problem
                outcome[PLACE] = at
                break
            outcome[SEEN] += _1
            at += size + _4
        outcome[CONSUMED] = at

    return records
