"""Entries of guides (the mirror of `kernels/moves/guide.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Draws
from syclade.fallback.moves.words import Numbers, Words

UPPER_BITS = 16


def whole_word(word: Words, first: Numbers, mutations: int) -> Numbers:
    """Return the third random word as it is: the draw of guided moves."""
    return word.astype(np.int64)


def entries_of(table: NDArray[Any], draws: Draws) -> tuple[Numbers, Numbers]:
    """Return both nodes of the entries that lanes draw from their slots' tables, (slots, 2^k)."""
    bits = table.shape[1].bit_length() - 1
    entry = table[draws.slots, draws.second >> (32 - bits)].astype(np.int64)
    return entry >> UPPER_BITS, entry & ((1 << UPPER_BITS) - 1)
