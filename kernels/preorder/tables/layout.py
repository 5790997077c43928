"""Layout: where rows start inside a slot's tables. No device code.

With these rows the maximum over any range of positions is that of a few rows (docs/model.md, "Intervals").
The maxima belong to nodes, and blocks have no fixed length: a subtree that moves changes only two blocks.
"""

from typing import Any, NamedTuple

from syclade.kernels.preorder.shape import Shape

LARGEST_TABLES = 2**31
"""Limit on the numbers in a slot's tables, so that the start of a row fits in an int32."""


class Layout(NamedTuple):
    """Starts of rows inside a slot's tables; the scores are in the first rows, one per node.

    All are Python integers, or control integers that are the same in all lanes.
    """

    zero: Any  # a row of zeros: the scores of padding positions
    weights: Any  # + label * cells: what the mutation adds to each cell below it
    subtree: Any  # + score row: maximum over the node's subtree; only where there are sketches
    prefix: Any  # + score row: maximum from the start of its block to it
    suffix: Any  # + score row: maximum from it to the end of its block
    top: Any  # + block * cells: its maximum
    before: Any  # + block * cells: maximum over all earlier blocks
    after: Any  # + block * cells: maximum over all later blocks
    rows: Any  # number of rows
    sketched: Any  # number of rows with sketches (wide/sketches.py): the first ones


def make_layout(shape: Shape) -> Layout:
    """Return the layout of the tables."""
    nodes, cells, blocks = shape.nodes, shape.cells, shape.most_blocks
    zero = nodes
    weights = zero + 1
    subtree = weights + nodes
    prefix = subtree + nodes * shape.subtrees
    suffix = prefix + nodes + 1
    top = suffix + nodes + 1
    before = top + blocks
    after = before + blocks
    return Layout(
        zero * cells,
        weights * cells,
        subtree * cells,
        prefix * cells,
        suffix * cells,
        top * cells,
        before * cells,
        after * cells,
        after + blocks,
        prefix,
    )
