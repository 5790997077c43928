"""Tree update: all edits merged in one loop over the rows (thesis 3.1.2 to 3.1.6).

Rows of ancestors are bit sets, and p(v) is the parent of v:

- reattach v to t:        rows with v:        row(t)    | (row & ~row(p(v)))
- exchange subtrees:      rows with v:        row(p(w)) | (row & ~row(p(v)))
                          rows with w:        row(p(v)) | (row & ~row(p(w)))
- turn over:              rows with v:        row(p(w)) | (row & ~row(p(v)))
  (w above v, t below v)  rows with w only:   row(p(w)) | (row(t) & ~row(p(v))) | (row & ~row(p(w)))
- exchange labels:        rows v and w swap places, and so do bits v and w in every row.
- nothing:                all rows stay.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.chain.edits import EXCHANGE_LABELS, EXCHANGE_SUBTREES, REATTACH, TURN_OVER
from syclade.kernels.target import address, device_function
from syclade.kernels.words import ONE, WORD_MASK, WORD_SHIFT, bit_of, spread

_OF_V, _OF_W = address(0), address(1)


def make_tree_update(capacity_of: Any, lanes: int, parent_word: Any) -> Callable[..., Any]:
    """Return the device function for matrices of a capacity; each lane updates every `lanes`-th row.

    Args:
        capacity_of: device function () -> Capacity.
        lanes: lanes per slot.
        parent_word: device function that returns a word of the row of a node's parent (find_parent.py).
    """
    lane_bits = bits_of(lanes)

    @device_function
    def swap_bits(
        word,  # IN uint64: word `index` of a row
        other_word,  # IN uint64: 1 if bits `node` and `other` of the row differ, else 0
        node,  # IN uint64
        other,  # IN uint64
        index,  # IN uint64: which word of the row
    ):
        """Return the word with bits `node` and `other` of the row exchanged (uint64)."""
        here = np.uint64((node >> WORD_SHIFT) == index)
        there = np.uint64((other >> WORD_SHIFT) == index)
        return word ^ (other_word * ((here << (node & WORD_MASK)) | (there << (other & WORD_MASK))))

    @device_function
    def tree_update(
        given,  # IN ancestors, OUT proposal: (slots, words, nodes) uint64, flat; IN what parent_word reads
        base,  # IN address: where the slot's matrix starts
        rows,  # IN address: where its rows of parents start, if they are in memory
        lane,  # IN address
        edited,  # IN Proposal: the edit
    ):
        """Write the lane's rows of the proposed tree."""
        ancestors, proposal = given.ancestors, given.proposal
        capacity = capacity_of()
        row_stride, rounds = address(capacity.nodes), capacity.nodes >> lane_bits
        v, w, t = np.uint64(edited.v), np.uint64(edited.w), np.uint64(edited.t)
        is_swap = spread(np.uint64(edited.edit == EXCHANGE_LABELS))
        is_prune = spread(np.uint64(edited.edit == REATTACH))
        is_unrelated = spread(np.uint64(edited.edit == EXCHANGE_SUBTREES))
        is_related = spread(np.uint64(edited.edit == TURN_OVER))
        moves_v = is_prune | is_unrelated | is_related
        moves_w = is_unrelated | is_related
        start_v = base + (v >> WORD_SHIFT) * row_stride
        start_w = base + (w >> WORD_SHIFT) * row_stride
        # Bits v and w of the old row w differ if bit v is 0, since a row's own bit is set; likewise in row v.
        differs_in_w = bit_of(ancestors[start_v + w], v) ^ ONE
        differs_in_v = bit_of(ancestors[start_w + v], w) ^ ONE
        for index in range(capacity.words):
            k = np.uint64(index)
            start = base + k * row_stride
            row_v = ancestors[start + v]
            row_w = ancestors[start + w]
            row_t = ancestors[start + t]
            above_v = parent_word(given, rows, _OF_V, row_v, v, k)
            above_w = parent_word(given, rows, _OF_W, row_w, w, k)
            gain_v = (is_prune & row_t) | (moves_w & above_w)
            gain_w = (is_unrelated & above_v) | (is_related & (above_w | (row_t & ~above_v)))
            for part in range(rounds):
                row = address(part * lanes) + lane
                word = ancestors[start + row]
                bit_v = bit_of(ancestors[start_v + row], v)
                bit_w = bit_of(ancestors[start_w + row], w)
                in_v = spread(bit_v) & moves_v
                in_w = spread(bit_w) & moves_w & ~in_v
                moved = (in_v & (gain_v | (word & ~above_v))) | (in_w & (gain_w | (word & ~above_w)))
                kept = word & ~(in_v | in_w)
                # Swapped labels: row v is made from row w, and row w from row v.
                at_v = spread(np.uint64(row == v))
                at_w = spread(np.uint64(row == w))
                elsewhere = ~(at_v | at_w)
                source = (at_v & row_w) | (at_w & row_v) | (elsewhere & word)
                differs = (at_v & differs_in_w) | (at_w & differs_in_v) | (elsewhere & (bit_v ^ bit_w))
                swapped = swap_bits(source, differs, v, w, k)
                proposal[start + row] = (swapped & is_swap) | ((moved | kept) & ~is_swap)

    return tree_update
