"""Nothing: no interval is shifted."""

from syclade.kernels.preorder.changes import ONE_INTERVAL, Moved
from syclade.kernels.target import control, device_function

_ONE = control(1)
_TWO = control(2)


@device_function
def moved_by_nothing(
    slot,  # IN not used
    proposal,  # IN Proposal
):
    """Return any interval, shifted by the row of zeros minus itself (Moved)."""
    zero = slot.here.layout.zero
    return Moved(
        ONE_INTERVAL, proposal.v, _ONE, _TWO, proposal.v, _ONE, _ONE, _TWO, _TWO, zero, zero, zero, zero
    )
