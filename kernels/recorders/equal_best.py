"""Record each accepted tree whose score equals the chain's best score before: co-optimal trees."""

from syclade.kernels.chain.parts import Recorder
from syclade.kernels.target import control, device_function


@device_function
def wants(
    events,  # IN record of the recorders' arguments
    number,  # IN address: the slot
    step,  # IN int64
    score,  # IN int64: of the tree
    best,  # IN int64: the best score before
    accepted,  # IN control: 0 if the step was rejected: then the tree was reported before
):
    """Return whether a tree was accepted whose score equals the best one."""
    return (accepted != control(0)) and (score == best)


RECORDER = Recorder(arguments=(), wants=wants)
