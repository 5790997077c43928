"""Random words: Philox 4x32-10 over whole arrays (the mirror of `kernels/chain/philox.py`).

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
"""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_MULTIPLIERS = np.array([MULTIPLIER_0, MULTIPLIER_1])
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
    given = [np.asarray(counter, dtype=np.uint64) for counter in (counter_0, counter_1, counter_2, counter_3)]
    even = np.empty((2, *np.broadcast_shapes(*(one.shape for one in given))), dtype=np.uint64)
    odd = np.empty_like(even)  # two words are worked on at once: most calls are for few counters
    even[0], odd[0], even[1], odd[1] = given
    each = (-1, *(1,) * (even.ndim - 1))
    multipliers = _MULTIPLIERS.reshape(each)
    for round_keys in _round_keys(key_0, key_1):
        product = (even * multipliers)[::-1]
        even = product >> HALF
        even ^= odd
        even ^= round_keys.reshape(each)
        odd = product & MASK
    return even[0], odd[0], even[1], odd[1]


@lru_cache(maxsize=256)
def _round_keys(key_0: int, key_1: int) -> Words:
    """Return both keys of each round: uint64, shape (ROUNDS, 2)."""
    rounds = range(ROUNDS)
    keys = [((key_0 + at * WEYL_0) & 0xFFFFFFFF, (key_1 + at * WEYL_1) & 0xFFFFFFFF) for at in rounds]
    return np.array(keys, dtype=np.uint64)
