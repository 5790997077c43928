"""Every state with a score above all that the chain had before."""

import numpy as np

from syclade.kernels.chain.parts import Recorder
from syclade.kernels.target import device_function


@device_function
def wants(
    events,  # IN record of the recorders' arguments
    number,  # IN uint64: the slot
    step,  # IN int64
    score,  # IN int64: of the tree
    best,  # IN int64: the best score before
    accepted,  # IN int64
):
    """Is the score a new best one?"""
    return (accepted != np.int64(0)) and (score > best)


RECORDER = Recorder(arguments=(), wants=wants)
