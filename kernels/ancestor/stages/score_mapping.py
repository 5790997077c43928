"""Score mapping: the score of every column at every node of the proposed tree, each independent of all
others.

The map of the thesis's map and reduce (algorithm 3.9); the reductions are the next stage's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.ancestor.score_mapping import make_worth_at
from syclade.kernels.target import address, device_function


def make_score_mapping_stage(capacity: Callable[..., Any], lanes: int, **sizes: int) -> Any:
    """The stage; each lane does every `lanes`-th node.

    Args:
        capacity: makes the device function () -> Capacity from the sizes.
        lanes: work-items a slot.
        sizes: as in `Capacity`, where they are known.
    """
    capacity_of, lane_bits = capacity(**sizes), bits_of(lanes)
    worth_at = make_worth_at(capacity_of)

    @device_function
    def ancestor_score_mapping(number, lane, given):
        """Write the lane's nodes of every column."""
        capacity = capacity_of()
        row_stride = address(capacity.nodes)
        base, out = (
            number * row_stride * address(capacity.words),
            number * row_stride * address(capacity.cells),
        )
        for cell in range(capacity.cells):
            row = out + address(cell) * row_stride
            for part in range(capacity.nodes >> lane_bits):
                node = address(part * lanes) + lane
                score = worth_at(given, number, given.proposal, base, address(cell), node)
                given.worth[row + node] = np.int32(score)

    return ancestor_score_mapping
