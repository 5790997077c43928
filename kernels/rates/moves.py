"""Moves of the rates: a symmetric jump on the grid, reflected at its ends (docs/model.md, "Learned rates").

The host chooses their probability, the lengths of jumps and the prior.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import JUMP_RATE, NO_CORRECTION, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.rates.arguments import FN, FP, JUMPS, RATES
from syclade.kernels.target import address, choose, control, device_function, less

_ONE = control(1)
_TWO = control(2)
_ZERO = control(0)
_SHIFT = np.uint64(23)


@device_function
def jump_of(
    word_2,  # IN uint64 < 2^32
    first,  # IN uint64
    mutations,  # IN uint64
):
    """Return twice the index of the jump's length, plus 1 if it goes down (uint64).

    The number is in the word's highest bits.
    """
    return word_2 >> _SHIFT


@device_function
def reflected(
    place,  # IN control, beyond an end of the grid by at most its length
    points,  # IN control
):
    """Return the point on the grid: as far inside as the place was beyond an end (control)."""
    inside = choose(less(place, _ZERO), -_ONE - place, place)
    return choose(less(inside, points), inside, _TWO * points - _ONE - inside)


def _make(rate: int) -> Any:
    """Return `Move.make_propose` for a rate."""

    def make_propose(_relations: Relations, kinds: Kinds) -> Any:
        """Return the device function of the move."""
        kind, of_rate, rates = control(kinds.first), address(rate), address(RATES)
        jumps = address(rate * JUMPS)

        @device_function
        def propose(
            slot,  # IN the encoding's arguments
            draw,  # IN Draw; its second is the result of `jump_of`
            mutations,  # IN control
        ):
            """Propose a jump; v is the point that the rate jumps to."""
            given = slot.given
            place = control(given.rate_at[slot.here.number * rates + of_rate])
            length = control(given.rate_jumps[jumps + address(draw.second >> _ONE)])
            is_down = draw.second & _ONE
            jumped = place + length - _TWO * is_down * length
            target = reflected(jumped, control(given.rate_points[of_rate]))
            return Proposal(kind, JUMP_RATE, target, control(rate), target, NO_CORRECTION)

        return propose

    return make_propose


LEARN_FN = Move(kinds=1, second=jump_of, make_propose=_make(FN))

LEARN_FP = Move(kinds=1, second=jump_of, make_propose=_make(FP))
