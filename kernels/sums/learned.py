"""Encoding `sums` with learned rates: of errors, and of doublets.

The score of a state is that of its tree under its rates, including the base and the priors of these rates. A
jump of an error rate changes all rows; they are written to the nodes' other places, as for any proposal. A
jump of the rate of doublets changes no row, only what a cell contributes.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import JUMP_RATE
from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.rates.evaluation import keep_rates
from syclade.kernels.sums import encoding as fixed
from syclade.kernels.sums.arguments import ARGUMENTS
from syclade.kernels.sums.arguments import SHARES as SHARES_OF_NODES
from syclade.kernels.sums.factors import put_power
from syclade.kernels.sums.path import leave_path, path_of_all, take_fresh_rows
from syclade.kernels.sums.rates import ARGUMENTS as LEARNED
from syclade.kernels.sums.rates import DOUBLETS, FN, FP, RATES, SHARES
from syclade.kernels.sums.rows import Sums, make_load_root
from syclade.kernels.sums.sizes import encodings_of
from syclade.kernels.target import address, choose, control, device_function, equal, lane_sum, private_array

_ZERO = control(0)
_RATES = address(RATES)
_FN, _FP, _DOUBLETS = address(FN), address(FP), address(DOUBLETS)
_SHARES = address(len(SHARES))


@device_function
def place_of(
    given,  # IN rate_at
    number,  # IN address: the slot
    rate,  # IN address
):
    """Return the rate's point on its grid (control)."""
    return control(given.rate_at[number * _RATES + rate])


@device_function
def worth_of(
    given,  # IN fn_worth, fp_worth, doublet_worth
    fn,  # IN control: points on the grids
    fp,  # IN control
    doublets,  # IN control
):
    """Return the part of the score that does not depend on the tree: base and priors (int64)."""
    of_errors = given.fn_worth[address(fn)] + given.fp_worth[address(fp)]
    return of_errors + given.doublet_worth[address(doublets)]


@device_function
def put_shares(
    given,  # IN doublet_shares; OUT the settings SHARES
    number,  # IN address: the slot
    doublets,  # IN control: point on the grid of the rate of doublets
):
    """Set the shares of single cells and of doublets."""
    at = address(doublets) * _SHARES
    given.single_share[number] = given.doublet_shares[at]
    given.single_exponent[number] = given.doublet_shares[at + address(1)]
    given.pair_share[number] = given.doublet_shares[at + address(2)]
    given.pair_exponent[number] = given.doublet_shares[at + address(3)]


@device_function
def weight_of(
    slot,  # IN fn_weights, fp_weights
    fn,  # IN control: point of the rate of false negatives
    fp,  # IN control: point of the rate of false positives
    code,  # IN integer: the class
):
    """Return the weight of a class (int64)."""
    given, count = slot.given, address(slot.here.sizes.classes)
    of_fn = given.fn_weights[address(fn) * count + address(code)]
    return of_fn + given.fp_weights[address(fp) * count + address(code)]


def make_learned(inner: Evaluation, after_jump: Any, put_rates: Any) -> Evaluation:
    """Return the evaluation with learned rates of errors and of doublets.

    Args:
        inner: evaluation for fixed rates.
        after_jump: device function (slot, rate, fn, fp, doublets) -> (the tree's score (int64) at the points
            after a jump of `rate`, the length of the path). At the end, all settings are as before.
        put_rates: device function (slot, rate, fn, fp, doublets): set what follows from a rate, except for
            the rows of the nodes.
    """
    evaluate_edit, follow_edit = inner.evaluate, inner.follow

    @device_function
    def evaluate(
        slot,  # IN OUT the kernel's arguments
        proposal,  # IN Proposal
        current,  # IN int64: score of the state
        threshold,  # IN int64: the proposal is accepted if its score plus this is at least 0
    ):
        """Return (the score after the edit or the jump (int64), the length of the path)."""
        given, number = slot.given, slot.here.number
        fn, fp = place_of(given, number, _FN), place_of(given, number, _FP)
        doublets = place_of(given, number, _DOUBLETS)
        worth = worth_of(given, fn, fp, doublets)
        proposed, count = current, _ZERO
        if proposal.edit == JUMP_RATE:
            new_fn = choose(equal(proposal.w, control(FN)), proposal.v, fn)
            new_fp = choose(equal(proposal.w, control(FP)), proposal.v, fp)
            new_doublets = choose(equal(proposal.w, control(DOUBLETS)), proposal.v, doublets)
            proposed, count = after_jump(slot, proposal.w, new_fn, new_fp, new_doublets)
            proposed = proposed + worth_of(given, new_fn, new_fp, new_doublets)
        else:
            proposed, count = evaluate_edit(slot, proposal, current - worth, threshold + worth)
            proposed = proposed + worth
        return proposed, count

    @device_function
    def follow(
        slot,  # IN OUT the kernel's arguments
        proposal,  # IN Proposal
        count,  # IN control: length of the path, which `evaluate` returned
    ):
        """Apply the jump to the rates, or the edit to the tree."""
        given, number = slot.given, slot.here.number
        if proposal.edit == JUMP_RATE:
            given.rate_at[number * _RATES + address(proposal.w)] = np.int64(proposal.v)
            fn, fp = place_of(given, number, _FN), place_of(given, number, _FP)
            put_rates(slot, proposal.w, fn, fp, place_of(given, number, _DOUBLETS))
            take_fresh_rows(slot, count)
        else:
            follow_edit(slot, proposal, count)

    keep, tell = keep_rates(inner.keep, RATES)
    return inner._replace(evaluate=evaluate, follow=follow, keep=keep, tell=tell)


