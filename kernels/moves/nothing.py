"""Null move: the proposal of a move that can do nothing. It is counted apart, as the last of all kinds."""

from syclade.kernels.chain.edits import NO_CORRECTION, NOTHING, Proposal
from syclade.kernels.target import device_function


@device_function
def nothing(
    kind,  # IN control: the last of all kinds
    v,  # IN control: any node
):
    """Propose to leave the tree as it is."""
    return Proposal(kind, NOTHING, v, v, v, NO_CORRECTION)
