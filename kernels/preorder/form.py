"""Form: the constants that a preorder kernel is compiled for, the same for many sizes. No device code."""

from typing import NamedTuple

from syclade.kernels.preorder.shape import Shape

BROAD = 128
"""Number of columns from which it pays to check whether a row changed.

A branch on the result costs more than to write a few narrow rows.
"""


class Form(NamedTuple):
    """Constants by which the compiler unrolls loops and leaves out code.

    Attributes:
        lanes: work-items per slot, a power of two.
        rounds: cells of a panel per lane, in registers.
        subtrees: 1 if there are maxima over every node's subtree, with sketches: in wide tables.
        broad: 1 if it pays to check whether a row changed.
    """

    lanes: int
    rounds: int
    subtrees: int
    broad: int

    @property
    def lane_bits(self) -> int:
        """log2 of `lanes`."""
        return self.lanes.bit_length() - 1


def form_of(shape: Shape) -> Form:
    """Return the form that suits tables of a shape best."""
    return Form(shape.lanes, shape.rounds, shape.subtrees, broad=int(shape.cells >= BROAD))
