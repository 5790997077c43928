"""The kernel that counts reads by column, indel qualities, mapping quality and strand, and lists gaps.

A read has an indel after the last base before a gap. Every other base, and every deleted position, counts as
a read without one. The qualities of a deleted position are those of the base after the deletion.
"""

import numpy as np

from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.pileup.columns import count
from syclade.kernels.pileup.gaps import align_gap, gap_after, quality_after
from syclade.kernels.pileup.geometry import CLIP, DELETION, INSERTION, SKIP, matches
from syclade.kernels.pileup.indel_arguments import GAP, INDEL_RULES, LONGEST_ALIGNED
from syclade.kernels.pileup.numbers import four_bytes
from syclade.kernels.pileup.tag_arguments import TAGS
from syclade.kernels.target import device_function

_0, _1, _2, _4, _15, _16 = (np.int64(number) for number in (0, 1, 2, 4, 15, 16))
FIELDS_64, GAP_64, LONGEST = np.int64(len(FIELDS)), np.int64(len(GAP)), np.int64(LONGEST_ALIGNED)
POSITION, END, REVERSE, MAPPING, OPERATIONS, CIGAR, LETTERS = (
    np.int64(FIELDS.index(name))
    for name in ("position", "end", "reverse", "mapping", "operations", "cigar", "letters")
)
(FIRST, READS, BEGIN, NUMBER, STRIDE, DEEPEST, SKIPPED, ORIGIN, _COMPUTED, _ALIGNED, AS_LOFREQ, LEAST) = (
    np.int64(at) for at in range(len(INDEL_RULES))
)
BI, BD = np.int64(TAGS.index("BI")), np.int64(TAGS.index("BD"))


@device_function
def is_deep(
    given,  # IN OUT arrays
    column,  # IN int64
):
    """Count a read in the depth of a column; return whether the column takes no more reads."""
    if np.int64(given.depth[column]) >= given.rules[DEEPEST]:
        return True
    given.depth[column] += np.int32(1)
    return False


@device_function
def add_read(
    given,  # IN OUT arrays
    read,  # IN int64
    column,  # IN int64
    insertion,  # IN int64
    deletion,  # IN int64
):
    """Count a read without an indel; return whether the column is full."""
    field, least = read * FIELDS_64, given.rules[LEAST]
    if insertion < least or deletion < least:
        return False
    key = insertion << _16 | deletion << np.int64(9) | given.fields[field + MAPPING] << _1
    return count(given, column, key | given.fields[field + REVERSE], given.rules[STRIDE])


@device_function
def add_gap(
    given,  # IN OUT arrays
    read,  # IN int64
    column,  # IN int64
    length,  # IN int64, negative for a deletion
    base,  # IN int64, first inserted base, number in the read
    insertion,  # IN int64
    deletion,  # IN int64
):
    """List a gap; return whether its qualities suffice."""
    if insertion < given.rules[LEAST] or deletion < given.rules[LEAST]:
        return False
    field, at = read * FIELDS_64, given.next[_1] * GAP_64
    given.gaps[at] = read
    given.gaps[at + _1] = column
    given.gaps[at + _2] = length
    given.gaps[at + np.int64(3)] = given.fields[field + LETTERS] + base
    given.gaps[at + _4] = insertion
    given.gaps[at + np.int64(5)] = deletion
    given.gaps[at + np.int64(6)] = given.fields[field + MAPPING]
    given.gaps[at + np.int64(7)] = given.fields[field + REVERSE]
    given.next[_1] += _1
    return True


@device_function
def count_matches(
    given,  # IN OUT arrays
    read,  # IN int64
    base,  # IN int64, number in the read
    place,  # IN int64, position
    length,  # IN int64
    gap,  # IN int64, that after the run, or 0
):
    """Count a run of matches; return 2 if its gap was listed, plus 1 if a column is full."""
    rules, found = given.rules, _0
    last = given.fields[read * FIELDS_64 + END] - _1
    begin, end = max(_0, rules[BEGIN] - place), min(length, rules[BEGIN] + rules[NUMBER] - place)
    for step in range(begin, end):
        column = place + step - rules[BEGIN]
        if is_deep(given, column):
            continue
        if place + step == last:
            given.tails[column] += np.int32(1)
        default = np.int64(given.by_position[place + step - rules[ORIGIN]])
        insertion = quality_after(given, read, BI, base + step, default)
        deletion = quality_after(given, read, BD, base + step, default)
        if gap != _0 and step == length - _1:
            if add_gap(given, read, column, gap, base + length, insertion, deletion):
                found |= _2
        elif add_read(given, read, column, insertion, deletion):
            found |= _1
    return found


