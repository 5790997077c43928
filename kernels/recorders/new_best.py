"""Record each state with a score above all earlier ones of the chain."""

from syclade.kernels.chain.parts import Recorder
from syclade.kernels.target import control, device_function


@device_function
def wants(
    events,  # IN record of the recorders' arguments
    number,  # IN address: the slot
    step,  # IN int64
    score,  # IN int64: of the tree
    best,  # IN int64: the best score before
    accepted,  # IN control
):
    """Return whether the score is a new best one."""
    return (accepted != control(0)) and (score > best)


RECORDER = Recorder(arguments=(), wants=wants)
