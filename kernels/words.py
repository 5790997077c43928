"""Bit-parallel words: 64 tree nodes per word."""

import numpy as np

from syclade.kernels.target import device_function

ONE = np.uint64(1)
WORD_SHIFT = np.uint64(6)
WORD_MASK = np.uint64(63)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLE_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@device_function
def popcount(word):
    """Return the number of set bits of a uint64, as uint64.

    The CPU compiler turns this formula into one instruction.
    """
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _NIBBLE_PAIRS) + ((word >> np.uint64(2)) & _NIBBLE_PAIRS)
    word = (word + (word >> np.uint64(4))) & _NIBBLES
    return (word * _BYTES) >> np.uint64(56)


@device_function
def bit_of(word, node):
    """Return bit `node mod 64` of a uint64 word, as uint64 0 or 1."""
    return (word >> (node & WORD_MASK)) & ONE


@device_function
def spread(bit):
    """Return a word of all ones for bit 1, of all zeros for bit 0 (selection without a branch)."""
    return np.uint64(0) - bit
