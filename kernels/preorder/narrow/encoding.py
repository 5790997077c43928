"""The encoding `preorder` with narrow tables: a proposal's score is made of whole rows."""

import numpy as np

from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.preorder.arguments import NARROW
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.here import Here
from syclade.kernels.preorder.narrow.extras import make_extras
from syclade.kernels.preorder.narrow.score_mapping import make_score_mapping
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import make_layout
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
    wide: int,
    rows: int,
    **_others: int,
) -> Evaluation:
    """The evaluation of a score.

    Args:
        score: what a cell is worth.
        nodes, labels, cells, block, lanes, panels: as in `Shape`.
        classes: of observed values, with that of those that tell nothing.
        weighted: 1 if columns have multiplicities.
        wide: 1 if a lane's share of a score may not fit in 32 bits.
        rows: of a slot's tables, as `make_layout` has it.
    """
    shape = Shape(nodes, labels, cells, block, lanes, panels, subtrees=0)
    assert make_layout(shape).rows == rows
    tree_size, table_size = np.uint64(nodes), np.uint64(rows * cells)
    score_mapping = make_score_mapping(shape, score, weighted, wide)

    @device_function
    def place(given, number, lane, mutations):
        """Where the slot's tree and tables are."""
        base = number * tree_size
        none = np.uint64(0)
        return Here(number, lane, mutations + _ONE, base * _TWO, number * table_size, none, none), base

    @device_function
    def score_after(given, here, base, proposal, moved, current):
        """The sum of all lanes' shares."""
        return lane_sum(score_mapping(given, here, base, moved))

    return compose_evaluation(shape, classes, place, score_after, make_extras(shape))


ENCODING = Encoding(name="preorder", group="sub-group", arguments=NARROW, make_evaluation=make_evaluation)
