"""The backward algorithm: probability of the bases after i, from each state; the posterior of each row with it."""

import numpy as np

from syclade.kernels.baq.emission import INSERTED, make_emission
from syclade.kernels.target import device_function

_0, _1, _2, _3 = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


def make_backward(reals, layout, posterior):
    """Return the device function that computes a block's backward rows and hands each one to `posterior`."""
    members, row, rows = layout.members, layout.row, layout.backward
    read, write, every = reals.read, reals.write, reals.all
    prepare, emission = make_emission(reals, layout)

    @device_function
    def clear(given, here, i):
        """Empty the rolling row of i."""
        zero = every(0.0)
        to = here.rows + rows + (i & _1) * _3 * row + here.first
        for at in range(_0, _3 * row, members):
            write(given.rows, to + at, zero)

    @device_function
    def last_row(given, here, chances):
        """Compute the row of the last base."""
        i = here.query
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        to = here.rows + rows + (i & _1) * _3 * row + (here.band + _1 - i) * members + here.first
        scale = here.scales + i * members + here.first
        value = chances.m_to_end / read(given.scales, scale) / read(given.scales, scale + members)
        for place in range(begin, end + _1):
            write(given.rows, to + place * members, value)
            write(given.rows, to + row + place * members, value)

    @device_function
    def row_before(given, here, chances, i):
        """Compute row i from the one after it, unscaled."""
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = here.rows + rows + (here.band + _1 - i) * members + here.first
        new = shift + (i & _1) * _3 * row
        old = shift + ((i + _1) & _1) * _3 * row
        to_insertion, stay = INSERTED * chances.m_to_id, INSERTED * chances.i_to_i
        leave = 1.0 if i > _1 else 0.0
        right_deletion = every(0.0)
        for back in range(end - begin + _1):
            place = end - back
            at = place * members
            match = every(0.0)
            if place < here.reference:
                match = emission(given, here, place + _1) * read(given.rows, old + at)
            inserted = read(given.rows, old + row + at - members)
            write(
                given.rows,
                new + at,
                match * chances.m_to_m + to_insertion * inserted + chances.m_to_id * right_deletion,
            )
            write(given.rows, new + row + at, match * chances.i_to_m + stay * inserted)
            right_deletion = (match * chances.d_to_m + chances.d_to_d * right_deletion) * leave
            write(given.rows, new + _2 * row + at, right_deletion)

    @device_function
    def rescale(given, here, i):
        """Scale row i by the sum of its forward row."""
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        to = here.rows + rows + (i & _1) * _3 * row + (here.band + _1 - i) * members + here.first
        scale = 1.0 / read(given.scales, here.scales + i * members + here.first)
        for place in range(begin, end + _1):
            at = to + place * members
            write(given.rows, at, read(given.rows, at) * scale)
            write(given.rows, at + row, read(given.rows, at + row) * scale)
            write(given.rows, at + _2 * row, read(given.rows, at + _2 * row) * scale)

    @device_function
    def backward(given, here, chances):
        """Compute all rows of a block, the last one first, and the posterior of each."""
        for done in range(here.query):
            i = here.query - done
            clear(given, here, i)
            if done == _0:
                last_row(given, here, chances)
            else:
                prepare(given, here, i + _1)
                row_before(given, here, chances, i)
                rescale(given, here, i)
            posterior(given, here, i)

    return backward
