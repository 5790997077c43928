"""What a preorder kernel is compiled for: the same for many sizes. No device code."""

from typing import NamedTuple

from syclade.kernels.preorder.shape import Shape

BROAD = 128
"""Columns from which on it pays to ask whether a row changed.

A branch that depends on the answer costs more than to write a few narrow rows.
"""

FEW_BLOCKS = 6
"""So many maxima over blocks are renewed sooner than it is found out which of them change."""


class Form(NamedTuple):
    """What the compiler unrolls loops by and leaves code out by.

    Attributes:
        lanes: work-items a slot, a power of two.
        rounds: cells that a lane has of a panel, in registers.
        subtrees: 1 if there are maxima over every node's subtree, with sketches: in wide tables.
        broad: 1 if rows are worth asking whether they changed.
        few: 1 if there are so few blocks that their maxima are renewed without asking.
    """

    lanes: int
    rounds: int
    subtrees: int
    broad: int
    few: int

    @property
    def lane_bits(self) -> int:
        """log2 of `lanes`."""
        return self.lanes.bit_length() - 1


def form_of(shape: Shape) -> Form:
    """The form that suits tables of a shape best."""
    broad, few = int(shape.cells >= BROAD), int(shape.most_blocks <= FEW_BLOCKS)
    return Form(shape.lanes, shape.rounds, shape.subtrees, broad, few)
