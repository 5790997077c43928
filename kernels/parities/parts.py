"""Parts of scores on the encoding `parities`: rows of the nodes, and the share of a tree that they give."""

from collections.abc import Callable
from typing import Any, NamedTuple

from syclade.kernels.arguments import SETTING, Argument

RECURRENT = Argument("recurrent", SETTING, "int64", ("slots",), "the mutation that the last one is a copy of")

FORBIDDEN = -(2**40)
"""Score of a cell in a tree where the copies are siblings, or parent and child: no chain goes there."""


class Rows(NamedTuple):
    """Rows of the nodes for a score.

    The rows of node u have, for each cell, what its subtree contributes to its parent: values over the nodes
    v below u with an even number of copies of the recurrent mutation from u to v, both included, and
    with an odd number. A copy at u exchanges the two. So a step changes only the rows above what it moves.

    Attributes:
        rows: number of rows of a node.
        prepare: device function (slot), called before all rows are made.
        make_share: (lanes, rounds) -> device function (slot, length of the path, allowed) -> int64: write the
            fresh rows of the path, which ends at the root; return the lane's share of the tree's score.
    """

    rows: int
    prepare: Any
    make_share: Callable[[int, int], Any]
