"""The score with doublets: the logarithm of a mean over nodes and over pairs of nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Score, State
from syclade.fallback.scores.powers import FRACTION_BITS, logarithm_of_two
from syclade.fallback.sums.numbers import MANTISSA_BITS, Numbers, product, total

SHARES = ("single_share", "single_exponent", "pair_share", "pair_exponent")
"""Settings that follow from the rate of doublets."""


def of_cells(state: State, slots: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """Return the cells' contributions, (lanes, columns) int64, from their sums, (lanes, columns, 4)."""

    def share(name: str) -> Numbers:
        mantissa, exponent = state[f"{name}_share"], state[f"{name}_exponent"]
        return Numbers(mantissa[slots, None], exponent[slots, None])

    singles, pairs = Numbers(found[..., 0], found[..., 1]), Numbers(found[..., 2], found[..., 3])
    both = total(product(singles, share("single")), product(pairs, share("pair")))
    octaves = (both.exponent - MANTISSA_BITS) << FRACTION_BITS
    logarithm = logarithm_of_two(both.mantissa.astype(np.int32), np.int64(FRACTION_BITS))
    return octaves + logarithm - state["pair_count"][slots, None]


SCORE = Score(of_cells=of_cells)
"""The score with doublets."""
