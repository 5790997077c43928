"""The encoding `preorder` with wide tables: only what an edit may change is read and scored."""

import numpy as np

from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.preorder.arguments import WIDE
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.here import Here
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import make_layout
from syclade.kernels.preorder.wide.extras import make_extras
from syclade.kernels.preorder.wide.score_change import make_score_change
from syclade.kernels.target import device_function, lane_sum

_ONE = np.int64(1)
_TWO = np.uint64(2)


def make_evaluation(
    score: Score,
    *,
    nodes: int,
    labels: int,
    cells: int,
    block: int,
    lanes: int,
    panels: int,
    classes: int,
    weighted: int,
    rows: int,
    sketched: int,
    **_others: int,
) -> Evaluation:
    """The evaluation of a score.

    Args:
        score: what a cell is worth.
        nodes, labels, cells, block, lanes, panels: as in `Shape`.
        classes: of observed values, with that of those that tell nothing.
        weighted: 1 if columns have multiplicities.
        rows, sketched: of a slot's tables, as `make_layout` has it.
    """
    shape = Shape(nodes, labels, cells, block, lanes, panels, subtrees=1)
    layout = make_layout(shape)
    assert (layout.rows, layout.sketched) == (rows, sketched)
    tree_size, table_size = np.uint64(nodes), np.uint64(rows * cells)
    sketch_size, flags_size = np.uint64(sketched * cells), np.uint64(cells)
    score_change = make_score_change(shape, score, classes, weighted)

    @device_function
    def place(given, number, lane, mutations):
        """Where the slot's tree and tables are."""
        base = number * tree_size
        here = Here(
            number, lane, mutations + _ONE, base * _TWO, number * table_size, number * sketch_size,
            number * flags_size,
        )  # fmt: skip
        return here, base

    @device_function
    def score_after(given, here, base, proposal, moved, current):
        """The score, and the sum of all lanes' shares of its change."""
        return current + lane_sum(score_change(given, here, base, proposal, moved))

    return compose_evaluation(shape, classes, place, score_after, make_extras(shape))


ENCODING = Encoding(name="preorder", group="sub-group", arguments=WIDE, make_evaluation=make_evaluation)
