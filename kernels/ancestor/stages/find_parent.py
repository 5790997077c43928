"""Find parent: the rows of the parents of v and w, each the node's own row with one bit cleared."""

from typing import Any

import numpy as np

from syclade.kernels.ancestor.find_parent import parent_row_word
from syclade.kernels.ancestor.stages.move_record import read_move
from syclade.kernels.target import address, device_function


def make_find_parent_stage(nodes: int, words: int) -> Any:
    """The stage for matrices of `nodes` rows of `words` words. One work-item."""
    matrix_size, row_stride, row_words = address(nodes * words), address(nodes), address(words)
    both = address(2 * words)

    @device_function
    def ancestor_find_parent(number, lane, given):
        """Write both rows."""
        move = read_move(given.move, number)
        base, at = number * matrix_size, number * both
        v, w = address(move.v), address(move.w)
        for index in range(words):
            word = np.uint64(index)
            start = base + word * row_stride
            given.parent_rows[at + word] = parent_row_word(given.ancestors[start + v], v, word)
            given.parent_rows[at + row_words + word] = parent_row_word(given.ancestors[start + w], w, word)

    return ancestor_find_parent
