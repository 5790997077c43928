"""Score mapping: each mutation's score on its best edge after a proposal, from two paths to the root.

Some cells x leave the clades above them, and join those above the node t where they go: internal nodes above
x alone lose x's sums, those above t alone gain them, those above both keep theirs. Subtrees beside the paths
keep their tops. If leaves swap places, x's sums minus y's are what moves, and t is y.

    reattach x above t: the internal node above x is removed and put above t, with the sums of both;
                        t may be above x: then it loses x as well, and the internal node has all that t had
    exchange leaves:    x and y keep their sums, and all internal nodes stay
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, NOTHING
from syclade.kernels.chain.parts import Score
from syclade.kernels.clade.links import is_below, other_child, parent_of
from syclade.kernels.clade.rows import sums_row, tops_row
from syclade.kernels.target import address, choose, control, device_function, equal, maximum, private_array

_ZERO = control(0)
_NOBODY = control(-1)


def make_score_mapping(score: Score, lanes: int, rounds: int) -> Any:
    """Return a device function that gives the lane's share of the proposal's score.

    Args:
        score: contribution of a mutation, given its sum at its best edge.
        lanes: lanes per slot.
        rounds: mutations of a panel per lane, in registers.
    """
    of_mutation = score.of_cell

    @device_function
    def raise_by(best, given, tops):
        """Compute best = max(best, row)."""
        for part in range(rounds):
            best[part] = maximum(best[part], given.rows[tops + address(part * lanes)])

    @device_function
    def raise_by_joint(
        best,  # IN OUT (mutations of a panel / lanes,) int32, private
        given,  # IN rows
        sums,  # IN address: the lane's first column in the row of sums
        tops,  # IN address: likewise in the row of tops
        delta,  # IN (mutations of a panel / lanes,) int32, private: the sums that move
        sign,  # IN int32: 1, -1 or 0
    ):
        """Compute best = max(best, sums + sign * delta, tops of the subtree beside)."""
        for part in range(rounds):
            offset = address(part * lanes)
            moved = np.int32(given.rows[sums + offset] + np.int32(delta[part] * sign))
            best[part] = maximum(best[part], maximum(moved, given.rows[tops + offset]))

    @device_function
    def climb_to_meet(
        best,  # IN OUT (mutations of a panel / lanes,) int32, private
        delta,  # IN (mutations of a panel / lanes,) int32, private: the sums that move
        slot,  # IN the tree and its rows
        column,  # IN address: the lane's first mutation of the panel
        x,  # IN control: node that leaves
        t,  # IN control: node to start above
    ):
        """Climb from t over internal nodes that gain; return the first one that is above x, too."""
        here = slot.here
        child, joint = t, parent_of(slot, t)
        while is_below(slot, x, joint) == _ZERO:
            beside = other_child(slot, joint, child)
            sums, tops = column + sums_row(here, joint), column + tops_row(here, beside)
            raise_by_joint(best, slot.given, sums, tops, delta, np.int32(1))
            child, joint = joint, parent_of(slot, joint)
        return joint

    @device_function
    def climb_to_root(
        best,  # IN OUT (mutations of a panel / lanes,) int32, private
        delta,  # IN (mutations of a panel / lanes,) int32, private: the sums that move
        slot,  # IN the tree and its rows
        column,  # IN address: the lane's first mutation of the panel
        child,  # IN control: node to start above
        meeting,  # IN control: internal node from which on sums are kept; -1: none
        x,  # IN control: node that leaves
        both,  # IN control: mask: is the meeting's other child above t, and so not beside the path?
    ):
        """Climb from x: internal nodes lose up to the meeting, and keep their sums from there on."""
        given, here = slot.given, slot.here
        joint = parent_of(slot, child)
        while (child != here.root) & (joint != meeting):
            beside = other_child(slot, joint, child)
            sums, tops = column + sums_row(here, joint), column + tops_row(here, beside)
            raise_by_joint(best, given, sums, tops, delta, np.int32(-1))
            child, joint = joint, parent_of(slot, joint)
        while child != here.root:
            beside = other_child(slot, joint, child)
            beside = beside + ((x - beside) & both)
            sums, tops = column + sums_row(here, joint), column + tops_row(here, beside)
            raise_by_joint(best, given, sums, tops, delta, np.int32(0))
            child, joint = joint, parent_of(slot, joint)
            both = _ZERO

    @device_function
    def score_mapping(
        slot,  # IN the tree and its rows, and the score's arguments
        proposal,  # IN Proposal
    ):
        """Return the sum of the contributions of the lane's mutations (int64)."""
        given, here = slot.given, slot.here
        best = private_array(rounds, np.int32)
        delta = private_array(rounds, np.int32)
        exchange = equal(proposal.edit, EXCHANGE_LABELS)
        x, t = proposal.v, choose(exchange, proposal.w, proposal.t)
        above = parent_of(slot, x)
        sibling = other_child(slot, above, x)
        t_above_x = -is_below(slot, x, t)
        t_beside_x = -is_below(slot, t, sibling) & ~exchange
        unless_above = choose(t_above_x, x, t)
        unless_beside = choose(t_beside_x | exchange, x, sibling)
        first = choose(exchange, x, above)
        whole = equal(t, here.root)
        joined = np.int32(~(t_above_x | exchange))
        swapped = np.int32(exchange)
        share = np.int64(0)
        panels = here.sizes.panels & ~equal(proposal.edit, NOTHING)
        for panel in range(panels):
            column = address(panel * rounds * lanes) + here.lane
            own, place_t = column + sums_row(here, x), column + sums_row(here, t)
            for part in range(rounds):
                offset = address(part * lanes)
                moving, there = given.rows[own + offset], given.rows[place_t + offset]
                delta[part] = np.int32(moving - (there & swapped))
                best[part] = np.int32(there + (delta[part] & joined))
            raise_by(best, given, column + tops_row(here, x))
            raise_by(best, given, column + tops_row(here, unless_above))
            raise_by(best, given, column + tops_row(here, unless_beside))
            met = climb_to_meet(best, delta, slot, column, x, t)
            met = choose(whole, _NOBODY, choose(t_beside_x, parent_of(slot, above), met))
            climb_to_root(best, delta, slot, column, first, met, x, ~(t_above_x | t_beside_x))
            for part in range(rounds):
                share = share + np.int64(of_mutation(given, here.number, best[part]))
        return share

    return score_mapping
