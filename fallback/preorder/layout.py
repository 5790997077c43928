"""Where things stand in the tables of a group of slots (compare `kernels/preorder/layout.py`).

A *place* is a position of the preorder counted over all slots: slot * positions + position. Places are cut
into blocks of 2^block_bits, and a block never spans two slots. Sections of the tables are indexed by place or
by block, so that row numbers come from places by adding a constant.
"""

from typing import NamedTuple


class Layout(NamedTuple):
    """Sizes, and first rows of the sections.

    Rows level * places + place are the maxima over windows of 2^level places, from this one on: level 0 has
    the scores themselves. A window that reaches beyond its block means nothing, nor does a span of blocks
    that reaches beyond its slot.
    """

    slots: int
    labels: int  # nodes of a tree, root included
    positions: int  # of a slot, a multiple of the block
    block_bits: int
    blocks: int  # of a slot
    span_levels: int  # spans of 1, 2, 4, … blocks
    spans: int  # + level * slots * blocks + block: maximum over 2^level blocks of the slot, from this one on
    weights: int  # + label: what the mutation adds to each cell below it
    low: int  # the last row: lower than any score, whatever the shift
    rows: int

    @property
    def places(self) -> int:
        """Places of all slots."""
        return self.slots * self.positions


def make_layout(labels: int, slots: int) -> Layout:
    """The layout for trees of `labels` nodes in `slots` slots."""
    block_bits = 3 if labels <= 128 else 4 if labels <= 512 else 5
    blocks = -(-labels >> block_bits)
    positions = blocks << block_bits
    spans = block_bits * slots * positions
    # No range has all blocks of a slot.
    span_levels = max(1, (blocks - 1).bit_length())
    weights = spans + span_levels * slots * blocks
    low = weights + labels
    return Layout(slots, labels, positions, block_bits, blocks, span_levels, spans, weights, low, low + 1)


def rows_per_slot(labels: int) -> int:
    """Rows that one slot more takes."""
    return make_layout(labels, 2).rows - make_layout(labels, 1).rows
