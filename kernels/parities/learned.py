"""Encoding `parities` with learned rates: of errors, and of doublets where the score has them.

As on `sums`, the score of a state includes the base and the priors of its rates. A jump is scored with the
new rates in the slot's weights, and in what the score makes of them; then the old ones return. A jump of an
error rate writes the rows of all nodes to their other places; one of the rate of doublets, which changes no
row but only what a cell contributes, those of the root.
"""

from functools import partial
from typing import Any

import numpy as np

from syclade.kernels.chain.edits import JUMP_RATE
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.parities import encoding as fixed
from syclade.kernels.parities.parts import Rows
from syclade.kernels.sums import learned as on_sums
from syclade.kernels.sums.arguments import ARGUMENTS
from syclade.kernels.sums.learned import place_of, put_shares, weight_of, worth_of
from syclade.kernels.sums.path import append, leave_path, path_of_all, take_fresh_rows
from syclade.kernels.sums.rates import ARGUMENTS as LEARNED
from syclade.kernels.sums.rates import DOUBLETS, FN, FP, RATES, SHARES
from syclade.kernels.sums.sizes import SIZES, fixed_sizes, read_sizes, specialised_sizes
from syclade.kernels.target import address, choose, control, device_function, equal, lane_sum

_ZERO = control(0)
_ONE = control(1)
_RATES = address(RATES)
_FN, _FP, _DOUBLETS = address(FN), address(FP), address(DOUBLETS)


@device_function
def put_no_shares(given, number, doublets):
    """Do nothing: the score has no doublets."""


def make_put_rates(score: Score) -> Any:
    """Return the device function `put_rates` for a score."""
    rows: Rows = score.of_cell
    prepare = rows.prepare
    has_pairs = any(argument.name == SHARES[0] for argument in score.arguments)
    put_pairs = put_shares if has_pairs else put_no_shares

    @device_function
    def put_rates(
        slot,  # IN the tables of the rates; OUT shares, or weights and what the score makes of them
        rate,  # IN control: the rate that jumps
        fn,  # IN control: points on the grids
        fp,  # IN control
        doublets,  # IN control
    ):
        """Set what follows from a rate, except for the rows of the nodes."""
        given, here = slot.given, slot.here
        if rate == control(DOUBLETS):
            put_pairs(given, here.number, doublets)
        else:
            own = here.number * address(here.sizes.classes)
            for code in range(here.sizes.classes):
                given.weights[own + address(code)] = weight_of(slot, fn, fp, code)
            prepare(slot)

    return put_rates


def make_evaluation(
    score: Score, *, nodes: int, cells: int, panels: int, lanes: int, classes: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for one size; arguments as for fixed rates (encoding.py)."""
    sizes_of = fixed_sizes(nodes, cells, panels, classes)
    return make_form_evaluation(sizes_of, score, lanes=lanes, rounds=cells // (lanes * panels))


def make_form_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for all sizes; arguments as for fixed rates (encoding.py)."""
    rows: Rows = score.of_cell
    inner = fixed.make_form_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    with_rates = on_sums.make_form_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    share_of_path, put_rates = rows.make_share(lanes, rounds), make_put_rates(score)
    evaluate_edit, follow_edit = inner.evaluate, inner.follow

    @device_function
    def after_jump(
        slot,  # IN the tree and its rows; OUT path, fresh rows, what follows from the rates
        rate,  # IN control: the rate that jumps
        fn,  # IN control: points after the jump
        fp,  # IN control
        doublets,  # IN control
    ):
        """Set the rates; return (the lane's share of the tree's score (int64), the length of the path)."""
        put_rates(slot, rate, fn, fp, doublets)
        count = _ZERO
        if rate == control(DOUBLETS):
            count = append(slot, _ZERO, slot.here.root)
        else:
            count = path_of_all(slot)
        share = share_of_path(slot, count, _ONE)
        leave_path(slot, count)
        return share, count

    @device_function
    def evaluate(
        slot,  # IN OUT the kernel's arguments
        proposal,  # IN Proposal
        current,  # IN int64: score of the state
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
            share, count = after_jump(slot, proposal.w, new_fn, new_fp, new_doublets)
            proposed = lane_sum(share) + worth_of(given, new_fn, new_fp, new_doublets)
            put_rates(slot, proposal.w, fn, fp, doublets)
        else:
            proposed, count = evaluate_edit(slot, proposal, current - worth)
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

    return inner._replace(evaluate=evaluate, follow=follow, keep=with_rates.keep, tell=with_rates.tell)


_ALL = (*ARGUMENTS, *LEARNED)

ENCODING = Encoding("parities_learned", "sub-group", _ALL, make_evaluation)

GENERAL = Encoding(
    "parities_learned_general", "sub-group", (*_ALL, SIZES), partial(make_form_evaluation, read_sizes)
)

SPECIALISED = Encoding(
    "parities_learned", "sub-group", _ALL, partial(make_form_evaluation, specialised_sizes)
)
