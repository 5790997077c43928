"""Random words: Philox 4x32-10 over whole arrays (the mirror of `kernels/chain/philox.py`).

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85
ROUNDS = 10


def philox_4x32_10(
    counter_0: Any,  # IN uint64 < 2^32, any shape that broadcasts
    counter_1: Any,  # IN
    counter_2: Any,  # IN
    counter_3: Any,  # IN
    key_0: int,
    key_1: int,
) -> tuple[Words, Words, Words, Words]:
    """Return four random words (uint64 < 2^32 each) per counter, all with one key."""
    c0, c1, c2, c3 = np.broadcast_arrays(
        *(np.asarray(c, dtype=np.uint64) for c in (counter_0, counter_1, counter_2, counter_3))
    )
    for round_number in range(ROUNDS):
        round_key_0 = np.uint64((key_0 + round_number * WEYL_0) & 0xFFFFFFFF)
        round_key_1 = np.uint64((key_1 + round_number * WEYL_1) & 0xFFFFFFFF)
        product_0 = MULTIPLIER_0 * c0
        product_1 = MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (
            (product_1 >> HALF) ^ c1 ^ round_key_0,
            product_1 & MASK,
            (product_0 >> HALF) ^ c3 ^ round_key_1,
            product_0 & MASK,
        )
    return c0, c1, c2, c3
