"""Encoding `ancestor` with learned error rates: each step scores a whole tree, under the rates after it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from syclade.kernels.ancestor import encoding as fixed
from syclade.kernels.ancestor.arguments import LEARNED
from syclade.kernels.ancestor.capacity import fixed_capacity, specialised_capacity
from syclade.kernels.ancestor.rates import make_put_weights, places_after, without_jump, worth_of_rates
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.rates.evaluation import keep_rates
from syclade.kernels.target import address, device_function

_FN, _FP, _RATES = address(FN), address(FP), address(RATES)


def make_evaluation(capacity: Callable[..., Any], score: Score, *, lanes: int, **sizes: int) -> Evaluation:
    """Return the evaluation of a score; arguments as for fixed rates (encoding.py)."""
    inner = fixed.make_evaluation(capacity, score, lanes=lanes, **sizes)
    put_weights = make_put_weights(capacity(**sizes))
    evaluate_edit, follow_edit = inner.evaluate, inner.follow

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
        of_tree, change = evaluate_edit(slot, without_jump(proposal), current, threshold)
        return of_tree + worth_of_rates(given, fn, fp), change

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
