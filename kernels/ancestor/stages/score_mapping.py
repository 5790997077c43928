"""Score mapping: the scores of every column at every node of the proposed tree, independent of each other.

This is the map of the thesis's map and reduce (algorithm 3.9); the next stage does the reductions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of, matrix_start
from syclade.kernels.ancestor.score_mapping import make_worth_at
from syclade.kernels.target import address, device_function


def make_score_mapping_stage(capacity: Callable[..., Any], lanes: int, **sizes: int) -> Any:
    """Return the stage; each lane does every `lanes`-th node.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        lanes: work-items per slot.
        sizes: as in `Capacity`, if they are known.
    """
    capacity_of, lane_bits = capacity(**sizes), bits_of(lanes)
    worth_at = make_worth_at(capacity_of)

    @device_function
    def ancestor_score_mapping(number, lane, given):
        """Write the scores of every column at the lane's nodes."""
        capacity = capacity_of()
        row_stride = address(capacity.nodes)
        base, out = (
            matrix_start(capacity, number),
            number * row_stride * address(capacity.cells),
        )
        for cell in range(capacity.cells):
            row = out + address(cell) * row_stride
            for part in range(capacity.nodes >> lane_bits):
                node = address(part * lanes) + lane
                score = worth_at(given, number, given.proposal, base, address(cell), node)
                given.worth[row + node] = np.int32(score)

    return ancestor_score_mapping
