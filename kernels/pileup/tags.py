"""The kernel that finds stored qualities in the tags of reads. Source of the format: SAM/BAM specification,
section 4.2.4."""

import numpy as np

from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.pileup.numbers import four_bytes, two_bytes
from syclade.kernels.pileup.tag_arguments import NO_TAG, TAGS, WRONG_TAG
from syclade.kernels.target import device_function

_0, _1, _2, _3, _4, _6 = (np.int64(number) for number in (0, 1, 2, 3, 4, 6))
FIELDS_64, TAGS_64 = np.int64(len(FIELDS)), np.int64(len(TAGS))
OPERATIONS, CIGAR, LENGTH, RECORD, SIZE = (
    np.int64(FIELDS.index(name)) for name in ("operations", "cigar", "length", "record", "size")
)
BI, BD, AI, AD, LB = (np.int64(ord(name[0]) | ord(name[1]) << 8) for name in TAGS)
TEXT, HEXADECIMAL, ARRAY = np.int64(ord("Z")), np.int64(ord("H")), np.int64(ord("B"))
LETTER, INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT = (np.int64(ord(kind)) for kind in "AcCsSiIf")
NONE, WRONG = np.int64(NO_TAG), np.int64(WRONG_TAG)


@device_function
def tag_number(name):
    """Return the number of a tag in `TAGS`, or -1."""
    if name == BI:
        return _0
    if name == BD:
        return _1
    if name == AI:
        return _2
    if name == AD:
        return _3
    return _4 if name == LB else -_1


@device_function
def size_of(kind):
    """Return the number of bytes of a number of a type; 0 for any other type."""
    if kind == LETTER or kind == INT8 or kind == UINT8:
        return _1
    if kind == INT16 or kind == UINT16:
        return _2
    if kind == INT32 or kind == UINT32 or kind == FLOAT:
        return _4
    return _0


@device_function
def end_of(
    raw,  # IN uint8
    at,  # IN int64, index of the type
    end,  # IN int64, end of the record
):
    """Return the index after a tag's value, or -1 if the type is not known or the value has no end."""
    kind = np.int64(raw[at])
    if kind == TEXT or kind == HEXADECIMAL:
        after = at + _1
        while after < end and raw[after] != np.uint8(0):
            after += _1
        return after + _1 if after < end else -_1
    if kind == ARRAY:
        if at + _6 > end:
            return -_1
        size = size_of(np.int64(raw[at + _1]))
        return at + _6 + size * four_bytes(raw, at + _2) if size > _0 else -_1
    size = size_of(kind)
    return at + _1 + size if size > _0 else -_1


@device_function
def find_tags(
    given,  # IN OUT arrays
    read,  # IN int64
):
    """Store where the tags of a read are; return whether they end where the record does."""
    raw, field = given.raw, read * FIELDS_64
    length, record = given.fields[field + LENGTH], given.fields[field + RECORD]
    end = record + given.fields[field + SIZE]
    at = given.fields[field + CIGAR] + _4 * given.fields[field + OPERATIONS] + ((length + _1) >> _1) + length
    for number in range(TAGS_64):
        given.tags[read * TAGS_64 + number] = NONE
    while at + _3 <= end:
        number = tag_number(two_bytes(raw, at))
        after = end_of(raw, at + _2, end)
        if after < _0 or after > end:
            return False
        if number >= _0 and np.int64(raw[at + _2]) == TEXT:
            fits = after - at == length + _4
            given.tags[read * TAGS_64 + number] = at + _3 if fits else WRONG
        at = after
    return at == end


def make_tags(**_others: int):
    """Return the kernel: it stops at the first read with damaged tags."""

    @device_function
    def tags(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `TAG_ARGUMENTS`
    ):
        """Find the tags of all reads."""
        given.found[_0] = _0
        for read in range(given.reads[_0]):
            if not find_tags(given, read):
                given.found[_0] = _1
                given.found[_1] = read
                break

    return tags
