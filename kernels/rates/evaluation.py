"""Evaluation with learned error rates: that of fixed rates, extended by jumps of a rate.

The score of a state is that of its tree under its rates, including the base and the prior of these rates.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, JUMP_RATE
from syclade.kernels.chain.parts import Evaluation
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.target import (
    address,
    choose,
    control,
    device_function,
    equal,
    lane_sum,
    private_array,
)

_ZERO, _ONE = np.int64(0), np.int64(1)
_FN, _FP, _RATES = address(FN), address(FP), address(RATES)


def make_learned(
    inner: Evaluation, share_anew: Any, reweigh: Any, put_weights: Any, classes: int
) -> Evaluation:
    """Return the evaluation.

    Args:
        inner: evaluation for fixed rates.
        share_anew: device function (slot, weights) -> the lane's share (int64) of the tree's
            score under other weights; these are (classes,) int32, private. It changes nothing that other
            functions read.
        reweigh: device function (slot): update what follows from the tree to its new weights,
            except for rows of weights.
        put_weights: device function (slot, label): write the row of weights of a mutation.
        classes: number of classes of observed values, the uninformative one included.
    """
    start, evaluate_edit, follow_edit = inner.start, inner.evaluate, inner.follow
    keep_tree, finish_tree = inner.keep, inner.finish

    @device_function
    def place_of(
        given,  # IN rate_at
        number,  # IN address: the slot
        rate,  # IN address
    ):
        """Return the rate's point on its grid (control)."""
        return control(given.rate_at[number * _RATES + rate])

    @device_function
    def places_after(given, number, proposal):
        """Return the points of both rates after a jump (control)."""
        of_fp = equal(proposal.w, control(FP))
        fn, fp = place_of(given, number, _FN), place_of(given, number, _FP)
        return choose(of_fp, fn, proposal.v), choose(of_fp, proposal.v, fp)

    @device_function
    def worth_of(given, fn, fp):
        """Return the part of the score that does not depend on the tree: base and prior (int64)."""
        return given.fn_worth[address(fn)] + given.fp_worth[address(fp)]

    @device_function
    def weight_of(
        given,  # IN fn_weights, fp_weights
        fn,  # IN control: point of the rate of false negatives
        fp,  # IN control: point of the rate of false positives
        code,  # IN integer: the class
    ):
        """Return the weight of a class (int64)."""
        count = address(classes)
        return (
            given.fn_weights[address(fn) * count + address(code)]
            + given.fp_weights[address(fp) * count + address(code)]
        )

    @device_function
    def after_jump(
        slot,  # IN the tree, rate_at and the tables of the rates; OUT scratch of `share_anew`
        proposal,  # IN Proposal: a jump
    ):
        """Return the score after a jump (int64)."""
        given = slot.given
        fn, fp = places_after(given, slot.here.number, proposal)
        weights = private_array(classes, np.int32)
        for code in range(classes):
            weights[code] = np.int32(weight_of(given, fn, fp, code))
        return lane_sum(share_anew(slot, weights)) + worth_of(given, fn, fp)

    @device_function
    def make_up(slot):
        """Update the tables to the rates if these have jumped: once for several jumps."""
        given, here = slot.given, slot.here
        if given.rates_ahead[here.number] != _ZERO:
            reweigh(slot)
            given.rates_ahead[here.number] = _ZERO

    @device_function
    def finish(slot):
        """Update the tables to the rates, then finish as for fixed rates."""
        make_up(slot)
        finish_tree(slot)

    @device_function
    def evaluate(
        slot,  # IN OUT the kernel's arguments
        proposal,  # IN Proposal
        current,  # IN int64: score of the state
        threshold,  # IN int64: the proposal is accepted if its score plus this is at least 0
    ):
        """Return (the score after the edit or the jump, the `change` that `follow` needs)."""
        given = slot.given
        number = slot.here.number
        if proposal.edit != JUMP_RATE:
            make_up(slot)
        if proposal.edit == EXCHANGE_LABELS:
            put_weights(slot, proposal.v)
            put_weights(slot, proposal.w)
        own = worth_of(given, place_of(given, number, _FN), place_of(given, number, _FP))
        of_tree, change = evaluate_edit(slot, proposal, current - own, threshold + own)
        proposed = of_tree + own
        if proposal.edit == JUMP_RATE:
            proposed = after_jump(slot, proposal)
        return proposed, change

    @device_function
    def follow(
        slot,  # IN OUT the kernel's arguments
        proposal,  # IN Proposal
        change,  # IN what `evaluate` returned besides the score
    ):
        """Apply the jump to the rates, or the edit to the tree."""
        given = slot.given
        if proposal.edit == JUMP_RATE:
            number = slot.here.number
            fn, fp = places_after(given, number, proposal)
            own = number * address(classes)
            for code in range(classes):
                given.weights[own + address(code)] = weight_of(given, fn, fp, code)
            given.rate_at[number * _RATES + _FN] = np.int64(fn)
            given.rate_at[number * _RATES + _FP] = np.int64(fp)
            given.rates_ahead[number] = _ONE
        else:
            follow_edit(slot, proposal, change)

    keep, tell = keep_rates(keep_tree, RATES)
    return inner._replace(start=start, evaluate=evaluate, follow=follow, keep=keep, finish=finish, tell=tell)


def keep_rates(keep_tree: Any, rates: int) -> tuple[Any, Any]:
    """Return `keep` and `tell` of an evaluation with this number of rates.

    Args:
        keep_tree: `keep` of the evaluation for fixed rates.
        rates: number of rates.
    """
    count = address(rates)

    @device_function
    def keep(slot):
        """Copy the tree and its rates to the best ones."""
        given = slot.given
        keep_tree(slot)
        for rate in range(rates):
            at = slot.here.number * count + address(rate)
            given.best_rate_at[at] = given.rate_at[at]

    @device_function
    def tell(
        slot,  # IN rate_at
        events,  # OUT event_rates
        event,  # IN address: number of the event
    ):
        """Write the rates to the event."""
        for rate in range(rates):
            at = slot.here.number * count + address(rate)
            events.event_rates[event * count + address(rate)] = slot.given.rate_at[at]

    return keep, tell
