"""Tree update: compute the proposed tree from the current tree, the move and the parents' rows."""

from collections.abc import Callable
from typing import Any

from syclade.kernels.ancestor.capacity import matrix_start
from syclade.kernels.ancestor.find_parent import make_from_memory
from syclade.kernels.ancestor.stages.move_record import read_move
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.target import address, device_function

_TWO = address(2)


def make_tree_update_stage(capacity: Callable[..., Any], lanes: int, **sizes: int) -> Any:
    """Return the stage; each lane writes every `lanes`-th row.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        lanes: work-items per slot.
        sizes: as in `Capacity`, if they are known.
    """
    capacity_of = capacity(**sizes)
    tree_update = make_tree_update(capacity_of, lanes, make_from_memory(capacity_of))

    @device_function
    def ancestor_tree_update(number, lane, given):
        """Write the lane's rows of the proposed tree."""
        capacity = capacity_of()
        base = matrix_start(capacity, number)
        rows = number * address(capacity.words) * _TWO
        tree_update(given, base, rows, lane, read_move(given.move, number))

    return ancestor_tree_update
