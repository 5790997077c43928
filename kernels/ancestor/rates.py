"""Learned rates on ancestor matrices: the rates after a step, and the weights and worth that follow.

A jump of a rate leaves the tree as it is. It takes the path of an edit that changes nothing, with other
weights, so that loops keep their length and no stage is passed by. ffSCITE's search for β is such a jump.
"""

from typing import Any

from syclade.kernels.chain.edits import JUMP_RATE, NOTHING, Proposal
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.target import address, choose, control, device_function, equal

_FN, _FP, _RATES = address(FN), address(FP), address(RATES)
_ZERO, _ONE = control(0), control(1)


@device_function
def places_after(
    given,  # IN rate_at: (slots, RATES) int64, flat
    number,  # IN address: the slot
    proposal,  # IN Proposal
):
    """Return the points of the rates of false negatives and of false positives after a step (control)."""
    jumps = equal(proposal.edit, JUMP_RATE)
    of_fp = equal(proposal.w, control(FP))
    fn = control(given.rate_at[number * _RATES + _FN])
    fp = control(given.rate_at[number * _RATES + _FP])
    return choose(jumps & ~of_fp, proposal.v, fn), choose(jumps & of_fp, proposal.v, fp)


@device_function
def without_jump(
    proposal,  # IN Proposal
):
    """Return the Proposal of the tree: in place of a jump, the edit that changes nothing."""
    jumps = equal(proposal.edit, JUMP_RATE)
    return Proposal(
        proposal.kind,
        choose(jumps, NOTHING, proposal.edit),
        choose(jumps, _ZERO, proposal.v),
        choose(jumps, _ZERO, proposal.w),
        choose(jumps, _ZERO, proposal.t),
        proposal.correction,
    )


@device_function
def worth_of_rates(
    given,  # IN fn_worth: (fn_points,), fp_worth: (fp_points,) int64
    fn,  # IN control: point of the rate of false negatives
    fp,  # IN control: point of the rate of false positives
):
    """Return what a score gets for its rates: base and prior (int64)."""
    return given.fn_worth[address(fn)] + given.fp_worth[address(fp)]


def make_put_weights(capacity_of: Any) -> Any:
    """Return a device function that writes the weights of rates, for matrices of a capacity."""

    @device_function
    def put_weights(
        given,  # IN fn_weights, fp_weights: (points, classes) int64, flat; OUT weights: (slots, classes)
        number,  # IN address: the slot
        fn,  # IN control: point of the rate of false negatives
        fp,  # IN control: point of the rate of false positives
    ):
        """Write the weights of the classes of observed values; all lanes write the same."""
        values = capacity_of().values
        classes = address(values + _ONE)
        for code in range(values):
            at = address(code)
            given.weights[number * classes + at] = (
                given.fn_weights[address(fn) * classes + at] + given.fp_weights[address(fp) * classes + at]
            )

    return put_weights
