"""Where things stand in a slot's tables: rows of one int32 a cell. No device code.

A row is called by where it starts, its number times the cells of a row, so that no step has to multiply.

A node's rows keep their place while the tree changes; positions of the preorder say which rows are theirs.
The order is cut into blocks of about `block` positions, and every node has the running maxima of its block
from either side, so that the maximum over any range of positions is that of a few rows (SCIENCE.md 4). The
maxima go with the node, and blocks have no fixed length: a subtree that moves changes two blocks only.
"""

from typing import NamedTuple

PANEL_ROUNDS = 8
"""Cells of a panel that a lane keeps in registers, twice: 16 of the 32 of AVX-512."""

SKETCHES_BEYOND = 768
"""Columns beyond which sketches pay: narrower tables are read whole in less time."""

SKETCH_BITS = 15
"""Bits of a score that its sketch leaves out: no score reaches 2^30, a sketch has 16 bits."""


LARGEST_TABLES = 2**31
"""Numbers that a slot's tables may have, so that where a row starts fits in an int32."""


class Layout(NamedTuple):
    """Where rows start inside a slot's tables; scores stand in the first rows, one a node."""

    zero: int  # a row of zeros: the scores of padding positions
    weights: int  # + label * cells: what the mutation adds to each cell below it
    subtree: int  # + score row: maximum over the node's subtree; only in tables with sketches
    prefix: int  # + score row: maximum from the start of its block to it
    suffix: int  # + score row: maximum from it to the end of its block
    top: int  # + block * cells: its maximum
    before: int  # + block * cells: maximum over all earlier blocks
    after: int  # + block * cells: maximum over all later blocks
    rows: int  # how many there are
    sketched: int  # how many have sketches (sketches.py), the first ones; 1 for none


def make_layout(nodes: int, cells: int, block: int) -> Layout:
    """The layout for `nodes` positions and `cells` columns."""
    blocks = count_blocks(nodes, block)
    sketches = has_sketches(cells)
    zero = nodes
    weights = zero + 1
    subtree = weights + nodes
    prefix = subtree + (nodes if sketches else 0)
    suffix = prefix + nodes + 1
    top = suffix + nodes + 1
    before = top + blocks
    after = before + blocks
    sketched = prefix if sketches else 1
    return Layout(
        zero * cells,
        weights * cells,
        subtree * cells,
        prefix * cells,
        suffix * cells,
        top * cells,
        before * cells,
        after * cells,
        after + blocks,
        sketched,
    )


def has_sketches(cells: int) -> bool:
    """Whether tables of so many columns have sketches and subtree maxima."""
    return cells > SKETCHES_BEYOND


def count_blocks(nodes: int, block: int) -> int:
    """Most blocks that `nodes` positions can have."""
    return -(-nodes // block)


class Panels(NamedTuple):
    """How a row is cut: a lane has `rounds` cells of each of `panels` panels."""

    panels: int
    rounds: int


def panels_of(cells: int, lanes: int) -> Panels:
    """Panels of equal width, at most `PANEL_ROUNDS * lanes` columns each, of `padded_cells` columns."""
    rounds = cells // lanes
    count = -(-rounds // PANEL_ROUNDS)
    assert rounds % count == 0, "cells must be padded to whole panels"
    return Panels(count, rounds // count)


def padded_cells(columns: int, lanes: int) -> int:
    """Columns with the padding that fills the last panel."""
    rounds = -(-columns // lanes)
    count = -(-rounds // PANEL_ROUNDS)
    return -(-rounds // count) * count * lanes
