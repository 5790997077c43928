"""The kernel that takes base alignment qualities from the reads that have them stored (tag lb)."""

import numpy as np

from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.pileup.geometry import CLIP, DELETION, INSERTION, SKIP, matches
from syclade.kernels.pileup.numbers import four_bytes
from syclade.kernels.pileup.tag_arguments import TAGS
from syclade.kernels.target import device_function

_0, _2, _4, _15 = (np.int64(number) for number in (0, 2, 4, 15))
FIELDS_64, TAGS_64 = np.int64(len(FIELDS)), np.int64(len(TAGS))
POSITION, OPERATIONS, CIGAR, LETTERS, WINDOW = (
    np.int64(FIELDS.index(name)) for name in ("position", "operations", "cigar", "letters", "window")
)
LB, FIRST_LETTER = np.int64(TAGS.index("lb")), np.int64(ord("!"))


@device_function
def take_stored(
    given,  # IN OUT arrays
    read,  # IN int64
    tag,  # IN int64, index of its letters in `raw`
):
    """Write states and qualities of a read: each base is where the CIGAR says, with the stored quality."""
    field = read * FIELDS_64
    letters, cigar = given.fields[field + LETTERS], given.fields[field + CIGAR]
    place, base = given.fields[field + POSITION] - given.fields[field + WINDOW], _0
    for number in range(given.fields[field + OPERATIONS]):
        code = four_bytes(given.raw, cigar + number * _4)
        operation, length = code & _15, code >> _4
        if matches(operation):
            for step in range(length):
                quality = np.int64(given.raw[tag + base + step]) - FIRST_LETTER
                given.states[letters + base + step] = np.int32((place + step) << _2)
                given.confidence[letters + base + step] = np.uint8(max(quality, _0))
            place += length
            base += length
        elif operation == INSERTION or operation == CLIP:
            base += length
        elif operation == DELETION or operation == SKIP:
            place += length


def make_stored(**_others: int):
    """Return the kernel."""

    @device_function
    def stored(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `STORED`
    ):
        """Take the stored qualities of all reads that have some."""
        for read in range(given.reads[_0]):
            tag = given.tags[read * TAGS_64 + LB]
            if tag >= _0:
                take_stored(given, read, tag)

    return stored
