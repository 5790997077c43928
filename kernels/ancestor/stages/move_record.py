"""Argument `move`: five numbers per slot that the propose stage writes and later stages read."""

from syclade.kernels.chain.edits import NO_CORRECTION, Proposal
from syclade.kernels.target import address, control, device_function

_ONE, _TWO, _THREE, _FOUR, _FIVE = (address(number) for number in range(1, 6))


@device_function
def write_move(
    move,  # OUT (slots, 5) int64, flat
    number,  # IN address: the slot
    proposal,  # IN Proposal
):
    """Store the proposal, without its correction."""
    at = number * _FIVE
    move[at] = proposal.kind
    move[at + _ONE] = proposal.edit
    move[at + _TWO] = proposal.v
    move[at + _THREE] = proposal.w
    move[at + _FOUR] = proposal.t


@device_function
def read_move(
    move,  # IN (slots, 5) int64, flat
    number,  # IN address: the slot
):
    """Return the slot's Proposal; its correction is already part of the threshold."""
    at = number * _FIVE
    return Proposal(
        control(move[at]),
        control(move[at + _ONE]),
        control(move[at + _TWO]),
        control(move[at + _THREE]),
        control(move[at + _FOUR]),
        NO_CORRECTION,
    )
