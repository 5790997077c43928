"""What an edit has to say to preorder intervals, and all edits in one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from syclade.kernels.target import control, device_function


class Edit(NamedTuple):
    """One edit.

    Attributes:
        code: as in chain/edits.py.
        moved: device function (given, here, base, proposal) -> Moved.
        rearranged: device function (given, here, base, proposal, moved) -> Rearranged, of the tree before the
            edit; None where positions keep their places.
    """

    code: control
    moved: Any
    rearranged: Any


def make_moved(edits: Sequence[Edit], nothing: Any) -> Any:
    """Device function (given, here, base, proposal) -> Moved, by the proposal's edit.

    Args:
        edits: the likeliest first.
        nothing: `moved` of all other edits.
    """
    moved = nothing
    for edit in reversed(edits):
        moved = _or_moved(edit.code, edit.moved, moved)
    return moved


def _or_moved(code: control, own: Any, others: Any) -> Any:
    """What the edit of this code moves, or another one."""

    @device_function
    def moved(given, here, base, proposal):
        """Moved."""
        if proposal.edit == code:
            return own(given, here, base, proposal)
        return others(given, here, base, proposal)

    return moved


def make_rearranged(edits: Sequence[Edit]) -> Any:
    """Device function (given, here, base, proposal, moved) -> Rearranged, by the proposal's edit."""
    *others, last = [edit for edit in edits if edit.rearranged is not None]
    rearranged = last.rearranged
    for edit in reversed(others):
        rearranged = _or_rearranged(edit.code, edit.rearranged, rearranged)
    return rearranged


def _or_rearranged(code: control, own: Any, others: Any) -> Any:
    """How the edit of this code rearranges the order, or another one."""

    @device_function
    def rearranged(given, here, base, proposal, moved):
        """Rearranged."""
        if proposal.edit == code:
            return own(given, here, base, proposal, moved)
        return others(given, here, base, proposal, moved)

    return rearranged
