"""The null move: what a move proposes where it can do nothing. Counted apart, as the last of all kinds."""

import numpy as np

from syclade.kernels.chain.edits import NOTHING, Proposal
from syclade.kernels.target import device_function

_ZERO = np.int64(0)


@device_function
def nothing(
    kind,  # IN int64: the last of all kinds
    v,  # IN int64: any node
):
    """The proposal to leave the tree as it is."""
    return Proposal(kind, NOTHING, v, v, v, _ZERO)
