"""Parts of the slot's arrays and of a proposal that the screen's functions share."""

from typing import Any, NamedTuple

from syclade.kernels.preorder.changes import ONE_IN_THE_OTHER, ONE_INTERVAL
from syclade.kernels.preorder.screened.arguments import ROWS
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, choose, control, device_function, equal, maximum

_ZERO = control(0)
_ONE = control(1)
_ROWS = address(ROWS)


class Shifted(NamedTuple):
    """Nodes that a proposal shifts, all control.

    Attributes:
        row_1, less_1: rows of subtrees: the first shift moves the one without the other.
        count_1: number of nodes that the first shift moves.
        row_2: row of a subtree: the second shift moves it.
        count_2: number of nodes that the second shift moves; 0 if it moves none, or moves them by nothing.
        mask_1, mask_2: mask of whether `less_1` and `row_2` count.
    """

    row_1: Any
    less_1: Any
    count_1: Any
    row_2: Any
    count_2: Any
    mask_1: Any
    mask_2: Any


@device_function
def shifted_by(
    slot,  # IN places
    moved,  # IN Moved
):
    """Return Shifted."""
    places, base = slot.given.places, slot.base
    alone = equal(moved.shape, ONE_INTERVAL)
    nested = equal(moved.shape, ONE_IN_THE_OTHER)
    row_1 = row_at(places, base + address(moved.a1))
    row_2 = row_at(places, base + address(choose(alone, moved.a1, moved.a2)))
    inner = choose(alone, _ZERO, moved.b2 - moved.a2)
    shifts_2 = ~equal(moved.plus_2, moved.minus_2) & ~alone
    return Shifted(
        row_1,
        row_2,
        moved.b1 - moved.a1 - (inner & nested),
        row_2,
        inner & shifts_2,
        nested,
        shifts_2,
    )


@device_function
def sums_at(slot):
    """Return where the lane's first cell is in the slot's first row of `subtree_sums` (address)."""
    here = slot.here
    return here.number * address(here.sizes.nodes * here.sizes.cells) + here.lane


@device_function
def proposed_at(slot):
    """Return where the lane's first cell is in the slot's first row of `proposed` (address)."""
    here = slot.here
    return here.number * (_ROWS * address(here.sizes.cells)) + here.lane


@device_function
def last_block_rows(slot):
    """Return the two rows, control, whose maximum is that over all positions."""
    here = slot.here
    last = ((here.tree_nodes - _ONE) >> here.sizes.block_bits) * here.sizes.cells
    return here.layout.before + last, here.layout.top + last


@device_function
def best_now(
    slot,  # IN tables
    at,  # IN address: the lane's cell in the first row of the slot's tables
    before,  # IN control: result of `last_block_rows`
    top,  # IN control: likewise
):
    """Return the best score of a cell in the tree (int32)."""
    tables = slot.given.tables
    return maximum(tables[at + address(before)], tables[at + address(top)])
