"""Sum score: a cell contributes the logarithm of the sum of its likelihoods at all nodes (SCITE's -s).

Scores are in units of 2^-f octave, so that a likelihood is a power of two of its score. Powers are taken
relative to the whole octave of the best one, rounded down, and added. So a sum does not depend on the order
of its terms.
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
    """Return (f, spare bits), int32, the same in all lanes."""
    return np.int32(given.sum_fraction[number]), np.int32(given.sum_spare[number])


@device_function
def term(form, worth, best):
    """Return the term of one attachment in the sum (int32)."""
    fraction, spare = form
    return power_of_two(worth, np.int32(best >> fraction), fraction, spare)


@device_function
def of_sum(form, best, total):
    """Return the cell's contribution from its best attachment and the sum over all (int64)."""
    fraction, spare = form
    bits = np.int64(fraction)
    octave = np.int64(np.int32(best >> fraction))
    units = _MANTISSA_BITS - np.int64(spare)
    return ((octave - units) << bits) + logarithm_of_two(total, bits)


@device_function
def of_cell(given, number, best):
    """Return `best`; never called (see `Score.terms`)."""
    return best


SCORE = Score(arguments=FORM, of_cell=of_cell, wide=True, terms=Terms(form_of, term, of_sum))
"""The sum score."""
