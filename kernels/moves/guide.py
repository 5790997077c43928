"""Guide of a slot: tables of promising proposals, from which guided moves draw. No move by itself.

A guide gives each pair of a mutation and a new parent, and each pair of labels to swap, a count; the counts
of all pairs sum up to the length of its table. A proposal has the probability of its count. A guide does not
change while its samples count, so a chain with guided moves samples the same posterior as one without
(docs/model.md, "Guided moves").
"""

import numpy as np

from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.target import address, control, device_function

LEAST_BITS, MORE_BITS = 16, 2
LONGER_ABOVE = (128, 256, 512)
"""A table has 2^16 entries, and four times as many above each of these numbers of mutations: at least four
for each pair, or most pairs would have none, and nodes in places that the guide never proposes would stay."""

UPPER_BITS = 16
"""An entry is its first node times two to this power, plus its second node."""

NEVER = -1
"""In `guide_logs`: the guide never proposes this pair. Other entries are at least 0."""

OF_REATTACH = (
    Argument("guide_edges", SETTING, "int32", ("slots", "guide_entries"), "a mutation and its new parent"),
    Argument(
        "guide_logs", SETTING, "int32", ("slots", "guided_edges"), "ln(number of entries of a pair) / gamma"
    ),
)
"""Arguments of the guided reattachment; `guide_logs` has a row of n + 1 parents for each mutation."""

OF_SWAP = (Argument("guide_swaps", SETTING, "int32", ("slots", "guide_entries"), "two labels to swap"),)
"""Arguments of the guided swap."""

_WORD_BITS = control(32)
_LEAST_BITS, _MORE_BITS = control(LEAST_BITS), control(MORE_BITS)
_SMALL, _MEDIUM, _LARGE = (control(above) for above in LONGER_ABOVE)
_UPPER = control(UPPER_BITS)
_LOWER = control((1 << UPPER_BITS) - 1)


@device_function
def whole_word(word, first, mutations):
    """Return the third random word as it is: the draw of guided moves (uint64)."""
    return word


@device_function
def index_bits(mutations):
    """Return the bits of an index into a table of entries (control)."""
    longer = control(mutations > _SMALL) + control(mutations > _MEDIUM) + control(mutations > _LARGE)
    return _LEAST_BITS + _MORE_BITS * longer


@device_function
def entry_of(
    table,  # IN (slots, entries) int32, flat
    number,  # IN address: the slot
    word,  # IN control: a random word of 32 bits
    mutations,  # IN control
):
    """Return a random entry of the slot's table (control)."""
    bits = index_bits(mutations)
    start = number << address(bits)
    return control(table[start + address(word >> (_WORD_BITS - bits))])


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
