"""Gaps of a read: their qualities, and the equivalent gaps whose probabilities count as that of one.

Where a gap is in a repeat, it can be moved without changing the sequence of the read. All of these gaps are
on one diagonal of the alignment: as many bases as places later. Source: LoFreq's behaviour.
"""

import numpy as np

from syclade.kernels.pileup.arguments import FIELDS, LARGEST_QUALITY
from syclade.kernels.pileup.geometry import DELETION, INSERTION
from syclade.kernels.pileup.indel_arguments import (
    GAP,
    INDEL_RULES,
    LONGEST_ALIGNED,
    NO_GAP_ALIGNMENT,
    TO_COMPUTE,
)
from syclade.kernels.pileup.numbers import four_bytes
from syclade.kernels.pileup.tag_arguments import TAGS
from syclade.kernels.target import device_function

_0, _1, _4, _15 = (np.int64(number) for number in (0, 1, 4, 15))
FIELDS_64, TAGS_64 = np.int64(len(FIELDS)), np.int64(len(TAGS))
OPERATIONS, CIGAR, LETTERS, LENGTH, WINDOW, PLACES, BAND = (
    np.int64(FIELDS.index(name))
    for name in ("operations", "cigar", "letters", "length", "window", "reference", "band")
)
ALIGNED, AS_LOFREQ, COMPUTED = (
    np.int64(INDEL_RULES.index(name)) for name in ("aligned", "as_lofreq", "computed")
)
G_ALIGNMENT, G_ROW, G_PLACE, G_CELLS = (
    np.int64(GAP.index(name)) for name in ("alignment", "row", "place", "cells")
)
OF_INSERTION, OF_DELETION = np.int64(TAGS.index("ai")), np.int64(TAGS.index("ad"))
FIRST_LETTER, LARGEST = np.int64(ord("!")), np.int64(LARGEST_QUALITY)
LONGEST, NONE, COMPUTE = np.int64(LONGEST_ALIGNED), np.int64(NO_GAP_ALIGNMENT), np.int64(TO_COMPUTE)


@device_function
def stored_quality(raw, tag, base):
    """Return the quality that a tag stores for a base."""
    return min(max(np.int64(raw[tag + base]) - FIRST_LETTER, _0), LARGEST)


@device_function
def quality_after(
    given,  # IN OUT arrays
    read,  # IN int64
    tag,  # IN int64, number in `TAGS`
    base,  # IN int64, number in the read
    default,  # IN int64
):
    """Return the quality of an indel after a base: the stored one, or else a default."""
    if base >= given.fields[read * FIELDS_64 + LENGTH]:
        return _0
    at = given.tags[read * TAGS_64 + tag]
    if at >= _0:
        return stored_quality(given.raw, at, base)
    return default if given.rules[COMPUTED] != _0 else _0


@device_function
def gap_after(
    given,  # IN OUT arrays
    read,  # IN int64
    number,  # IN int64, of a CIGAR operation
):
    """Return the length of the insertion, or minus that of the deletion, after an operation; 0 for any other
    one."""
    field = read * FIELDS_64
    if number + _1 >= given.fields[field + OPERATIONS]:
        return _0
    code = four_bytes(given.raw, given.fields[field + CIGAR] + (number + _1) * _4)
    operation, length = code & _15, code >> _4
    if operation == INSERTION:
        return length
    return -length if operation == DELETION else _0


@device_function
def has_short_gap(
    given,  # IN OUT arrays
    read,  # IN int64
    wanted,  # IN int64, INSERTION or DELETION
):
    """Return whether a read has a gap of a kind that LoFreq aligns."""
    field, base = read * FIELDS_64, _0
    for number in range(given.fields[field + OPERATIONS]):
        code = four_bytes(given.raw, given.fields[field + CIGAR] + number * _4)
        operation, length = code & _15, code >> _4
        if operation == wanted and length <= LONGEST and (base > _0 or wanted == INSERTION):
            return True
        if operation != DELETION:
            base += length
    return False


@device_function
def equivalent_deletions(
    given,  # IN OUT arrays
    end,  # IN int64, end of the read's window
    place,  # IN int64, first deleted position
    length,  # IN int64
):
    """Return by how many places a deletion can move to the right."""
    at = place + length
    while at < end and given.reference[at] == given.reference[at - length]:
        at += _1
    return at - place - length


@device_function
def equivalent_insertions(
    given,  # IN OUT arrays
    end,  # IN int64, end of the read's window
    place,  # IN int64, position after the insertion
    base,  # IN int64, first inserted base, index in `bases`
    length,  # IN int64
):
    """Return by how many places an insertion can move to the right."""
    shift = _0
    while place + shift < end and given.reference[place + shift] == given.bases[base + shift % length]:
        shift += _1
    return shift


@device_function
def place_gap(
    given,  # IN OUT arrays
    read,  # IN int64
    gap,  # IN int64, first number of the gap in `gaps`
    length,  # IN int64, negative for a deletion
    base,  # IN int64, bases of the read before the gap
    place,  # IN int64, position after the base before the gap
):
    """Store the diagonal of a gap and its equivalents, without cells outside of the band or the window."""
    field = read * FIELDS_64
    window, places = given.fields[field + WINDOW], given.fields[field + PLACES]
    if length < _0:
        shift = equivalent_deletions(given, window + places, place, -length)
        row, there = base, place - window + _1
    else:
        first = given.fields[field + LETTERS] + base
        shift = equivalent_insertions(given, window + places, place, first, length)
        row, there = base + _1, place - window
    begin = max(_0, _1 - there)
    end = min(shift, min(given.fields[field + LENGTH] - row, places - there)) + _1
    inside = abs(there - row) <= given.fields[field + BAND]
    given.gaps[gap + G_ALIGNMENT] = COMPUTE
    given.gaps[gap + G_ROW] = row + begin
    given.gaps[gap + G_PLACE] = there + begin
    given.gaps[gap + G_CELLS] = max(end - begin, _0) if inside else _0


@device_function
def align_gap(
    given,  # IN OUT arrays
    read,  # IN int64
    gap,  # IN int64, first number of the gap in `gaps`
    length,  # IN int64, negative for a deletion
    base,  # IN int64, bases of the read before the gap
    place,  # IN int64, position after the base before the gap
    stored,  # IN int64, base whose stored quality is that of the gap
    is_placed,  # IN bool, whether the gap's place in the alignment is known
):
    """Store a gap's alignment quality, or where to compute it."""
    given.gaps[gap + G_ALIGNMENT] = NONE
    given.gaps[gap + G_CELLS] = _0
    if given.rules[ALIGNED] == _0:
        return
    at = given.tags[read * TAGS_64 + (OF_INSERTION if length > _0 else OF_DELETION)]
    if at >= _0:
        if stored < given.fields[read * FIELDS_64 + LENGTH]:
            given.gaps[gap + G_ALIGNMENT] = stored_quality(given.raw, at, stored)
    elif given.fields[read * FIELDS_64 + PLACES] == _0:
        return
    elif abs(length) > LONGEST:
        wanted = INSERTION if length > _0 else DELETION
        if given.rules[AS_LOFREQ] == _0 or has_short_gap(given, read, wanted):
            given.gaps[gap + G_ALIGNMENT] = LARGEST
    elif is_placed:
        place_gap(given, read, gap, length, base, place)
    else:
        given.gaps[gap + G_ALIGNMENT] = LARGEST
