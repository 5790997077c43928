"""Philox 4x32-10 on Python integers, and the four random words of a chain step.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox-4x32-10).
"""

from typing import Final

Words4 = tuple[int, int, int, int]

MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
KEY_INCREMENTS: Final = (0x9E3779B9, 0xBB67AE85)  # Weyl sequences: golden ratio, sqrt(3) - 1
ROUNDS: Final = 10
WORD: Final = 0xFFFFFFFF

CHAIN_DOMAIN: Final = 0
"""Fourth counter word of the chain's own draws; other uses of the same seed have another value."""


def philox(counter: Words4, key: tuple[int, int]) -> Words4:
    """Return the four 32-bit words at this counter of this key's stream; all arguments are 32-bit words."""
    for done in range(ROUNDS):
        low_key = (key[0] + done * KEY_INCREMENTS[0]) & WORD
        high_key = (key[1] + done * KEY_INCREMENTS[1]) & WORD
        product0 = MULTIPLIERS[0] * counter[0]
        product1 = MULTIPLIERS[1] * counter[2]
        counter = (
            (product1 >> 32) ^ counter[1] ^ low_key,
            product1 & WORD,
            (product0 >> 32) ^ counter[3] ^ high_key,
            product0 & WORD,
        )
    return counter


def step_words(seed: int, chain: int, step: int) -> Words4:
    """Return the random words of one step of one chain; seed and step have 64 bits, chain has 32.

    ValueError if one of them does not fit.
    """
    for name, number, bits in (("seed", seed, 64), ("step", step, 64), ("chain", chain, 32)):
        if not 0 <= number < 1 << bits:
            raise ValueError(f"{name} {number} has not {bits} bits")
    return philox((step & WORD, step >> 32, chain, CHAIN_DOMAIN), (seed & WORD, seed >> 32))
