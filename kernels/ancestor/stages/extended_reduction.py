"""Reduction of chains with learned error rates, or whose states are recorded.

A slot whose ring of events is full does no step. Rates are taken over as trees are: by masks. Only recording
depends on the data.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from syclade.kernels.ancestor import encoding as fixed
from syclade.kernels.ancestor import learned as of_rates
from syclade.kernels.ancestor.rates import worth_of_rates
from syclade.kernels.ancestor.stages.reduction import make_parts
from syclade.kernels.chain.parts import Recorder, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.recorders.ring import make_ring
from syclade.kernels.target import address, control, device_function, in_step
from syclade.kernels.words import spread

_FN, _FP, _RATES = address(FN), address(FP), address(RATES)
_MUTATIONS = address(0)
_NO, _YES = control(0), control(1)


@device_function
def no_worth(
    given,  # IN not used
    number,  # IN address: not used
):
    """Return what a score gets for fixed rates (int64): nothing."""
    return np.int64(0)


@device_function
def keep_nothing(
    given,  # IN not used
    number,  # IN address: not used
    accepted,  # IN int64: not used
    better,  # IN int64: not used
):
    """Do nothing: fixed rates stay."""


@device_function
def worth_of_proposed(
    given,  # IN proposed_rate_at: (slots, RATES) int64, flat; fn_worth, fp_worth
    number,  # IN address: the slot
):
    """Return what the score of the proposed state gets for its rates (int64)."""
    at = number * _RATES
    proposed = given.proposed_rate_at
    return worth_of_rates(given, control(proposed[at + _FN]), control(proposed[at + _FP]))


@device_function
def take_rates(
    given,  # IN proposed_rate_at; IN OUT rate_at, best_rate_at: (slots, RATES) int64, flat
    number,  # IN address: the slot
    accepted,  # IN int64: mask, all ones if the proposed rates become the current ones
    better,  # IN int64: mask, all ones if they become the best ones
):
    """Copy the proposed rates as the masks say; all lanes write the same."""
    for rate in range(RATES):
        at = number * _RATES + address(rate)
        new, old, best = given.proposed_rate_at[at], given.rate_at[at], given.best_rate_at[at]
        given.rate_at[at] = old ^ ((old ^ new) & accepted)
        given.best_rate_at[at] = best ^ ((best ^ new) & better)


def make_extended_reduction_stage(
    capacity: Callable[..., Any],
    score: Score,
    recorders: Sequence[Recorder],
    *,
    kinds: int,
    learned: int,
    lanes: int,
    **sizes: int,
) -> Any:
    """Return the stage; each lane does every `lanes`-th column, then every `lanes`-th row.

    Args:
        capacity, score, kinds, lanes, sizes: as without extensions (reduction.py).
        recorders: select the states that leave the chain; may be empty.
        learned: 1 if rates are learned, else 0.
    """
    decide, take_rows = make_parts(capacity, score, kinds=kinds, lanes=lanes, **sizes)
    evaluation = (of_rates if learned else fixed).make_evaluation(capacity, score, lanes=lanes, **sizes)
    is_full, record = make_ring(recorders, evaluation, lanes=lanes)
    recording = int(bool(recorders))
    own_worth, keep_rates = (worth_of_proposed, take_rates) if learned else (no_worth, keep_nothing)

    @device_function
    def ancestor_reduction(number, lane, given):
        """Accept or reject, count, and record the state."""
        room = _YES
        if recording:
            room = control(is_full(given, number)) ^ _YES
        decided = decide(number, lane, given, own_worth(given, number), room)
        keep_rates(given, number, -np.int64(decided.accepted), -np.int64(decided.better))
        take_rows(
            given,
            decided.base,
            lane,
            spread(np.uint64(decided.accepted)),
            spread(np.uint64(decided.better)),
        )
        if recording:
            base = in_step(decided.base)
            if decided.going != _NO:
                slot = Slot(given, fixed.Here(number, lane), base)
                mutations = control(given.parameters[_MUTATIONS])
                record(given, slot, mutations, decided.step, decided.score, decided.best, decided.accepted)

    return ancestor_reduction
