"""Reattach: v's subtree moves below t.

Its interval shifts by the scores of t minus those of v's old parent.
"""

from syclade.kernels.chain.edits import REATTACH
from syclade.kernels.preorder.changes import (
    ONE_INTERVAL,
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
from syclade.kernels.preorder.tree.find_parent import branch_towards
from syclade.kernels.preorder.tree.intervals import interval_of, row_above
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def new_place(
    slot,  # IN parent, position, size
    v,  # IN control
    a,  # IN control: start of v's interval
    b,  # IN control: its end
    t,  # IN control
):
    """Return where v's run goes: (start of the change, end of the change, 1 if the run goes to its end).

    Any place among t's children is legal; this is the nearest.
    """
    given, base = slot.given, slot.base
    place_t, end_t = interval_of(slot, t)
    if place_t > a:
        return a, place_t + _ONE, _ONE
    if end_t <= a:
        return end_t, b, _ZERO
    # t is above v: go before or after the branch of t that has v.
    branch = address(branch_towards(given.parent, base, t, v))
    first = control(given.position[base + branch])
    last = first + control(given.size[base + branch])
    if last - a < b - first:
        return a, last, _ONE
    return first, b, _ZERO


@device_function
def permuted(
    start,  # IN control: start of the change
    stop,  # IN control: end of the change
    to_end,  # IN control: 1 if the run goes to its end, else 0
    a,  # IN control: start of the run
    b,  # IN control: end of the run
):
    """Return the permutation that moves the run [a, b) to the start or the end of the change."""
    length = b - a
    if to_end == _ONE:
        run = stop - length
        return Permutation(start, run, stop, stop, stop, length, a - run, _ZERO, _ZERO)
    return Permutation(start, start + length, stop, stop, stop, a - start, -length, _ZERO, _ZERO)


@device_function
def touched_blocks(
    local,  # IN Local
    start,  # IN control: start of the change
    stop,  # IN control: end of the change
    run,  # IN control: where the run starts now
    end_run,  # IN control: its end
):
    """Return the blocks that the run has left and joined (Touched).

    The block that it has left has no changed positions.
    """
    gap = stop  # position that followed the run at its old place
    if run != start:
        gap = start
    if local.old == local.new:
        return Touched(
            local.old, local.old + _ONE, min(gap, run), max(gap, end_run), _ZERO, _ZERO, _ZERO, _ZERO
        )
    return Touched(local.old, local.old + _ONE, gap, gap, local.new, local.new + _ONE, run, end_run)


def make_reattach(form: Form, blocks: Blocks) -> Edit:
    """Return the edit for tables of this form."""
    joins = blocks.joins

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return one interval (Moved)."""
        v, t = proposal.v, proposal.t
        a, b = interval_of(slot, v)
        row_old = row_above(slot, v)
        row_t = control(slot.given.row_of[slot.base + address(t)])
        zero = slot.here.layout.zero
        return Moved(ONE_INTERVAL, v, a, b, v, _ZERO, _ZERO, b, b, row_t, row_old, zero, zero)

    @device_function
    def rearranged(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Return the swap of a run with what is between it and its new place (Rearranged)."""
        given, base = slot.given, slot.base
        v, t, a, b = moved.x, proposal.t, moved.a1, moved.b1
        above = control(given.parent[base + address(v)])
        row_v = row_at(given.places, base + address(a))
        start, stop, to_end = new_place(slot, v, a, b, t)
        permutation = permuted(start, stop, to_end, a, b)
        run = start
        if to_end == _ONE:
            run = stop - (b - a)
        neighbour = start - _ONE  # position that will precede the run
        if run != start:
            neighbour = stop - _ONE
        end_run = run + (b - a)
        place_above = control(given.position[base + address(above)])
        place_t = control(given.position[base + address(t)])
        local = joins(slot, a, b, neighbour)
        return Rearranged(
            permutation,
            Growth(a - b, place_above, _ZERO, b - a, place_t, _ZERO),
            t,
            t,
            local,
            Changes(
                Runs(
                    run,
                    end_run,
                    _ZERO,
                    _ZERO,
                    _ZERO,
                    _ZERO,
                    moved.plus_1,
                    moved.minus_1,
                    moved.plus_2,
                    moved.minus_2,
                ),
                touched_blocks(local, start, stop, run, end_run),
                Climbs(above, row_v, row_v, t, row_v, row_v, slot.here.tree_nodes),
            ),
        )

    return Edit(REATTACH, moved, rearranged)
