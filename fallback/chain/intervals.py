"""Proposals as intervals of positions: where their subtrees are, and how scores shift there.

A proposal cuts the positions of a tree into five intervals (docs/model.md, "Intervals"): 0 to a, a to b,
b to c, c to d, and d to the end. The first and the last keep their scores. In the table, "first" and "second"
are v and w in the order of their positions:

| edit | a to b | b to c | c to d |
|---|---|---|---|
| reattach v | empty | v's subtree | empty |
| exchange labels or subtrees, unrelated | first's subtree | kept | second's subtree |
| exchange labels, related | first's subtree before second's | kept | first's after second's |
| turn over (v is second) | first's subtree before second's | second's subtree | first's after second's |

Shifts are rows over the columns. The scores from b to c are shifted by `inner`, and those from a to b and
from c to d by `outer`. If v and w are unrelated, those from c to d are shifted by `outer` with the opposite
sign.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import (
    EXCHANGE_LABELS,
    EXCHANGE_SUBTREES,
    JUMP_RATE,
    NOTHING,
    REATTACH,
    TURN_OVER,
    Proposals,
)
from syclade.fallback.chain.trees import Lanes

START, A, B, C, D, END = range(6)
"""Rows of `cuts`."""

ROOT, TARGET, ABOVE_FIRST, ABOVE_SECOND, FIRST_WEIGHT, SECOND_WEIGHT = range(6)
"""Rows of which shifts are made: scores at the root (0), at t and at the parents; and weights."""

_SHIFTS = {
    REATTACH: (ROOT, ROOT, TARGET, ABOVE_SECOND),
    EXCHANGE_LABELS: (SECOND_WEIGHT, FIRST_WEIGHT, ROOT, ROOT),
    EXCHANGE_SUBTREES: (ABOVE_SECOND, ABOVE_FIRST, ROOT, ROOT),
    TURN_OVER: (TARGET, ABOVE_SECOND, ABOVE_FIRST, ABOVE_SECOND),
    NOTHING: (ROOT, ROOT, ROOT, ROOT),
    JUMP_RATE: (ROOT, ROOT, ROOT, ROOT),
}
"""By edit: the outer shift is the first row minus the second, the inner shift the third minus the fourth."""

_CHOICE = np.array([_SHIFTS[edit] for edit in range(len(_SHIFTS))]).T.copy()


class Intervals(NamedTuple):
    """The intervals of some lanes' proposals.

    Attributes:
        edit, v, w: of the proposals.
        cuts: (6, lanes): 0, a, b, c, d, nodes.
        related: (lanes,) bool: whether v and w are the same node, or one is above the other.
        rows: (4, lanes): indices of the rows in each slot's table of which shifts are made.
        target, above_first, above_second: (lanes,): positions of t, and of the parents of first and second.
    """

    edit: NDArray[Any]
    v: NDArray[Any]
    w: NDArray[Any]
    cuts: NDArray[Any]
    related: NDArray[Any]
    rows: NDArray[Any]
    target: NDArray[Any]
    above_first: NDArray[Any]
    above_second: NDArray[Any]

    def of(self, at: Any) -> "Intervals":
        """Return the same for some of the lanes."""
        return Intervals(*(part[..., at] for part in self))


def intervals_of(
    lanes: Lanes,
    proposals: Proposals,
    first_weight: int,  # IN index of the row of node 0's weights in a slot's table
) -> Intervals:
    """Return the intervals into which proposals cut the trees."""
    v, w = proposals.v, proposals.w
    at_v, at_w = lanes.start_of(v), lanes.start_of(w)
    first, second = np.minimum(at_v, at_w), np.maximum(at_v, at_w)
    first_end, second_end = first + lanes.size_at(first), second + lanes.size_at(second)
    related = second < first_end
    cuts = np.empty((6, len(v)), dtype=np.int64)
    cuts[START], cuts[A] = 0, first
    np.minimum(second, first_end, out=cuts[B])
    cuts[C] = np.where(related, second_end, second)
    np.maximum(first_end, second_end, out=cuts[D])
    cuts[END] = lanes.trees.nodes
    candidates = np.empty((6, len(v)), dtype=np.int64)
    candidates[ROOT] = 0
    candidates[TARGET] = lanes.start_of(proposals.t)
    candidates[ABOVE_FIRST] = lanes.above_at(first)
    candidates[ABOVE_SECOND] = lanes.above_at(second)
    in_order = at_v <= at_w
    candidates[FIRST_WEIGHT] = np.where(in_order, v, w) + first_weight
    candidates[SECOND_WEIGHT] = v + w + 2 * first_weight - candidates[FIRST_WEIGHT]
    choice = _CHOICE.take(proposals.edit, axis=1)
    choice *= len(v)
    choice += np.arange(len(v))
    rows, above = candidates.take(choice), candidates[TARGET : ABOVE_SECOND + 1]
    return Intervals(proposals.edit, v, w, cuts, related, rows, *above)
