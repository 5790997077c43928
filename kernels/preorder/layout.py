"""Where things stand in a slot's tables: rows of one int32 a cell. No device code.

A node's rows keep their place while the tree changes; positions of the preorder say which rows are theirs.
The order is cut into blocks of about `block` positions, and every node has the running maxima of its block
from either side, so that the maximum over any range of positions is that of a few rows (SCIENCE.md 4). The
maxima go with the node, and blocks have no fixed length: a subtree that moves changes two blocks only.
"""

from typing import NamedTuple


class Layout(NamedTuple):
    """Row numbers inside a slot's tables."""

    zero: int  # a row of zeros: the scores of padding positions
    prefix: int  # + score row: maximum from the start of its block to it
    suffix: int  # + score row: maximum from it to the end of its block
    weights: int  # + label: what the mutation adds to each cell below it
    before: int  # + block: maximum over all earlier blocks
    after: int  # + block: maximum over all later blocks
    shift: int  # two rows: what an accepted move adds to the rows that it moves
    rows: int


def make_layout(nodes: int, block: int) -> Layout:
    """The layout for `nodes` positions; scores stand in rows 0 … nodes-1, then that of padding."""
    blocks = count_blocks(nodes, block)
    zero = nodes
    prefix = zero + 1
    suffix = prefix + nodes + 1
    weights = suffix + nodes + 1
    before = weights + nodes
    after = before + blocks
    shift = after + blocks
    return Layout(zero, prefix, suffix, weights, before, after, shift, shift + 2)


def count_blocks(nodes: int, block: int) -> int:
    """Most blocks that `nodes` positions can have."""
    return -(-nodes // block)
