"""Records of what an edit changes. No device code.

All numbers are control integers, the same in all lanes.

Intervals are subtrees: positions [a1, b1) and [a2, b2). Every edit shifts the scores of whole intervals by
one row each, the difference of two rows of the tables: shift 1 is row plus_1 minus row minus_1, and likewise
shift 2 (docs/model.md, "Intervals").
"""

from typing import Any, NamedTuple

from syclade.kernels.target import control

ONE_INTERVAL = control(0)
"""Shape: [a1, b1) by shift 1."""

TWO_APART = control(1)
"""Shape: [a1, b1) by shift 1, [a2, b2) by shift 2; b1 <= a2."""

ONE_IN_THE_OTHER = control(2)
"""Shape: [a1, b1) without [a2, b2) by shift 1, [a2, b2) by shift 2."""


class Moved(NamedTuple):
    """Intervals that an edit shifts; its score depends on nothing else.

    Attributes:
        shape: one of the shapes above.
        x, a1, b1: a node and its interval.
        y, a2, b2: another node and its interval, if there is one.
        end_first: end of the first shifted range.
        end: end of all that is shifted.
        plus_1, minus_1, plus_2, minus_2: rows of the shifts: where they start.
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
    """New order of at most four runs of positions.

    Attributes:
        start_1, start_2, start_3, start_4: new starts of the runs; the change begins at the first.
        stop: end of the change.
        offset_1, offset_2, offset_3, offset_4: old minus new position of each run.
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
    """Changes of the sizes of subtrees, of two kinds.

    Attributes:
        growth_1, place_1, floor_1: growth_1 is added to the size of the node at position place_1 and of its
            ancestors, if they are at position floor_1 or later.
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
        start_1, stop_1, start_2, stop_2: two runs, shifted by the first shift.
        start_3, stop_3: one run, shifted by the other shift.
        plus_1, minus_1: rows of the first shift, as they were before the edit.
        plus_2, minus_2: rows of the other shift.
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
    """Blocks that runs move between, if only these two change.

    Attributes:
        fits: 1 if each run is inside one block and can join the block that it moves to.
        old: block that the first run leaves.
        new: block that it joins; a second run, if there is one, goes the other way.
    """

    fits: Any
    old: Any
    new: Any


class Touched(NamedTuple):
    """Blocks to renew, two ranges from ... to before, with the positions that changed in them."""

    block_1: Any
    end_block_1: Any
    change_1: Any
    end_change_1: Any
    block_2: Any
    end_block_2: Any
    change_2: Any
    end_change_2: Any


class Climbs(NamedTuple):
    """Nodes from which the maxima of subtrees change upwards; only wide tables have these.

    Attributes:
        node_1, loses_1, gains_1: a node to climb from, the row of the subtree that it loses, and the row of
            the one that it gains.
        node_2, loses_2, gains_2: likewise; node 2 is -1 if one node is below the other. Then nodes are
            shifted as if all nodes below them were, and have to be renewed up to the first shifted position.
        shifted_from: that position; the number of nodes if there is none.
    """

    node_1: Any
    loses_1: Any
    gains_1: Any
    node_2: Any
    loses_2: Any
    gains_2: Any
    shifted_from: Any


class Changes(NamedTuple):
    """All changes that the tables have to follow.

    Attributes:
        runs: Runs.
        touched: Touched.
        climbs: Climbs.
    """

    runs: Any
    touched: Any
    climbs: Any


class Rearranged(NamedTuple):
    """Change of the order by an edit that gives nodes new parents.

    Attributes:
        permutation: Permutation.
        growth: Growth.
        above_x, above_y: new parents of x and of y; y is x if only one node moves.
        local: Local.
        changes: Changes; its blocks are valid only if `local` fits.
    """

    permutation: Any
    growth: Any
    above_x: Any
    above_y: Any
    local: Any
    changes: Any
