"""Random words: Philox 4x32-10, a counter-based generator with no state.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
Words are 32-bit values held in uint64: numba widens uint32 arithmetic to 64 bits anyway.
"""

import numpy as np

from syclade.kernels.target import device_function

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)
ROUNDS = 10


@device_function
def philox_4x32_10(
    counter_0,  # IN uint64 < 2^32
    counter_1,  # IN uint64 < 2^32
    counter_2,  # IN uint64 < 2^32
    counter_3,  # IN uint64 < 2^32
    key_0,  # IN uint64 < 2^32
    key_1,  # IN uint64 < 2^32
):
    """Return four random words (uint64 < 2^32 each) for one counter and key."""
    for _ in range(ROUNDS):
        product_0 = MULTIPLIER_0 * counter_0
        product_1 = MULTIPLIER_1 * counter_2
        next_0 = (product_1 >> HALF) ^ counter_1 ^ key_0
        next_2 = (product_0 >> HALF) ^ counter_3 ^ key_1
        counter_1 = product_1 & MASK
        counter_3 = product_0 & MASK
        counter_0 = next_0
        counter_2 = next_2
        key_0 = (key_0 + WEYL_0) & MASK
        key_1 = (key_1 + WEYL_1) & MASK
    return counter_0, counter_1, counter_2, counter_3
