"""Random numbers of a search, from counters of their own, so that they do not depend on earlier draws.

A Philox counter is (item, turn, search, 1 + 256 * sweep); in a chain the last word is 0 (chain/batch.py).
"""

import numpy as np

from syclade.kernels.chain.acceptance import negative_log_uniform
from syclade.kernels.chain.philox import philox_4x32_10
from syclade.kernels.search.slot import lane_at
from syclade.kernels.target import address, control, device_function, in_step

TURNS = np.int64(0xFFFFFFFF)
"""Turn of the draws that shuffle a sweep."""

JOINS = np.int64(0xFFFFFFFE)
"""Turn of the draws that resolve polytomies."""

SCORE_BITS = np.int64(20)
"""Keys are scores times 2^20, with room for noise in the low bits."""

BONUS = np.int64(1 << 19)
"""Advantage of the present place over equal ones: half a unit of score."""

_ONE = control(1)
_DOMAIN = np.uint64(1)
_SWEEP = np.uint64(256)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_START = address(0)


@device_function
def word_of(
    slot,  # IN Slot
    item,  # IN integer: the item that is drawn for
    turn,  # IN int64: turn in the sweep, or one of the above
    sweep,  # IN int64: number of the sweep
):
    """Return a random word (uint64 < 2^32)."""
    word, _1, _2, _3 = philox_4x32_10(
        np.uint64(item) & _LOW_WORD,
        np.uint64(turn) & _LOW_WORD,
        slot.search,
        (_DOMAIN + _SWEEP * np.uint64(sweep)) & _LOW_WORD,
        slot.key_0,
        slot.key_1,
    )
    return word


@device_function
def below(
    slot,  # IN Slot
    item,  # IN integer: the item that is drawn for
    turn,  # IN int64: turn in the sweep, or one of the above
    sweep,  # IN int64: number of the sweep
    count,  # IN int64
):
    """Return a whole number from 0 to count - 1 (int64)."""
    return control((word_of(slot, item, turn, sweep) * np.uint64(count)) >> _WORD)


@device_function
def gumbel(table, word):
    """Return Gumbel noise -ln(-ln(u)) in units of 2^-16 (int64), with u = (word + 1/2) / 2^32.

    The inner logarithm is in units of 2^-16, so its own logarithm is that of a whole number, minus 16 ln 2.
    """
    inner = negative_log_uniform(word, table, _START)
    # ln(x + 1/2) of a 32-bit number is 32 ln 2 minus what negative_log_uniform returns.
    return negative_log_uniform(np.uint64(inner), table, _START) - np.int64(16) * table[address(256)]


@device_function
def shuffle(
    slot,  # OUT turn
    count,  # IN int64
    sweep,  # IN int64: number of the sweep
):
    """Put 0 ... count-1 into `turn` in a random order (Fisher and Yates)."""
    given = slot.given
    for item in range(count):
        given.turn[slot.turn + address(item)] = np.int32(item)
    for done in range(count - _ONE):
        last = count - _ONE - control(done)
        other = below(slot, last, TURNS, sweep, last + _ONE)
        at, to = slot.turn + address(last), slot.turn + address(other)
        one, two = control(given.turn[at]), control(given.turn[to])
        given.turn[at] = np.int32(two)
        given.turn[to] = np.int32(one)


@device_function
def taking_turn(slot, turn):
    """Return what `shuffle` put at a turn (control)."""
    return control(slot.given.turn[slot.turn + address(turn)])


@device_function
def draw_luck(
    slot,  # IN log_table; OUT luck
    count,  # IN int64: number of places
    turn,  # IN int64: turn in the sweep
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Draw the Gumbel noise of `count` places, one per lane; none if gamma is infinite.

    Returns where it starts (uint64).
    """
    start = slot.luck
    if noise != np.int64(0):
        for part in range(control((address(count) + slot.lanes - address(1)) // slot.lanes)):
            item = lane_at(slot, part)
            drawn = gumbel(slot.given.log_table, word_of(slot, item, turn, sweep))
            slot.given.luck[start + item] = drawn * noise
        start = in_step(start)
    return start


@device_function
def luck_of(
    slot,  # IN luck
    start,  # IN uint64: where the noise of the places starts
    item,  # IN int64: the place
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return the Gumbel noise of a place (int64)."""
    luck = np.int64(0)
    if noise != np.int64(0):
        luck = slot.given.luck[start + address(item)]
    return luck
