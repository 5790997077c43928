"""Score with doublets: a cell is one of the tree's clones, or two of them together (docs/model.md).

A cell contributes log2((1 - d) * mean of its likelihoods at all nodes + d * mean of those at all pairs),
where d is the rate of doublets. Both means are sums of the encoding `sums`, with shares that the host
computes.
"""

import numpy as np

from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.chain.parts import Score
from syclade.kernels.scores.powers import FRACTION_BITS, logarithm_of_two
from syclade.kernels.sums.numbers import MANTISSA_BITS, product, total
from syclade.kernels.target import device_function

ARGUMENTS = (
    Argument("single_share", SETTING, "int64", ("slots",), "(1 - d) * number of nodes: mantissa"),
    Argument("single_exponent", SETTING, "int64", ("slots",), "likewise: exponent"),
    Argument("pair_share", SETTING, "int64", ("slots",), "d: mantissa"),
    Argument("pair_exponent", SETTING, "int64", ("slots",), "likewise: exponent"),
    Argument("pair_count", SETTING, "int64", ("slots",), "log2 of the number of pairs, in units of 2^-16"),
)

_BITS = np.int64(MANTISSA_BITS)
_FRACTION = np.int64(FRACTION_BITS)


@device_function
def of_sums(
    given,  # IN the arguments above
    number,  # IN address: the slot
    sums,  # IN Sums of the cells of a panel
    part,  # IN integer: which of the lane's cells
):
    """Return the contribution of a cell (int64)."""
    one, one_exponent = product(
        sums.singles[part], sums.singles_exponent[part],
        given.single_share[number], given.single_exponent[number],
    )  # fmt: skip
    two, two_exponent = product(
        sums.pairs[part], sums.pairs_exponent[part], given.pair_share[number], given.pair_exponent[number]
    )
    both, exponent = total(one, one_exponent, two, two_exponent)
    octaves = (exponent - _BITS) << _FRACTION
    return octaves + logarithm_of_two(np.int32(both), _FRACTION) - given.pair_count[number]


SCORE = Score(arguments=ARGUMENTS, of_cell=of_sums, wide=True)
"""Its `of_cell` takes the sums of the encoding `sums` instead of a best attachment."""
