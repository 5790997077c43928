"""Maximum score: a cell contributes the score of its best attachment (SCITE's default)."""

from syclade.kernels.chain.parts import Score
from syclade.kernels.target import device_function


@device_function
def of_cell(
    given,  # IN the kernel's arguments
    number,  # IN uint64: the slot
    best,  # IN int32, one per lane
):
    """Return the best attachment's score itself."""
    return best


SCORE = Score(arguments=(), of_cell=of_cell, wide=False)