def make_evaluation(sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int) -> Evaluation:
    """Return the evaluation of a score; arguments as in `encodings_of`."""
    inner = fixed.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    share_of_path = fixed.make_share_of_path(score, lanes, rounds)
    share_of_root = _make_share_of_root(score, lanes, rounds)

    @device_function
    def after_jump(
        slot,  # IN the tree and its rows; OUT path, factors_anew, fresh rows
        rate,  # IN control: the rate that jumps
        fn,  # IN control: points after the jump
        fp,  # IN control
        doublets,  # IN control
    ):
        """Return (the tree's score (int64), the length of the path: all nodes if an error rate jumps)."""
        given, here = slot.given, slot.here
        share, count = np.int64(0), _ZERO
        if rate == control(DOUBLETS):
            put_shares(given, here.number, doublets)
            share = share_of_root(slot)
            put_shares(given, here.number, place_of(given, here.number, _DOUBLETS))
        else:
            own = here.number * address(here.sizes.classes)
            for code in range(here.sizes.classes):
                put_power(given, given.factors_anew, own + address(code), weight_of(slot, fn, fp, code))
            count = path_of_all(slot)
            share = share_of_path(slot, count, given.factors_anew)
            leave_path(slot, count)
        return lane_sum(share), count

    @device_function
    def put_rates(
        slot,  # IN the tables of the rates; OUT shares, or weights and factors
        rate,  # IN control: the rate that jumps
        fn,  # IN control: points on the grids
        fp,  # IN control
        doublets,  # IN control
    ):
        """Set what follows from a rate, except for the rows of the nodes."""
        given, here = slot.given, slot.here
        if rate == control(DOUBLETS):
            put_shares(given, here.number, doublets)
        else:
            own = here.number * address(here.sizes.classes)
            for code in range(here.sizes.classes):
                weight = weight_of(slot, fn, fp, code)
                given.weights[own + address(code)] = weight
                put_power(given, given.factors, own + address(code), weight)

    return make_learned(inner, after_jump, put_rates)


def _make_share_of_root(score: Score, lanes: int, rounds: int) -> Any:
    """Return the device function (slot) -> the lane's share of the score (int64), from the root's rows."""
    load_root, of_sums = make_load_root(lanes, rounds), score.of_cell

    @device_function
    def share_of_root(
        slot,  # IN rows of the root, multiplicity, the score's arguments
    ):
        """Add what the lane's cells contribute."""
        given, here = slot.given, slot.here
        sums = Sums(
            private_array(rounds, np.int64), private_array(rounds, np.int64),
            private_array(rounds, np.int64), private_array(rounds, np.int64),
        )  # fmt: skip
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            cell = address(panel * rounds * lanes) + here.lane
            load_root(sums, slot, cell)
            for part in range(rounds):
                worth = of_sums(given, here.number, sums, part)
                share = share + worth * given.multiplicity[cell + address(part * lanes)]
        return share

    return share_of_root


ENCODING, GENERAL, SPECIALISED = encodings_of(
    "sums_learned", (*ARGUMENTS, *SHARES_OF_NODES, *LEARNED), make_evaluation
)
