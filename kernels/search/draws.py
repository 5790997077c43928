"""Random numbers of a search: by counters of their own, so that they depend on nothing that was drawn before.

A Philox counter is (item, turn, search, 1 + 256 * sweep); a chain's last word is 0 (chain/batch.py).
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.acceptance import negative_log_uniform
from syclade.kernels.chain.philox import philox_4x32_10
from syclade.kernels.target import device_function, in_step

TURNS = np.int64(0xFFFFFFFF)
"""Turn of the draws that put a sweep in order."""

JOINS = np.int64(0xFFFFFFFE)
"""Turn of the draws that resolve polytomies."""

SCORE_BITS = np.int64(20)
"""Keys are scores times 2^20, with room for noise below."""

BONUS = np.int64(1 << 19)
"""What the present place has before its equals: half a unit of score."""

_ONE = np.int64(1)
_DOMAIN = np.uint64(1)
_SWEEP = np.uint64(256)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_START = np.uint64(0)


@device_function
def word_of(here, item, turn, sweep):
    """A random word, uint64 < 2^32."""
    word, _1, _2, _3 = philox_4x32_10(
        np.uint64(item) & _LOW_WORD,
        np.uint64(turn) & _LOW_WORD,
        here.search,
        (_DOMAIN + _SWEEP * np.uint64(sweep)) & _LOW_WORD,
        here.key_0,
        here.key_1,
    )
    return word


@device_function
def below(here, item, turn, sweep, count):
    """A whole number from 0 to count - 1 (int64)."""
    return np.int64((word_of(here, item, turn, sweep) * np.uint64(count)) >> _WORD)


@device_function
def gumbel(table, word):
    """-ln(-ln(u)) in units of 2^-16 (int64), u = (word + 1/2) / 2^32.

    The inner logarithm is in units of 2^-16, so its own logarithm is that of a whole number, less 16 ln 2.
    """
    inner = negative_log_uniform(word, table, _START)
    # ln(x + 1/2) of a 32-bit number is 32 ln 2 less what negative_log_uniform gives.
    return negative_log_uniform(np.uint64(inner), table, _START) - np.int64(16) * table[np.uint64(256)]


def make_draws(lanes: int) -> tuple[Any, Any]:
    """Device functions (shuffle, draw_luck)."""
    lane_bits = np.int64(lanes.bit_length() - 1)
    all_lanes = np.int64(lanes - 1)
    lanes_u = np.uint64(lanes)

    @device_function
    def shuffle(given, here, count, sweep):
        """Put 0 ... count-1 into `turn` in a random order (Fisher and Yates)."""
        for item in range(count):
            given.turn[here.turn + np.uint64(item)] = np.int32(item)
        for done in range(count - _ONE):
            last = count - _ONE - np.int64(done)
            other = below(here, last, TURNS, sweep, last + _ONE)
            at, to = here.turn + np.uint64(last), here.turn + np.uint64(other)
            one, two = np.int64(given.turn[at]), np.int64(given.turn[to])
            given.turn[at] = np.int32(two)
            given.turn[to] = np.int32(one)

    @device_function
    def draw_luck(given, here, count, turn, sweep, noise):
        """Noise of so many places, each a lane; none where gamma is infinite. Returns where it starts."""
        start = here.luck
        if noise != np.int64(0):
            for part in range((count + all_lanes) >> lane_bits):
                item = np.uint64(part) * lanes_u + here.lane
                drawn = gumbel(given.log_table, word_of(here, item, turn, sweep))
                given.luck[start + item] = drawn * noise
            start = in_step(start)
        return start

    return shuffle, draw_luck


@device_function
def luck_of(given, start, item, noise):
    """The noise of a place (int64)."""
    luck = np.int64(0)
    if noise != np.int64(0):
        luck = given.luck[start + np.uint64(item)]
    return luck
