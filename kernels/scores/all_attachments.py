"""The sum score: a cell is worth the logarithm of the sum of its likelihoods at all nodes (SCITE's -s).

Scores are in units of 2^-f octave, so that a likelihood is a power of two of its score. Powers are taken
relative to the whole octave of the best one, rounded down, and added: so sums do not depend on the order.
"""

import numpy as np

from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.chain.parts import Score, Terms
from syclade.kernels.scores.powers import MANTISSA_BITS, logarithm_of_two, power_of_two
from syclade.kernels.target import device_function

FORM = (
    Argument("sum_fraction", SETTING, "int64", ("slots",), "f: scores are in units of 2^-f octave"),
    Argument("sum_spare", SETTING, "int64", ("slots",), "by how many bits powers are shorter than 24"),
)

_MANTISSA_BITS = np.int64(MANTISSA_BITS)


@device_function
def form_of(given, number):
    """(f, spare bits), int32 that lanes share."""
    return np.int32(given.sum_fraction[number]), np.int32(given.sum_spare[number])


@device_function
def term(form, worth, best):
    """What one attachment adds to the sum (int32)."""
    fraction, spare = form
    return power_of_two(worth, np.int32(best >> fraction), fraction, spare)


@device_function
def of_sum(form, best, total):
    """The cell's worth, of its best attachment and the sum over all (int64)."""
    fraction, spare = form
    bits = np.int64(fraction)
    octave = np.int64(np.int32(best >> fraction))
    units = _MANTISSA_BITS - np.int64(spare)
    return ((octave - units) << bits) + logarithm_of_two(total, bits)


@device_function
def of_cell(given, number, best):
    """Never asked: see `Terms`."""
    return best


SCORE = Score(arguments=FORM, of_cell=of_cell, wide=True, terms=Terms(form_of, term, of_sum))
"""What a cell is worth: one score a file."""
