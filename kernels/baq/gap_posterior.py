"""Posterior probabilities of cells in insertions and deletions, of the gaps that a read has."""

import numpy as np

from syclade.kernels.baq.arguments import CHANCES, MEMBERS
from syclade.kernels.baq.emission import make_emission
from syclade.kernels.baq.gap_arguments import GAP_NUMBERS, GAP_STRIDES
from syclade.kernels.target import device_function

_0, _1, _2, _3, _4 = (np.int64(number) for number in range(5))
MEMBERS_64, ALL_CHANCES, NUMBERS = np.int64(MEMBERS), np.int64(len(CHANCES)), np.int64(len(GAP_NUMBERS))
M_TO_ID, D_TO_M, D_TO_D = (np.int64(CHANCES.index(name)) for name in ("m_to_id", "d_to_m", "d_to_d"))
LINE_CELLS = np.int64(GAP_STRIDES.index("line_cells"))
GAPS, GAP_CELLS = np.int64(GAP_STRIDES.index("gaps")), np.int64(GAP_STRIDES.index("gap_cells"))
BLOCKS = np.int64(GAP_STRIDES.index("blocks"))


def make_gap_posterior(reals, layout):
    """Return the device function that scales a backward row, and stores the cells of gaps in it."""
    members, row, rows = layout.members, layout.row, layout.backward
    read, write, every = reals.read, reals.write, reals.all
    _, letter, emission = make_emission(reals, layout)

    @device_function
    def scale_row(block, i):
        """Scale backward row i, except the last one."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        back = here.rows + rows + (i & _1) * _2 * row + (here.band + _1 - i) * members + here.first
        if i < here.query:
            scale = 1.0 / read(given.scales, here.scales + i * members + here.first)
            for place in range(begin, end + _1):
                at = back + place * members
                write(given.rows, at, read(given.rows, at) * scale)
                write(given.rows, at + row, read(given.rows, at + row) * scale)

    @device_function
    def first_number(block, member, number):
        """Return where the numbers of a gap of a read begin."""
        given, here = block.given, block.here
        slot = here.block // MEMBERS_64 // given.strides[BLOCKS]
        return (slot * given.strides[GAPS] + given.first_gap[here.block + member] + number) * NUMBERS

    @device_function
    def has_gaps(block, i, deleted):
        """Return whether a read of the lane has a cell of a kind of gap in row i."""
        given, here = block.given, block.here
        for member in range(here.first, here.end):
            for number in range(given.gap_count[here.block + member]):
                at = first_number(block, member, number)
                since = i - given.gap_numbers[at + _1]
                if given.gap_numbers[at] == deleted and _0 <= since and since < given.gap_numbers[at + _3]:
                    return True
        return False

    @device_function
    def delete_forward(block, i, line):
        """Write the forward probabilities of the deletions of row i, scaled, from those of its matches."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = (here.band + _1 - i) * members + here.first
        forth, to = here.cells + i * row + shift, line + shift
        chance = here.block // MEMBERS_64 * ALL_CHANCES
        m_to_id, d_to_d = given.chances[chance + M_TO_ID], given.chances[chance + D_TO_D]
        match, deletion = every(0.0), every(0.0)
        exists = 1.0 if i > _1 else 0.0
        for place in range(begin, end + _1):
            at = place * members
            deletion = (m_to_id * match + d_to_d * deletion) * exists
            match = read(given.matches, forth + at)
            write(given.line, to + at, deletion)

    @device_function
    def delete_backward(block, i, line):
        """Multiply them by the backward probabilities, which follow from the row after it."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = (here.band + _1 - i) * members + here.first
        old = here.rows + rows + ((i + _1) & _1) * _2 * row + shift
        chance = here.block // MEMBERS_64 * ALL_CHANCES
        d_to_m, d_to_d = given.chances[chance + D_TO_M], given.chances[chance + D_TO_D]
        sum_of_row = read(given.scales, here.scales + i * members + here.first)
        scale, deletion, base = 1.0 / sum_of_row, every(0.0), letter(block)
        for back in range(end - begin + _1):
            place = end - back
            at = place * members
            match = every(0.0)
            if place < here.reference:
                match = emission(block, place + _1, base) * read(given.rows, old + at)
            deletion = match * d_to_m + d_to_d * deletion
            weight = read(given.line, line + shift + at) * (deletion * scale) * sum_of_row
            write(given.line, line + shift + at, weight)

    @device_function
    def store_gap(
        block,  # IN OUT Block
        i,  # IN int64, from 1
        member,  # IN int64
        at,  # IN int64, first number of the gap
        line,  # IN int64, where the slot's line begins
    ):
        """Store the cell of a gap in row i."""
        given, here = block.given, block.here
        since = i - given.gap_numbers[at + _1]
        place = given.gap_numbers[at + _2] + since
        shift = (here.band + _1 - i + place) * members + member
        slot = here.block // MEMBERS_64 // given.strides[BLOCKS]
        to = slot * given.strides[GAP_CELLS] + given.gap_numbers[at + _4] + since
        if given.gap_numbers[at] == _1:
            given.posterior[to] = given.line[line + shift] if i < here.query else 0.0
        else:
            back = here.rows + rows + (i & _1) * _2 * row + row + shift
            weight = given.insertions[here.cells + i * row + shift] * given.rows[back]
            given.posterior[to] = weight * given.scales[here.scales + i * members + member]

    @device_function
    def posterior(block, i):
        """Store the cells of the gaps in row i."""
        given, here = block.given, block.here
        line = here.block // MEMBERS_64 // given.strides[BLOCKS] * given.strides[LINE_CELLS]
        scale_row(block, i)
        if i < here.query and has_gaps(block, i, _1):
            delete_forward(block, i, line)
            delete_backward(block, i, line)
        for member in range(here.first, here.end):
            for number in range(given.gap_count[here.block + member]):
                at = first_number(block, member, number)
                since = i - given.gap_numbers[at + _1]
                if _0 <= since and since < given.gap_numbers[at + _3]:
                    store_gap(block, i, member, at, line)

    return posterior
