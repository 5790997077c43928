"""Acceptance test in integers: a logarithm from a table, then a comparison.

Metropolis-Hastings accepts iff u <= |C|/|B| · exp(γ · Δ). The logarithm of this, divided by γ and in units of
2^-f nat, is Δ + E + (ln|C| - ln|B|)/γ >= 0 with E = -ln(u)/γ.
"""

import math
from typing import Final, NamedTuple

TABLE_BITS: Final = 8
FRACTION_BITS: Final = 32 - TABLE_BITS


class Tables(NamedTuple):
    """Logarithms in units of γ · 2^-f nat, rounded.

    `mantissa[j]` is ln(1 + j/256), j = 0 … 256, so that the last entry is ln 2; `size[k]` is ln k,
    k = 1 … n + 1 (entry 0 is never read).
    """

    mantissa: tuple[int, ...]
    size: tuple[int, ...]

    @property
    def ln2(self) -> int:
        """ln 2 in the same units."""
        return self.mantissa[-1]


def tables(f: int, gamma: float, n: int) -> Tables:
    """Return the tables for scores in units of 2^-f nat, exponent γ and n mutations.

    ValueError if γ is not positive.
    """
    if not gamma > 0:
        raise ValueError(f"gamma {gamma} is not positive")
    unit = 2.0**f / gamma
    mantissa = tuple(round(math.log(1 + j / 256) * unit) for j in range(257))
    size = (0, *(round(math.log(k) * unit) for k in range(1, n + 2)))
    return Tables(mantissa, size)


def exponential(word: int, logs: Tables) -> int:
    """Return E = -ln(u)/γ with u = (word + 1/2) / 2^32, in units of 2^-f nat.

    E is at least 0 and falls as the word grows. With x = 2·word + 1 = u · 2^33 and its top bit p,
    -ln u = (33 - p) ln 2 - ln(x / 2^p). The last logarithm, of a number in [1, 2), is interpolated. The error
    is at most (33 - p)/2 + 3/2 units from rounding, plus 2^-19 · 2^f/γ from the interpolation
    (h²/8 · max|ln''|, h = 1/256), which can only increase E.
    """
    x = 2 * word + 1
    p = x.bit_length() - 1
    m = x << (32 - p)
    j = m >> FRACTION_BITS & 255
    fraction = m & (1 << FRACTION_BITS) - 1
    rise = logs.mantissa[j + 1] - logs.mantissa[j]
    return (33 - p) * logs.ln2 - (logs.mantissa[j] + (rise * fraction >> FRACTION_BITS))


def accepts(delta: int, sizes: tuple[int, int], word: int, logs: Tables) -> bool:
    """Return whether a step is accepted that changes the score by `delta` and has the sizes (|C|, |B|)."""
    return delta + exponential(word, logs) + logs.size[sizes[0]] - logs.size[sizes[1]] >= 0


def accepted_words(delta: int, sizes: tuple[int, int], logs: Tables) -> int:
    """Return how many of the 2^32 words accept.

    This is the exact acceptance probability of the integer chain, times 2^32. E falls as the word grows, so
    the accepted words are 0 … k - 1; bisection finds k.
    """
    low, high = 0, 1 << 32
    while low < high:
        middle = (low + high) // 2
        if accepts(delta, sizes, middle, logs):
            low = middle + 1
        else:
            high = middle
    return low
