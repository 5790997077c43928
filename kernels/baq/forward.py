"""The forward algorithm: probability of the first i bases, ending in each state of each place."""

import numpy as np

from syclade.kernels.baq.emission import INSERTED, copy_windows, make_emission
from syclade.kernels.target import device_function

_0, _1, _2 = np.int64(0), np.int64(1), np.int64(2)


def make_forward(reals, layout):
    """Return the device function that fills `matches`, `insertions` and `scales` of a block."""
    members, row, deletions = layout.members, layout.row, layout.forward
    read, write, every = reals.read, reals.write, reals.all
    prepare, letter, emission = make_emission(reals, layout)

    @device_function
    def first_row(block, chances):
        """Compute row 1, which has no deletions."""
        given, here = block.given, block.here
        last = min(here.reference, here.band + _1)
        to = here.cells + row + here.first + here.band * members
        deletions_to = here.rows + deletions + row + here.first + here.band * members
        inserted = INSERTED * chances.begin_to_i
        total, base = every(0.0), letter(block)
        for place in range(_1, last + _1):
            match = emission(block, place, base) * chances.begin_to_m
            write(given.matches, to + place * members, match)
            total = total + (match + inserted)
        for place in range(_1, last + _1):
            at = to + place * members
            write(given.matches, at, read(given.matches, at) / total)
            write(given.insertions, at, every(inserted) / total)
            write(given.rows, deletions_to + place * members, every(0.0))
        write(given.scales, here.scales + members + here.first, total)

    @device_function
    def next_row(
        block,  # IN OUT Block
        chances,  # IN Chances
        i,  # IN int64, from 1
    ):
        """Compute row i from the one before it."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = (here.band + _1 - i) * members + here.first
        here_row = here.cells + i * row + shift
        above = here_row - row
        old = here.rows + deletions + ((i - _1) & _1) * row + shift
        new = here.rows + deletions + (i & _1) * row + shift
        at = begin * members
        # The cell of the same diagonal in the row above has the same place in its row: one base, one place.
        total, left_match, left_deletion = every(0.0), every(0.0), every(0.0)
        above_match, above_insertion = read(given.matches, above + at), read(given.insertions, above + at)
        base = letter(block)
        for place in range(begin, end + _1):
            at = place * members
            match = emission(block, place, base) * (
                chances.m_to_m * above_match
                + chances.i_to_m * above_insertion
                + chances.d_to_m * read(given.rows, old + at)
            )
            above_match = read(given.matches, above + at + members)
            above_insertion = read(given.insertions, above + at + members)
            insertion = INSERTED * (chances.m_to_id * above_match + chances.i_to_i * above_insertion)
            deletion = chances.m_to_id * left_match + chances.d_to_d * left_deletion
            write(given.matches, here_row + at, match)
            write(given.insertions, here_row + at, insertion)
            write(given.rows, new + at, deletion)
            total = total + (match + insertion + deletion)
            left_match, left_deletion = match, deletion
        write(given.scales, here.scales + i * members + here.first, total)
        scale = 1.0 / total
        for place in range(begin, end + _1):
            at = place * members
            write(given.matches, here_row + at, read(given.matches, here_row + at) * scale)
            write(given.insertions, here_row + at, read(given.insertions, here_row + at) * scale)
            write(given.rows, new + at, read(given.rows, new + at) * scale)

    @device_function
    def clear(block, i):
        """Empty the cells of row i on both sides of the band, which its neighbours read."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift, zero = (here.band + _1 - i) * members + here.first, every(0.0)
        for place in range(begin - _1, end + _2, end - begin + _2):
            at = shift + place * members
            write(given.matches, here.cells + i * row + at, zero)
            write(given.insertions, here.cells + i * row + at, zero)
            write(given.rows, here.rows + deletions + (i & _1) * row + at, zero)

    @device_function
    def last_scale(block, chances):
        """Store the probability of the end after the last row."""
        given, here = block.given, block.here
        i = here.query
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        last = here.cells + i * row + (here.band + _1 - i) * members + here.first
        total = every(0.0)
        for place in range(begin, end + _1):
            at = last + place * members
            total = total + (
                read(given.matches, at) * chances.m_to_end + read(given.insertions, at) * chances.m_to_end
            )
        write(given.scales, here.scales + (i + _1) * members + here.first, total)

    @device_function
    def forward(block, chances):
        """Fill the rows of a block."""
        here = block.here
        copy_windows(block, members)
        for i in range(_1, here.query + _1):
            clear(block, i)
            prepare(block, i)
            if i == _1:
                first_row(block, chances)
            else:
                next_row(block, chances, i)
        last_scale(block, chances)

    return forward
