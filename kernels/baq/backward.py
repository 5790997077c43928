"""The backward algorithm: probability of the bases after i, from each state; the posterior of each row with
it."""

import numpy as np

from syclade.kernels.baq.emission import INSERTED, make_emission
from syclade.kernels.target import device_function

_0, _1, _2 = np.int64(0), np.int64(1), np.int64(2)


def make_backward(reals, layout, posterior):
    """Return the device function that computes a block's backward rows and hands each one to `posterior`,
    unscaled except the last."""
    members, row, rows = layout.members, layout.row, layout.backward
    read, write, every = reals.read, reals.write, reals.all
    prepare, letter, emission = make_emission(reals, layout)

    @device_function
    def clear(block, i):
        """Empty the cells of row i on both sides of the band, which its neighbours read."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        to = here.rows + rows + (i & _1) * _2 * row + (here.band + _1 - i) * members + here.first
        zero = every(0.0)
        for place in range(begin - _1, end + _2, end - begin + _2):
            at = to + place * members
            write(given.rows, at, zero)
            write(given.rows, at + row, zero)

    @device_function
    def last_row(block, chances):
        """Compute the row of the last base."""
        given, here = block.given, block.here
        i = here.query
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        to = here.rows + rows + (i & _1) * _2 * row + (here.band + _1 - i) * members + here.first
        scale = here.scales + i * members + here.first
        value = chances.m_to_end / read(given.scales, scale) / read(given.scales, scale + members)
        for place in range(begin, end + _1):
            write(given.rows, to + place * members, value)
            write(given.rows, to + row + place * members, value)

    @device_function
    def row_before(
        block,  # IN OUT Block
        chances,  # IN Chances
        i,  # IN int64, from 1
    ):
        """Compute row i from the one after it, unscaled."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = here.rows + rows + (here.band + _1 - i) * members + here.first
        new = shift + (i & _1) * _2 * row
        old = shift + ((i + _1) & _1) * _2 * row
        to_insertion, stay = INSERTED * chances.m_to_id, INSERTED * chances.i_to_i
        leave = 1.0 if i > _1 else 0.0
        right_deletion, base = every(0.0), letter(block)
        for back in range(end - begin + _1):
            place = end - back
            at = place * members
            match = every(0.0)
            if place < here.reference:
                match = emission(block, place + _1, base) * read(given.rows, old + at)
            inserted = read(given.rows, old + row + at - members)
            write(
                given.rows,
                new + at,
                match * chances.m_to_m + to_insertion * inserted + chances.m_to_id * right_deletion,
            )
            write(given.rows, new + row + at, match * chances.i_to_m + stay * inserted)
            right_deletion = (match * chances.d_to_m + chances.d_to_d * right_deletion) * leave

    @device_function
    def backward(block, chances):
        """Compute all rows of a block, the last one first, and the posterior of each."""
        here = block.here
        for done in range(here.query):
            i = here.query - done
            clear(block, i)
            if done == _0:
                last_row(block, chances)
            else:
                prepare(block, i + _1)
                row_before(block, chances, i)
            posterior(block, i)

    return backward
