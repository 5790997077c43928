"""The records in which an edit tells what it changes. No device code.

All numbers are control integers that lanes share.

Intervals are subtrees': [a1, b1) and [a2, b2) of positions. Every edit shifts the scores of whole intervals
by one row each, the difference of two rows of the tables: shift 1 is row plus_1 less row minus_1, and
likewise shift 2 (docs/model.md, "Intervals").
"""

from typing import Any, NamedTuple

from syclade.kernels.target import control

ONE_INTERVAL = control(0)
"""[a1, b1) by shift 1."""

TWO_APART = control(1)
"""[a1, b1) by shift 1, [a2, b2) by shift 2; b1 <= a2."""

ONE_IN_THE_OTHER = control(2)
"""[a1, b1) without [a2, b2) by shift 1, [a2, b2) by shift 2."""


class Moved(NamedTuple):
    """What an edit shifts: all that its score depends on.

    Attributes:
        shape: one of the above.
        x, a1, b1: a node and its interval.
        y, a2, b2: another one, if there is one.
        end_first: end of what is shifted first.
        end: end of all that is shifted.
        plus_1, minus_1, plus_2, minus_2: rows of the shifts, by where they start.
    """

    shape: Any
    x: Any
    a1: Any
    b1: Any
    y: Any
    a2: Any
    b2: Any
    end_first: Any
    end: Any
    plus_1: Any
    minus_1: Any
    plus_2: Any
    minus_2: Any


class Permutation(NamedTuple):
    """At most four runs of positions in their new order.

    Attributes:
        start_1, start_2, start_3, start_4: new places of the runs; where the change begins is the first.
        stop: end of the change.
        offset_1, offset_2, offset_3, offset_4: old less new place of each run.
    """

    start_1: Any
    start_2: Any
    start_3: Any
    start_4: Any
    stop: Any
    offset_1: Any
    offset_2: Any
    offset_3: Any
    offset_4: Any


class Growth(NamedTuple):
    """How the sizes of subtrees change, in two ways.

    Attributes:
        growth_1, place_1, floor_1: what nodes above position place_1 (itself included) gain in size, if they
            stand at floor_1 or later.
        growth_2, place_2, floor_2: likewise.
    """

    growth_1: Any
    place_1: Any
    floor_1: Any
    growth_2: Any
    place_2: Any
    floor_2: Any


class Runs(NamedTuple):
    """New positions of what is shifted, and the rows of the shifts.

    Attributes:
        start_1, stop_1, start_2, stop_2: two runs by the first shift.
        start_3, stop_3: one run by the other shift.
        plus_1, minus_1: rows of the first shift, as they were before the edit.
        plus_2, minus_2: rows of the other one.
    """

    start_1: Any
    stop_1: Any
    start_2: Any
    stop_2: Any
    start_3: Any
    stop_3: Any
    plus_1: Any
    minus_1: Any
    plus_2: Any
    minus_2: Any


class Local(NamedTuple):
    """Whether runs only change blocks.

    Attributes:
        fits: 1 if each run lies in a block, and can join the block that it comes to.
        old: the block that the first run leaves.
        new: the block that it joins; if there is a second run, that one goes the other way.
    """

    fits: Any
    old: Any
    new: Any


class Touched(NamedTuple):
    """The blocks to renew, twice from ... to before, with the positions that changed in them."""

    block_1: Any
    end_block_1: Any
    change_1: Any
    end_change_1: Any
    block_2: Any
    end_block_2: Any
    change_2: Any
    end_change_2: Any


class Climbs(NamedTuple):
    """From where the maxima of subtrees change upwards, which wide tables have.

    Attributes:
        node_1, loses_1, gains_1: a node to climb from, the rows of the subtree that it loses and of that
            which it gains.
        node_2, loses_2, gains_2: likewise; node 2 is -1 where one node is below the other. Then nodes are
            shifted as if all that is below them were, and have to be renewed up to the first shifted
            position.
        shifted_from: that position; the number of nodes where there is none.
    """

    node_1: Any
    loses_1: Any
    gains_1: Any
    node_2: Any
    loses_2: Any
    gains_2: Any
    shifted_from: Any


class Changes(NamedTuple):
    """All that the tables have to follow.

    Attributes:
        runs: Runs.
        touched: Touched.
        climbs: Climbs.
    """

    runs: Any
    touched: Any
    climbs: Any


class Rearranged(NamedTuple):
    """How an edit that gives nodes new parents changes the order.

    Attributes:
        permutation: Permutation.
        growth: Growth.
        above_x, above_y: the new parents of x and of y; y is x where one node moves.
        local: Local.
        changes: Changes; what it says of blocks holds where `local` fits.
    """

    permutation: Any
    growth: Any
    above_x: Any
    above_y: Any
    local: Any
    changes: Any
