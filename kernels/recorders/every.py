"""Record every k-th step's state: samples."""

import numpy as np

from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.chain.parts import Recorder
from syclade.kernels.target import device_function

_ONE = np.int64(1)

ARGUMENTS = (
    Argument("every", SETTING, "int64", ("slots",), "steps from one sample to the next, at least 1"),
    Argument("first_sample", SETTING, "int64", ("slots",), "steps before the first sample"),
)


@device_function
def wants(
    events,  # IN record of the recorders' arguments
    number,  # IN address: the slot
    step,  # IN int64: number of the step just done
    score,  # IN int64
    best,  # IN int64
    accepted,  # IN control
):
    """Return whether the number of steps done is `first_sample`, or that plus a multiple of `every`."""
    since = step + _ONE - events.first_sample[number]
    return (since >= np.int64(0)) and (since % events.every[number] == np.int64(0))


RECORDER = Recorder(arguments=ARGUMENTS, wants=wants)
