"""Alignment qualities of one read's bases, from the most likely state of each."""

import numpy as np

from syclade.kernels.pileup.arguments import LARGEST_QUALITY
from syclade.kernels.target import device_function

_0, _1, _2 = np.int64(0), np.int64(1), np.int64(2)
LARGEST = np.uint8(LARGEST_QUALITY)


@device_function
def align_run(
    given,  # IN OUT arrays
    letters,  # IN int64, index in `bases`
    base,  # IN int64, number in the read
    place,  # IN int64, from 1
    length,  # IN int64
    extended,  # IN bool
):
    """Write the qualities of a run of matches to `aligned`.

    A base whose most likely state is not the place that the CIGAR gives has quality 0. With `extended`, a
    base has the smaller one of the largest qualities on its left and on its right in the run, itself
    included.

    Args:
        given: the arrays of `COLUMNS`.
        letters: where the read's bases begin.
        base: its first base of the run.
        place: the base's place in the read's window.
        length: number of bases.
        extended: whether the qualities are extended.
    """
    largest = np.uint8(0)
    for step in range(length):
        at = letters + base + step
        agrees = np.int64(given.states[at]) == (place + step) << _2
        quality = given.confidence[at] if agrees else np.uint8(0)
        largest = max(largest, quality)
        given.aligned[base + step] = largest if extended else quality
    if not extended:
        return
    largest = np.uint8(0)
    for back in range(length):
        step = length - _1 - back
        at = letters + base + step
        agrees = np.int64(given.states[at]) == (place + step) << _2
        largest = max(largest, given.confidence[at] if agrees else np.uint8(0))
        given.aligned[base + step] = min(given.aligned[base + step], largest)


@device_function
def capped(quality):
    """Return a quality, at most the largest one that is stored."""
    return min(quality, LARGEST)
