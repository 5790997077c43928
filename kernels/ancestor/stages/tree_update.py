"""Tree update: the current tree, the move and the parents' rows become the proposed tree."""

from typing import Any

from syclade.kernels.ancestor.find_parent import make_from_memory
from syclade.kernels.ancestor.stages.move_record import read_move
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.target import address, device_function


def make_tree_update_stage(nodes: int, words: int, lanes: int) -> Any:
    """The stage for matrices of `nodes` rows of `words` words; each lane writes every `lanes`-th row."""
    matrix_size, both = address(nodes * words), address(2 * words)
    tree_update = make_tree_update(nodes, words, lanes, make_from_memory(words))

    @device_function
    def ancestor_tree_update(number, lane, given):
        """Write the lane's rows of the proposed tree."""
        tree_update(given, number * matrix_size, number * both, lane, read_move(given.move, number))

    return ancestor_tree_update
