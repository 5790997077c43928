"""Interface of an edit on preorder intervals, and the choice between all edits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from syclade.kernels.target import control, device_function


class Edit(NamedTuple):
    """Edit on preorder intervals.

    Attributes:
        code: as in chain/edits.py.
        moved: device function (slot, proposal) -> Moved.
        rearranged: device function (slot, proposal, moved) -> Rearranged, called on the tree
            before the edit; None if positions keep their places.
    """

    code: control
    moved: Any
    rearranged: Any


def make_moved(edits: Sequence[Edit], nothing: Any) -> Any:
    """Return the device function (slot, proposal) -> Moved, by the proposal's edit.

    Args:
        edits: the likeliest first.
        nothing: `moved` of all other edits.
    """
    moved = nothing
    for edit in reversed(edits):
        moved = _or_moved(edit.code, edit.moved, moved)
    return moved


def _or_moved(code: control, own: Any, others: Any) -> Any:
    """Return a device function for the intervals that the edit with this code shifts, or else another one."""

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return the shifted intervals (Moved)."""
        if proposal.edit == code:
            return own(slot, proposal)
        return others(slot, proposal)

    return moved


def make_rearranged(edits: Sequence[Edit]) -> Any:
    """Return the device function (slot, proposal, moved) -> Rearranged, by the edit."""
    *others, last = [edit for edit in edits if edit.rearranged is not None]
    rearranged = last.rearranged
    for edit in reversed(others):
        rearranged = _or_rearranged(edit.code, edit.rearranged, rearranged)
    return rearranged


def _or_rearranged(code: control, own: Any, others: Any) -> Any:
    """Return a device function for how the edit with this code changes the order, or else another one."""

    @device_function
    def rearranged(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Return the change of the order (Rearranged)."""
        if proposal.edit == code:
            return own(slot, proposal, moved)
        return others(slot, proposal, moved)

    return rearranged
