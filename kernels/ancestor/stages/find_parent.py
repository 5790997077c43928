"""Find parent: write the rows of the parents of v and w, each the node's own row with one bit cleared."""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import matrix_start
from syclade.kernels.ancestor.find_parent import parent_row_word
from syclade.kernels.ancestor.stages.move_record import read_move
from syclade.kernels.target import address, device_function

_TWO = address(2)


def make_find_parent_stage(capacity: Callable[..., Any], **sizes: int) -> Any:
    """Return the stage, which runs on one work-item.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        sizes: as in `Capacity`, if they are known.
    """
    capacity_of = capacity(**sizes)

    @device_function
    def ancestor_find_parent(number, lane, given):
        """Write both rows."""
        move = read_move(given.move, number)
        capacity = capacity_of()
        row_stride, row_words = address(capacity.nodes), address(capacity.words)
        base, at = matrix_start(capacity, number), number * row_words * _TWO
        v, w = address(move.v), address(move.w)
        for index in range(capacity.words):
            word = np.uint64(index)
            start = base + word * row_stride
            given.parent_rows[at + word] = parent_row_word(given.ancestors[start + v], v, word)
            given.parent_rows[at + row_words + word] = parent_row_word(given.ancestors[start + w], w, word)

    return ancestor_find_parent
