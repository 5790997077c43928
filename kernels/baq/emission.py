"""Probabilities of the bases of one row: of one base of each read, given each place of its window."""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import device_function

INSERTED = 0.25
"""Probability of any base in an insertion."""

BASE, MATCH, MISMATCH, SUM, BEST, STATE, ALL = (np.int64(number) for number in range(7))
"""Lines of `Layout.spare`."""

_0, _1 = np.int64(0), np.int64(1)
LAST_BASE = 3.0
UNKNOWN = np.uint8(3)


class Letter(NamedTuple):
    """Base of one row, of each read: its number, and its probabilities."""

    base: Any
    match: Any
    mismatch: Any


def make_emission(reals, layout):
    """Return device functions: prepare a row's base, return it, and return its probability at a place."""
    members, spare = layout.members, layout.spare
    read, read_bytes, if_equal, if_greater = reals.read, reals.read_bytes, reals.if_equal, reals.if_greater

    @device_function
    def prepare(block, i):
        """Store base i of each read, counted from 1, and its probabilities; any base has 1 if it is
        unknown."""
        given, here = block.given, block.here
        for member in range(here.first, here.end):
            at = here.letters + given.reads[here.block + member] + i - _1
            base, quality = given.bases[at], given.qualities[at]
            line = here.rows + spare + member
            given.rows[line + BASE * members] = np.float64(base)
            match, mismatch = given.match[quality], given.mismatch[quality]
            given.rows[line + MATCH * members] = 1.0 if base > UNKNOWN else match
            given.rows[line + MISMATCH * members] = 1.0 if base > UNKNOWN else mismatch

    @device_function
    def letter(
        block,  # IN OUT Block
    ):
        """Return the prepared base of each read, its probability where the window agrees, and where it does
        not."""
        given, here = block.given, block.here
        line = here.rows + spare + here.first
        return Letter(
            read(given.rows, line + BASE * members),
            read(given.rows, line + MATCH * members),
            read(given.rows, line + MISMATCH * members),
        )

    @device_function
    def emission(
        block,  # IN OUT Block
        place,  # IN int64, from 1
        letter,  # IN Letter
    ):
        """Return the probability of a prepared base at a place of the window, from 1."""
        given, here = block.given, block.here
        there = read_bytes(given.window_letters, here.window + place * members + here.first)
        return if_greater(there, LAST_BASE, 1.0, if_equal(there, letter.base, letter.match, letter.mismatch))

    return prepare, letter, emission


@device_function
def copy_windows(block, members):
    """Copy the windows of the block's reads, side by side."""
    given, here = block.given, block.here
    for member in range(here.first, here.end):
        at = here.positions + given.windows[here.block + member]
        to = here.window + member
        for place in range(here.reference):
            given.window_letters[to + (place + _1) * members] = given.reference[at + place]
