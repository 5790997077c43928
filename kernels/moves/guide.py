"""Guide of a slot: tables of promising proposals, from which guided moves draw. No move by itself.

A guide gives each pair of a mutation and a new parent, and each pair of labels to swap, a count; the counts
of all pairs sum up to `ENTRIES`. A proposal has the probability of its count. A guide does not change while
its samples count, so a chain with guided moves samples the same posterior as one without
(docs/model.md, "Guided moves").
"""

import numpy as np

from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.target import address, control, device_function

ENTRY_BITS = 16

ENTRIES = 1 << ENTRY_BITS
"""Entries of a table of proposals."""

UPPER_BITS = 16
"""An entry is its first node times two to this power, plus its second node."""

NEVER = -1
"""In `guide_logs`: the guide never proposes this pair. Other entries are at least 0."""

OF_REATTACH = (
    Argument("guide_edges", SETTING, "int32", ("slots", ENTRIES), "a mutation and its new parent"),
    Argument(
        "guide_logs", SETTING, "int32", ("slots", "guided_edges"), "ln(number of entries of a pair) / gamma"
    ),
)
"""Arguments of the guided reattachment; `guide_logs` has a row of n + 1 parents for each mutation."""

OF_SWAP = (Argument("guide_swaps", SETTING, "int32", ("slots", ENTRIES), "two labels to swap"),)
"""Arguments of the guided swap."""

_UNUSED_BITS = control(32 - ENTRY_BITS)
_UPPER = control(UPPER_BITS)
_LOWER = control((1 << UPPER_BITS) - 1)


@device_function
def whole_word(word, first, mutations):
    """Return the third random word as it is: the draw of guided moves (uint64)."""
    return word


@device_function
def entry_of(
    table,  # IN (slots, ENTRIES) int32, flat
    number,  # IN address: the slot
    word,  # IN control: a random word of 32 bits
):
    """Return a random entry of the slot's table (control)."""
    return control(table[number * address(ENTRIES) + address(word >> _UNUSED_BITS)])


@device_function
def first_of(entry):
    """Return the first node of an entry (control)."""
    return entry >> _UPPER


@device_function
def second_of(entry):
    """Return the second node of an entry (control)."""
    return entry & _LOWER


@device_function
def log_at(
    logs,  # IN (slots, n * (n + 1)) int32, flat
    number,  # IN address: the slot
    mutations,  # IN control
    v,  # IN control: a mutation
    parent,  # IN control
):
    """Return ln(number of entries of the pair) / gamma, in units of 2^-f nat, or `NEVER` (int64)."""
    width = address(mutations + control(1))
    return np.int64(logs[(number * address(mutations) + address(v)) * width + address(parent)])
