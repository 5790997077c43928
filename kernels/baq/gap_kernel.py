"""The kernel of the alignment qualities of gaps: blocks of reads of equal shape, one read a lane.

For each gap of a read, and those to which it can be moved without changing the sequence, it stores the
probability that the read has it there. Model and algorithm are those of `kernel.py`.
"""

import numpy as np

from syclade.kernels.baq.arguments import CHANCES, MEMBERS, SHAPE
from syclade.kernels.baq.backward import make_backward
from syclade.kernels.baq.forward import make_forward
from syclade.kernels.baq.gap_posterior import make_gap_posterior
from syclade.kernels.baq.here import Block, Chances, Here
from syclade.kernels.baq.layout import layout_of
from syclade.kernels.target import device_function

NUMBERS, ALL_CHANCES, MEMBERS_64 = np.int64(len(SHAPE)), np.int64(len(CHANCES)), np.int64(MEMBERS)
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (np.int64(number) for number in range(9))


def make_gaps(reals, band: int, **_others: int):
    """Return the kernel for bands of up to this half width.

    Args:
        reals: the target's `Reals`.
        band: largest half width of a band.
    """
    layout = layout_of(band, MEMBERS)
    forward = make_forward(reals, layout)
    backward = make_backward(reals, layout, make_gap_posterior(reals, layout))
    first, width = reals.first, np.int64(reals.width)

    @device_function
    def here_of(
        given,  # IN OUT arrays
        slot,  # IN int64
        block,  # IN int64
        begin,  # IN int64, first read that the lane computes
    ):
        """Return where the data of a block are."""
        strides = given.strides
        at = slot * strides[_2] + block
        shape = at * NUMBERS
        return Here(
            begin,
            begin + width,
            given.shapes[shape],
            given.shapes[shape + _1],
            given.shapes[shape + _2],
            at * MEMBERS_64,
            slot * strides[_0],
            slot * strides[_1],
            slot * strides[_3],
            slot * strides[_4],
            slot * strides[_5],
            slot * strides[_6],
        )

    @device_function
    def chances_of(given, at):
        """Return the chances that begin at an index."""
        return Chances(
            given.chances[at],
            given.chances[at + _1],
            given.chances[at + _2],
            given.chances[at + _3],
            given.chances[at + _4],
            given.chances[at + _5],
            given.chances[at + _6],
            given.chances[at + _7],
            given.chances[at + _8],
        )

    @device_function
    def gaps(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `GAPS`
    ):
        """Compute the probabilities of all gaps of a slot."""
        begin = np.int64(first(lane))
        s = np.int64(slot)
        for block in range(given.blocks[s]):
            here = here_of(given, s, block, begin)
            chances = chances_of(given, here.block // MEMBERS_64 * ALL_CHANCES)
            data = Block(given, here)
            forward(data, chances)
            backward(data, chances)

    return gaps
