"""Learned error rates on ancestor matrices (the mirror of `kernels/ancestor/rates.py`).

A jump of a rate leaves the tree as it is: each step scores a tree under the rates that it would have.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import EDIT, Arrays, T, V, W
from syclade.fallback.chain.parts import JUMP_RATE, NOTHING
from syclade.fallback.rates.steps import Rates


def rates_in(
    arrays: Arrays,  # IN rate_jumps, fn_weights, fp_weights, fn_worth, fp_worth
) -> Rates:
    """Return the tables of learned rates; there are no doublets."""
    none = np.zeros(1, dtype=np.int64)
    return Rates(
        arrays["rate_jumps"],
        arrays["fn_weights"],
        arrays["fp_weights"],
        arrays["fn_worth"],
        arrays["fp_worth"],
        doublet_worth=none,
        doublet_shares=none,
    )


def take_jumps(
    arrays: Arrays,  # IN rate_at, and as for `rates_in`; IN OUT move; OUT proposed_rate_at, weights
    slots: NDArray[np.int64],
) -> None:
    """Write the rates and weights after the step; in the place of a jump, the move changes nothing."""
    rates = rates_in(arrays)
    places: NDArray[np.int64] = arrays["rate_at"][slots]
    (at,) = (arrays["move"][slots, EDIT] == JUMP_RATE).nonzero()
    jumps = slots[at]
    drawn, rate = arrays["move"][jumps][:, [V, W]].T
    places[at] = rates.after(places[at], rate, drawn)
    arrays["proposed_rate_at"][slots] = places
    arrays["weights"][slots] = rates.weights(places)
    arrays["move"][jumps, EDIT] = NOTHING
    arrays["move"][jumps[:, None], [V, W, T]] = 0