@device_function
def count_deleted(
    given,  # IN OUT arrays
    read,  # IN int64
    base,  # IN int64, number of the base after the deletion
    place,  # IN int64, position
    length,  # IN int64
    gap,  # IN int64, insertion after the deletion, or 0
    default,  # IN int64, quality without a stored one
):
    """Count deleted positions; return 2 if the insertion was listed, plus 1 if a column is full."""
    rules, found = given.rules, _0
    begin, end = max(_0, rules[BEGIN] - place), min(length, rules[BEGIN] + rules[NUMBER] - place)
    insertion = quality_after(given, read, BI, base, default)
    deletion = quality_after(given, read, BD, base, default)
    for step in range(begin, end):
        column = place + step - rules[BEGIN]
        if is_deep(given, column):
            continue
        if gap > _0 and step == length - _1:
            # LoFreq takes the inserted bases from one base later on
            if add_gap(given, read, column, gap, base + rules[AS_LOFREQ], insertion, deletion):
                found |= _2
        elif add_read(given, read, column, insertion, deletion):
            found |= _1
    return found


@device_function
def default_after(
    given,  # IN OUT arrays
    read,  # IN int64
    number,  # IN int64, of a deletion
    place,  # IN int64, position after it
):
    """Return the quality of the base after a deletion: 0 if it is inserted or clipped."""
    field = read * FIELDS_64
    if number + _1 >= given.fields[field + OPERATIONS]:
        return _0
    code = four_bytes(given.raw, given.fields[field + CIGAR] + (number + _1) * _4)
    return np.int64(given.by_position[place - given.rules[ORIGIN]]) if matches(code & _15) else _0


@device_function
def count_read(
    given,  # IN OUT arrays
    read,  # IN int64
):
    """Count one read; return whether a column is full."""
    field, rules, full = read * FIELDS_64, given.rules, False
    place, base = given.fields[field + POSITION], _0
    as_lofreq = rules[AS_LOFREQ] != _0
    theirs, is_lost = place, False  # LoFreq does not advance over some gaps, and loses the later ones
    for number in range(given.fields[field + OPERATIONS]):
        code = four_bytes(given.raw, given.fields[field + CIGAR] + number * _4)
        operation, length = code & _15, code >> _4
        gap, found, first = gap_after(given, read, number), _0, given.next[_1] * GAP_64
        is_passed = as_lofreq and (length > LONGEST or base == _0)
        is_match, stored = matches(operation), base
        if is_match:
            found = count_matches(given, read, base, place, length, gap)
            place += length
            theirs += length
            base += length
            stored = base - _1
        elif operation == INSERTION:
            is_lost = is_lost or is_passed
            base += length
        elif operation == CLIP:
            base += length
        elif operation == DELETION or operation == SKIP:
            place += length
            theirs += _0 if is_passed or operation == SKIP else length
            if operation == DELETION or rules[SKIPPED] != _0:
                default = default_after(given, read, number, place)
                found = count_deleted(given, read, base, place - length, length, gap, default)
        if found & _2 != _0:
            at = theirs if as_lofreq else place
            align_gap(given, read, first, gap, base, at, stored, is_match and not is_lost)
        if found & _1 != _0:
            full = True
    return full


def make_indels(**_others: int):
    """Return the kernel: it counts reads in order, and stops after one that leaves a column full."""

    @device_function
    def indels(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `INDEL_ARGUMENTS`
    ):
        """Count reads from `first` on."""
        rules = given.rules
        number = rules[FIRST]
        given.next[_1] = _0
        while number < rules[READS]:
            full = count_read(given, number)
            number += _1
            if full:
                break
        given.next[_0] = number

    return indels
