"""Random numbers of a search, from counters of their own, so that they do not depend on earlier draws.

A Philox counter is (item, turn, search, 1 + 256 * sweep); in a chain the last word is 0 (chain/batch.py).
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.acceptance import negative_log_uniform
from syclade.kernels.chain.philox import philox_4x32_10
from syclade.kernels.target import device_function, in_step

TURNS = np.int64(0xFFFFFFFF)
"""Turn of the draws that shuffle a sweep."""

JOINS = np.int64(0xFFFFFFFE)
"""Turn of the draws that resolve polytomies."""

SCORE_BITS = np.int64(20)
"""Keys are scores times 2^20, with room for noise in the low bits."""

BONUS = np.int64(1 << 19)
"""Advantage of the present place over equal ones: half a unit of score."""

_ONE = np.int64(1)
_DOMAIN = np.uint64(1)
_SWEEP = np.uint64(256)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_START = np.uint64(0)


@device_function
def word_of(
    here,  # IN Here
    item,  # IN integer: the item that is drawn for
    turn,  # IN int64: turn in the sweep, or one of the above
    sweep,  # IN int64: number of the sweep
):
    """Return a random word (uint64 < 2^32)."""
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
def below(
    here,  # IN Here
    item,  # IN integer: the item that is drawn for
    turn,  # IN int64: turn in the sweep, or one of the above
    sweep,  # IN int64: number of the sweep
    count,  # IN int64
):
    """Return a whole number from 0 to count - 1 (int64)."""
    return np.int64((word_of(here, item, turn, sweep) * np.uint64(count)) >> _WORD)


@device_function
def gumbel(table, word):
    """Return Gumbel noise -ln(-ln(u)) in units of 2^-16 (int64), with u = (word + 1/2) / 2^32.

    The inner logarithm is in units of 2^-16, so its own logarithm is that of a whole number, minus 16 ln 2.
    """
    inner = negative_log_uniform(word, table, _START)
    # ln(x + 1/2) of a 32-bit number is 32 ln 2 minus what negative_log_uniform returns.
    return negative_log_uniform(np.uint64(inner), table, _START) - np.int64(16) * table[np.uint64(256)]


def make_draws(lanes: int) -> tuple[Any, Any]:
    """Return the device functions (shuffle, draw_luck)."""
    lane_bits = np.int64(lanes.bit_length() - 1)
    all_lanes = np.int64(lanes - 1)
    lanes_u = np.uint64(lanes)

    @device_function
    def shuffle(
        given,  # OUT turn
        here,  # IN Here
        count,  # IN int64
        sweep,  # IN int64: number of the sweep
    ):
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
    def draw_luck(
        given,  # IN log_table; OUT luck
        here,  # IN Here
        count,  # IN int64: number of places
        turn,  # IN int64: turn in the sweep
        sweep,  # IN int64: number of the sweep
        noise,  # IN int64: factor of the noise; 0: no noise
    ):
        """Draw the Gumbel noise of `count` places, one per lane; none if gamma is infinite.

        Returns where it starts (uint64).
        """
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
def luck_of(
    given,  # IN luck
    start,  # IN uint64: where the noise of the places starts
    item,  # IN int64: the place
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return the Gumbel noise of a place (int64)."""
    luck = np.int64(0)
    if noise != np.int64(0):
        luck = given.luck[start + np.uint64(item)]
    return luck
