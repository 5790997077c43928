"""Turn over: of two related nodes, the lower, v, takes the upper's place, and the upper, w, moves below t.

v's interval shifts by the scores of w's parent minus those of v's parent. The rest of w's interval shifts by
those of t minus those of v's parent.
"""

from syclade.kernels.chain.edits import TURN_OVER
from syclade.kernels.preorder.changes import (
    ONE_IN_THE_OTHER,
    Changes,
    Climbs,
    Growth,
    Local,
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
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)
_NOBODY = control(-1)


def make_turn_over(_form: Form, _blocks: Blocks) -> Edit:
    """Return the edit for tables of this form."""

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return v's interval, which is y's, inside w's, which is x's (Moved)."""
        v, w, t = proposal.v, proposal.w, proposal.t
        place_v, end_v = interval_of(slot, v)
        above_v = row_above(slot, v)
        place_w, end_w = interval_of(slot, w)
        above_w = row_above(slot, w)
        row_t = control(slot.given.row_of[slot.base + address(t)])
        return Moved(
            ONE_IN_THE_OTHER, w, place_w, end_w, v, place_v, end_v, place_v, end_w,
            row_t, above_v, above_w, above_v,
        )  # fmt: skip

    @device_function
    def rearranged(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Return the order with v's run first and, inside it after t, the rest of w's run (Rearranged)."""
        given, base = slot.given, slot.base
        a1, b1, a2, b2 = moved.a1, moved.b1, moved.a2, moved.b2
        above_x = control(given.parent[base + address(moved.x)])
        above_y = control(given.parent[base + address(moved.y)])
        row_x = row_at(given.places, base + address(a1))
        row_y = row_at(given.places, base + address(a2))
        place_above_y = control(given.position[base + address(above_y)])
        place_t = control(given.position[base + address(proposal.t)])
        second = a1 + place_t - a2 + _ONE
        third = second + a2 - a1
        fourth = third + b1 - b2
        return Rearranged(
            Permutation(
                a1, second, third, fourth, b1, a2 - a1, a1 - second, b2 - third, place_t + _ONE - fourth
            ),
            Growth(a2 - b2, place_above_y, a1, (b1 - a1) - (b2 - a2), place_t, a2),
            proposal.t,
            above_x,
            Local(_ZERO, _ZERO, _ZERO),  # too many nodes move
            Changes(
                Runs(
                    a1,
                    second,
                    fourth,
                    b1,
                    second,
                    fourth,
                    moved.plus_2,
                    moved.minus_2,
                    moved.plus_1,
                    moved.minus_1,
                ),
                Touched(_ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO),
                Climbs(above_y, row_x, row_x, _NOBODY, row_y, row_y, a1),
            ),
        )

    return Edit(TURN_OVER, moved, rearranged)
