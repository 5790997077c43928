"""Encoding `parities` with learned rates: of errors, and of doublets where the score has them.

As on `sums`, the score of a state includes the base and the priors of its rates. A jump is scored with the
new rates in the slot's weights, and in what the score makes of them; then the old ones return. A jump of an
error rate writes the rows of all nodes to their other places; one of the rate of doublets, which changes no
row but only what a cell contributes, those of the root.
"""

from typing import Any

from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.parities import encoding as fixed
from syclade.kernels.parities.parts import Rows
from syclade.kernels.sums.arguments import ARGUMENTS
from syclade.kernels.sums.learned import make_learned, place_of, put_shares, weight_of
from syclade.kernels.sums.path import append, leave_path, path_of_all
from syclade.kernels.sums.rates import ARGUMENTS as LEARNED
from syclade.kernels.sums.rates import DOUBLETS, FN, FP, SHARES
from syclade.kernels.sums.sizes import encodings_of
from syclade.kernels.target import address, control, device_function, lane_sum

_ZERO = control(0)
_ONE = control(1)
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


def make_evaluation(sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int) -> Evaluation:
    """Return the evaluation of a score; arguments as in `encodings_of`."""
    rows: Rows = score.of_cell
    inner = fixed.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    share_of_path, put_rates = rows.make_share(lanes, rounds), make_put_rates(score)

    @device_function
    def after_jump(
        slot,  # IN the tree and its rows; OUT path, fresh rows
        rate,  # IN control: the rate that jumps
        fn,  # IN control: points after the jump
        fp,  # IN control
        doublets,  # IN control
    ):
        """Return (the tree's score (int64), the length of the path)."""
        given, number = slot.given, slot.here.number
        put_rates(slot, rate, fn, fp, doublets)
        count = _ZERO
        if rate == control(DOUBLETS):
            count = append(slot, _ZERO, slot.here.root)
        else:
            count = path_of_all(slot)
        share = share_of_path(slot, count, _ONE)
        leave_path(slot, count)
        old_fn, old_fp = place_of(given, number, _FN), place_of(given, number, _FP)
        put_rates(slot, rate, old_fn, old_fp, place_of(given, number, _DOUBLETS))
        return lane_sum(share), count

    return make_learned(inner, after_jump, put_rates)


ENCODING, GENERAL, SPECIALISED = encodings_of("parities_learned", (*ARGUMENTS, *LEARNED), make_evaluation)
