"""Sizes that a preorder kernel is specialised for. No device code."""

from typing import NamedTuple


class Shape(NamedTuple):
    """Sizes of the tree and of its tables.

    Attributes:
        nodes: positions, a multiple of `lanes`, more than the tree's nodes.
        labels: tree nodes, a multiple of `lanes`.
        cells: columns, a multiple of `lanes * panels`.
        block: approximate number of positions per block, a power of two.
        lanes: work-items per slot.
        panels: panels per row; a lane goes through its cells panel by panel.
        subtrees: 1 if there are maxima over every node's subtree, with sketches: in wide tables.
    """

    nodes: int
    labels: int
    cells: int
    block: int
    lanes: int
    panels: int
    subtrees: int

    @property
    def rounds(self) -> int:
        """Number of cells of a panel per lane."""
        return self.cells // (self.lanes * self.panels)

    @property
    def most_blocks(self) -> int:
        """Maximum number of blocks that the order can have."""
        return -(-self.nodes // self.block)

    @property
    def block_bits(self) -> int:
        """log2 of `block`."""
        return self.block.bit_length() - 1


def count_panels(columns: int, lanes: int, panel_rounds: int) -> int:
    """Return the number of panels of equal width that hold the columns.

    Each panel has at most `panel_rounds * lanes` columns.
    """
    rounds = -(-columns // lanes)
    return -(-rounds // panel_rounds)


def padded_cells(columns: int, lanes: int, panel_rounds: int) -> int:
    """Return the number of columns with the padding that fills the last panel."""
    rounds = -(-columns // lanes)
    panels = count_panels(columns, lanes, panel_rounds)
    return -(-rounds // panels) * panels * lanes
