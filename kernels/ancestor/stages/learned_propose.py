"""Propose with learned error rates: a jump becomes the rates and weights of the step, and an edit of nothing.

Later stages read the weights as they do with fixed rates; the reduction takes over the rates if the step is
accepted.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from syclade.kernels.ancestor.rates import make_put_weights, places_after, without_jump
from syclade.kernels.ancestor.stages.move_record import read_move, write_move
from syclade.kernels.ancestor.stages.propose import make_propose_stage
from syclade.kernels.chain.parts import Move
from syclade.kernels.rates.arguments import FN, FP, RATES
from syclade.kernels.target import address, device_function

_FN, _FP, _RATES = address(FN), address(FP), address(RATES)


def make_learned_propose_stage(capacity: Callable[..., Any], moves: Sequence[Move], **sizes: int) -> Any:
    """Return the stage; arguments as for fixed rates (propose.py)."""
    propose = make_propose_stage(capacity, moves, **sizes)
    put_weights = make_put_weights(capacity(**sizes))

    @device_function
    def ancestor_propose(number, lane, given):
        """Draw and propose; write the move, the threshold, and the rates and weights after the step."""
        propose(number, lane, given)
        proposal = read_move(given.move, number)
        fn, fp = places_after(given, number, proposal)
        put_weights(given, number, fn, fp)
        given.proposed_rate_at[number * _RATES + _FN] = np.int64(fn)
        given.proposed_rate_at[number * _RATES + _FP] = np.int64(fp)
        write_move(given.move, number, without_jump(proposal))

    return ancestor_propose
