"""Score mapping: the score of every column at every node of the proposed tree, each independent of all
others.

The map of the thesis's map and reduce (algorithm 3.9); the reductions are the next stage's.
"""

from typing import Any

import numpy as np

from syclade.kernels.ancestor.score_mapping import make_worth_at
from syclade.kernels.target import address, device_function


def make_score_mapping_stage(nodes: int, words: int, cells: int, lanes: int, values: int) -> Any:
    """The stage; each lane does every `lanes`-th node.

    Args:
        nodes, words: of a matrix; `nodes` is a multiple of `lanes`.
        cells: columns.
        lanes: work-items a slot.
        values: planes, one a value that may be observed.
    """
    matrix_size, row_stride = address(nodes * words), address(nodes)
    worth_size = address(cells * nodes)
    rounds = nodes // lanes
    worth_at = make_worth_at(nodes, words, cells, values)

    @device_function
    def ancestor_score_mapping(number, lane, given):
        """Write the lane's nodes of every column."""
        base, out = number * matrix_size, number * worth_size
        for cell in range(cells):
            row = out + address(cell) * row_stride
            for part in range(rounds):
                node = address(part * lanes) + lane
                score = worth_at(given, number, given.proposal, base, address(cell), node)
                given.worth[row + node] = np.int32(score)

    return ancestor_score_mapping
