"""Encoding `ancestor` with learned error rates: each step scores a whole tree, under the rates after it.

A jump of a rate leaves the tree as it is. It takes the path of an edit that changes nothing, with other
weights, so that loops keep their length and no stage is passed by. ffSCITE's search for β is such a jump.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from syclade.kernels.ancestor import encoding as fixed
from syclade.kernels.ancestor.arguments import LEARNED
from syclade.kernels.ancestor.capacity import fixed_capacity, specialised_capacity
from syclade.kernels.chain.edits import JUMP_RATE, NOTHING, Proposal
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.rates.evaluation import keep_rates
from syclade.kernels.target import address, choose, control, device_function, equal

_FN, _FP, _RATES = address(FN), address(FP), address(RATES)
_ZERO, _ONE = control(0), control(1)


def make_evaluation(capacity: Callable[..., Any], score: Score, *, lanes: int, **sizes: int) -> Evaluation:
    """Return the evaluation of a score; arguments as for fixed rates (encoding.py)."""
    inner = fixed.make_evaluation(capacity, score, lanes=lanes, **sizes)
    capacity_of = capacity(**sizes)
    evaluate_edit, follow_edit = inner.evaluate, inner.follow

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

    @device_function
    def evaluate(
        slot,  # IN as for fixed rates, and rate_at and the tables of the rates; OUT weights, proposal, shares
        proposal,  # IN Proposal
        current,  # IN int64: score of the state (not used)
        threshold,  # IN int64 (not used)
    ):
        """Return (the score after the edit or the jump (int64), 0), with base and prior of the rates."""
        given, number = slot.given, slot.here.number
        fn, fp = places_after(given, number, proposal)
        put_weights(given, number, fn, fp)
        jumps = equal(proposal.edit, JUMP_RATE)
        edited = Proposal(
            proposal.kind,
            choose(jumps, NOTHING, proposal.edit),
            choose(jumps, _ZERO, proposal.v),
            choose(jumps, _ZERO, proposal.w),
            choose(jumps, _ZERO, proposal.t),
            proposal.correction,
        )
        of_tree, change = evaluate_edit(slot, edited, current, threshold)
        return of_tree + given.fn_worth[address(fn)] + given.fp_worth[address(fp)], change

    @device_function
    def follow(
        slot,  # IN proposal, the proposed tree; OUT ancestors, rate_at
        proposal,  # IN Proposal
        change,  # IN control (not used)
    ):
        """Copy the proposed tree and its rates to the current ones; all lanes write the same rates."""
        given, number = slot.given, slot.here.number
        fn, fp = places_after(given, number, proposal)
        follow_edit(slot, proposal, change)
        given.rate_at[number * _RATES + _FN] = np.int64(fn)
        given.rate_at[number * _RATES + _FP] = np.int64(fp)

    keep, tell = keep_rates(inner.keep, RATES)
    return inner._replace(evaluate=evaluate, follow=follow, keep=keep, tell=tell)


_PARTS = ("ancestor_learned", "work-group", LEARNED)

ENCODING = Encoding(*_PARTS, partial(make_evaluation, fixed_capacity))

SPECIALISED = Encoding(*_PARTS, partial(make_evaluation, specialised_capacity))
