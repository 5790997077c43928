"""Exchange subtrees: two unrelated subtrees swap places.

Each is shifted by the difference of the parents' scores.
"""

from syclade.kernels.chain.edits import EXCHANGE_SUBTREES
from syclade.kernels.preorder.changes import (
    TWO_APART,
    Changes,
    Climbs,
    Growth,
    Moved,
    Permutation,
    Rearranged,
    Runs,
    Touched,
)
from syclade.kernels.preorder.edits.edit import Edit
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tree.blocks import Blocks
from syclade.kernels.preorder.tree.intervals import interval_of, row_above
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, choose, control, device_function, less

_ZERO = control(0)
_ONE = control(1)


@device_function
def touched_blocks(
    local,  # IN Local
    run,  # IN control: where the first run starts now; it is the later one
    end_run,  # IN control: its end
    other_run,  # IN control: where the second run starts now
    end_other_run,  # IN control: its end
):
    """Return both runs' blocks, each with the run that it has received (Touched)."""
    if local.old == local.new:
        return Touched(local.old, local.old + _ONE, other_run, end_run, _ZERO, _ZERO, _ZERO, _ZERO)
    return Touched(
        local.old, local.old + _ONE, other_run, end_other_run, local.new, local.new + _ONE, run, end_run
    )


def make_exchange_subtrees(_form: Form, blocks: Blocks) -> Edit:
    """Return the edit for tables of this form."""
    exchange = blocks.exchange

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return two separate intervals; x is the node of the first one (Moved)."""
        v, w = proposal.v, proposal.w
        place_v, end_v = interval_of(slot, v)
        above_v = row_above(slot, v)
        place_w, end_w = interval_of(slot, w)
        above_w = row_above(slot, w)
        w_first = less(place_w, place_v)
        x = choose(w_first, w, v)
        a1 = choose(w_first, place_w, place_v)
        b1 = choose(w_first, end_w, end_v)
        b2 = end_v + end_w - b1
        above_x = choose(w_first, above_w, above_v)
        above_y = choose(w_first, above_v, above_w)
        return Moved(
            TWO_APART, x, a1, b1, v + w - x, place_v + place_w - a1, b2, b1, b2,
            above_y, above_x, above_x, above_y,
        )  # fmt: skip

    @device_function
    def rearranged(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Return the swap of two runs around what is between them (Rearranged)."""
        given, base = slot.given, slot.base
        a1, b1, a2, b2 = moved.a1, moved.b1, moved.a2, moved.b2
        above_x = control(given.parent[base + address(moved.x)])
        above_y = control(given.parent[base + address(moved.y)])
        row_x = row_at(given.places, base + address(a1))
        row_y = row_at(given.places, base + address(a2))
        place_above_x = control(given.position[base + address(above_x)])
        place_above_y = control(given.position[base + address(above_y)])
        middle = a1 + b2 - a2
        last = middle + a2 - b1
        more = (b2 - a2) - (b1 - a1)
        local = exchange(slot, a1, b1, a2, b2)
        return Rearranged(
            Permutation(a1, middle, last, b2, b2, a2 - a1, b1 - middle, a1 - last, _ZERO),
            Growth(more, place_above_x, _ZERO, -more, place_above_y, _ZERO),
            above_y,
            above_x,
            local,
            Changes(
                Runs(
                    last,
                    b2,
                    _ZERO,
                    _ZERO,
                    a1,
                    middle,
                    moved.plus_1,
                    moved.minus_1,
                    moved.plus_2,
                    moved.minus_2,
                ),
                touched_blocks(local, last, b2, a1, middle),
                Climbs(above_x, row_x, row_y, above_y, row_y, row_x, slot.here.tree_nodes),
            ),
        )

    return Edit(EXCHANGE_SUBTREES, moved, rearranged)
