"""The kernel of base alignment qualities: blocks of reads of equal shape, one read a lane.

A read is aligned to a window of the reference by a hidden Markov model with matches, insertions and
deletions, in a band around the diagonal. For each base, the state with the largest posterior probability is
found by the forward and backward algorithms, with rows scaled to sum 1. Source: Li, "Improving SNP discovery
by base alignment quality", Bioinformatics 27 (2011); Durbin et al., "Biological sequence analysis", chapters
3 and 4.
"""

import numpy as np

from syclade.kernels.baq.arguments import CHANCES, MEMBERS, SHAPE
from syclade.kernels.baq.backward import make_backward
from syclade.kernels.baq.forward import make_forward
from syclade.kernels.baq.here import Block, Chances, Here
from syclade.kernels.baq.layout import layout_of
from syclade.kernels.baq.posterior import make_posterior
from syclade.kernels.target import device_function

NUMBERS, ALL_CHANCES, MEMBERS_64 = np.int64(len(SHAPE)), np.int64(len(CHANCES)), np.int64(MEMBERS)
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (np.int64(number) for number in range(9))


def make_baq(reals, band: int, **_others: int):
    """Return the kernel for bands of up to this half width.

    Args:
        reals: the target's `Reals`.
        band: largest half width of a band.
    """
    layout = layout_of(band, MEMBERS)
    forward = make_forward(reals, layout)
    backward = make_backward(reals, layout, make_posterior(reals, layout))
    first, width = reals.first, np.int64(reals.width)

    @device_function
    def baq(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `BAQ`
    ):
        """Compute states and confidence of all blocks of a slot."""
        begin = np.int64(first(lane))
        s, strides = np.int64(slot), given.strides
        for block in range(given.blocks[s]):
            at = s * strides[_2] + block
            shape, chance = at * NUMBERS, at * ALL_CHANCES
            here = Here(
                begin,
                begin + width,
                given.shapes[shape],
                given.shapes[shape + _1],
                given.shapes[shape + _2],
                at * MEMBERS_64,
                s * strides[_0],
                s * strides[_1],
                s * strides[_3],
                s * strides[_4],
                s * strides[_5],
                s * strides[_6],
            )
            chances = Chances(
                given.chances[chance],
                given.chances[chance + _1],
                given.chances[chance + _2],
                given.chances[chance + _3],
                given.chances[chance + _4],
                given.chances[chance + _5],
                given.chances[chance + _6],
                given.chances[chance + _7],
                given.chances[chance + _8],
            )
            data = Block(given, here)
            forward(data, chances)
            backward(data, chances)

    return baq
