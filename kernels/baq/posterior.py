"""The most likely state of each base, and its quality."""

import numpy as np

from syclade.kernels.baq.emission import BEST, STATE
from syclade.kernels.target import device_function

_0, _1, _2, _4 = np.int64(0), np.int64(1), np.int64(2), np.int64(4)
HIGHEST = np.int64(99)
"""Quality beyond which all are the same."""
BEYOND = np.int64(101)
CERTAIN = np.int64(127)
"""Entry of `limits` with the quality of an error probability of 0."""


def make_posterior(reals, layout):
    """Return the device function that stores state and quality of a row, from its forward and backward
    rows."""
    members, row, rows, spare = layout.members, layout.row, layout.backward, layout.spare
    read, write, every, if_greater = reals.read, reals.write, reals.all, reals.if_greater

    @device_function
    def best_state(block, i):
        """Scale backward row i, except the last one; store its best state and the error probability of
        that."""
        given, here = block.given, block.here
        begin, end = max(_1, i - here.band), min(here.reference, i + here.band)
        shift = (here.band + _1 - i) * members + here.first
        forth = here.cells + i * row + shift
        back = here.rows + rows + (i & _1) * _2 * row + shift
        scale = every(1.0)
        if i < here.query:
            scale = 1.0 / read(given.scales, here.scales + i * members + here.first)
        best, total, state = every(0.0), every(0.0), every(-1.0)
        for place in range(begin, end + _1):
            at = place * members
            here_state = np.float64(_4 * (place - _1))
            match = read(given.rows, back + at) * scale
            insertion = read(given.rows, back + row + at) * scale
            write(given.rows, back + at, match)
            write(given.rows, back + row + at, insertion)
            weight = read(given.matches, forth + at) * match
            state = if_greater(weight, best, here_state, state)
            best = if_greater(weight, best, weight, best)
            total = total + weight
            weight = read(given.insertions, forth + at) * insertion
            state = if_greater(weight, best, here_state + 1.0, state)
            best = if_greater(weight, best, weight, best)
            total = total + weight
        line = here.rows + spare + here.first
        write(given.rows, line + BEST * members, 1.0 - best / total)
        write(given.rows, line + STATE * members, state)

    @device_function
    def quality_of(limits, error):
        """Return the largest quality whose limit the error probability does not exceed, at most 99."""
        low, high = _0, BEYOND
        if error == 0.0:
            return np.int64(limits[CERTAIN])
        if error <= limits[HIGHEST + _1]:
            return HIGHEST
        while high - low > _1:
            middle = (low + high) >> _1
            if error <= limits[middle]:
                low = middle
            else:
                high = middle
        return low

    @device_function
    def posterior(block, i):
        """Store state and quality of base i of each read."""
        given, here = block.given, block.here
        best_state(block, i)
        for member in range(here.first, here.end):
            line = here.rows + spare + member
            at = here.letters + given.reads[here.block + member] + i - _1
            error = given.rows[line + BEST * members]
            given.states[at] = np.int32(given.rows[line + STATE * members])
            given.confidence[at] = np.uint8(quality_of(given.limits, error))

    return posterior
