"""Moves of three rates: symmetric jumps on grids, reflected at the ends (docs/model.md, "Learned rates")."""

from typing import Any

from syclade.kernels.chain.edits import JUMP_RATE, NO_CORRECTION, Proposal
from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.rates.arguments import JUMPS
from syclade.kernels.rates.moves import jump_of, reflected
from syclade.kernels.sums.rates import DOUBLETS, FN, FP, RATES
from syclade.kernels.target import address, control, device_function

_ONE = control(1)
_TWO = control(2)


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

LEARN_DOUBLETS = Move(kinds=1, second=jump_of, make_propose=_make(DOUBLETS))
