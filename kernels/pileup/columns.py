"""The kernel that counts bases by column, base, strand, mapping, base and alignment quality."""

import numpy as np

from syclade.kernels.pileup.alignment import align_run, capped
from syclade.kernels.pileup.arguments import FIELDS, LARGEST_QUALITY, NO_ALIGNMENT, RULES
from syclade.kernels.pileup.geometry import CLIP, DELETION, INSERTION, SKIP, matches
from syclade.kernels.pileup.numbers import four_bytes
from syclade.kernels.target import device_function

_0, _1, _2, _4, _15 = (np.int64(number) for number in (0, 1, 2, 4, 15))
_7, _14, _22 = np.int64(7), np.int64(14), np.int64(22)
MULTIPLIER, MASK = np.int64(0x9E3779B1), np.int64(0xFFFFFFFF)
WIDTH, BASES = np.int64(len(FIELDS)), np.int64(5)
NONE, LARGEST = np.int64(NO_ALIGNMENT), np.int64(LARGEST_QUALITY)
(FIRST, READS, BEGIN, NUMBER, STRIDE, LEAST, DEEPEST, ALIGNED, EXTENDED, SKIPPED) = (
    np.int64(at) for at in range(len(RULES))
)


@device_function
def place_of(
    table,  # IN OUT uint32
    start,  # IN int64, first place of the column
    key,  # IN int64
    stride,  # IN int64
):
    """Return where a column's key is in the table, or the empty place for it.

    Open addressing with linear probing; at most three quarters of the places are filled.
    """
    place = (((key * MULTIPLIER) & MASK) >> np.int64(12)) & (stride - _1)
    wanted = np.uint32(key + _1)
    at = (start + place) * _2
    while table[at] != wanted and table[at] != np.uint32(0):
        place = (place + _1) & (stride - _1)
        at = (start + place) * _2
    return at


@device_function
def count(
    given,  # IN OUT arrays
    column,  # IN int64
    key,  # IN int64
    stride,  # IN int64
):
    """Add one to a key of a column; return whether the column has no more space for new keys."""
    at = place_of(given.table, column * stride, key, stride)
    full = False
    if given.table[at] == np.uint32(0):
        given.table[at] = np.uint32(key + _1)
        given.filled[column] += np.int32(1)
        full = np.int64(given.filled[column]) * _4 >= stride * np.int64(3)
    given.table[at + _1] += np.uint32(1)
    return full


@device_function
def count_run(
    given,  # IN OUT arrays
    read,  # IN int64, index in `fields`
    base,  # IN int64, number in the read
    column,  # IN int64
    length,  # IN int64
    rules,  # IN int64
):
    """Count a run of matches from a column on; return whether a column is full."""
    letters = given.fields[read + np.int64(6)]
    reverse = given.fields[read + _2]
    mapping = given.fields[read + np.int64(3)] << _14
    is_aligned = rules[ALIGNED] != _0 and given.fields[read + np.int64(9)] != _0
    begin, end = max(_0, -column), min(length, rules[NUMBER] - column)
    full = False
    for step in range(begin, end):
        here, at = column + step, letters + base + step
        if np.int64(given.depth[here]) >= rules[DEEPEST]:
            continue
        given.depth[here] += np.int32(1)
        quality = np.int64(given.qualities[at])
        if quality < rules[LEAST]:
            continue
        letter = np.int64(given.bases[at])
        given.strands[(here * BASES + letter) * _2 + reverse] += np.int32(1)
        if letter > np.int64(3):
            continue
        alignment = np.int64(capped(given.aligned[base + step])) if is_aligned else NONE
        key = ((letter << _1) | reverse) << _22 | mapping | min(quality, LARGEST) << _7 | alignment
        if count(given, here, key, rules[STRIDE]):
            full = True
    return full


@device_function
def pass_over(
    given,  # IN OUT arrays
    column,  # IN int64
    length,  # IN int64
    rules,  # IN int64
):
    """Count a deletion in the depth of its columns."""
    for here in range(max(_0, column), min(column + length, rules[NUMBER])):
        if np.int64(given.depth[here]) < rules[DEEPEST]:
            given.depth[here] += np.int32(1)


@device_function
def count_read(given, read, rules):
    """Count one read; return whether a column is full."""
    place, base, full = given.fields[read], _0, False
    window, letters = given.fields[read + np.int64(8)], given.fields[read + np.int64(6)]
    cigar = given.fields[read + np.int64(5)]
    is_aligned = rules[ALIGNED] != _0 and given.fields[read + np.int64(9)] != _0
    for number in range(given.fields[read + _4]):
        code = four_bytes(given.raw, cigar + number * _4)
        operation, length = code & _15, code >> _4
        if matches(operation):
            if is_aligned:
                align_run(given, letters, base, place - window, length, rules[EXTENDED] != _0)
            if count_run(given, read, base, place - rules[BEGIN], length, rules):
                full = True
            place += length
            base += length
        elif operation == INSERTION or operation == CLIP:
            base += length
        elif operation == DELETION or operation == SKIP:
            if operation == DELETION or rules[SKIPPED] != _0:
                pass_over(given, place - rules[BEGIN], length, rules)
            place += length
    return full


def make_columns(**_others: int):
    """Return the kernel: it counts reads in order, and stops after one that leaves a column full."""

    @device_function
    def columns(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `COLUMNS`
    ):
        """Count reads from `first` on."""
        rules = given.rules
        number = rules[FIRST]
        while number < rules[READS]:
            full = count_read(given, number * WIDTH, rules)
            number += _1
            if full:
                break
        given.next[_0] = number

    return columns
