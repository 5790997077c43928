"""Cell tree of a search: binary, with cells or groups of cells as leaves, and mutations on its edges.

Each edge has the sum of each mutation's weights over the cells below it, and the best of these sums at or
below it. A mutation's score is its best sum, or 0 if none is positive.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.rows import make_rows
from syclade.kernels.target import device_function, maximum

_ZERO = np.int64(0)
_ONE = np.int64(1)


class CellTree(NamedTuple):
    """Device functions.

    Attributes:
        join: (given, here, joint): compute sums and tops of a node from its children's.
        take_off_up: (given, here, node, sign, row): add sign times a spare row of sums to a node and to those
            above it, and renew their tops.
        score: (given, here, root) -> int64.
    """

    join: Any
    take_off_up: Any
    score: Any


@device_function
def joint_row(here, joint):
    """Return where a node's row over mutations starts (uint64)."""
    return here.joint_rows + np.uint64(joint * here.genes)


@device_function
def left_of(given, here, joint):
    """Return the left child (int64); -1 for a leaf."""
    return np.int64(given.left[here.joint + np.uint64(joint)])


@device_function
def right_of(given, here, joint):
    """Return the right child (int64); -1 for a leaf."""
    return np.int64(given.right[here.joint + np.uint64(joint)])


@device_function
def above_of(given, here, joint):
    """Return the parent (int64); -1 for the root."""
    return np.int64(given.above[here.joint + np.uint64(joint)])


@device_function
def sibling_of(given, here, joint):
    """Return the sibling (int64)."""
    upper = above_of(given, here, joint)
    left = left_of(given, here, upper)
    sibling = left
    if left == joint:
        sibling = right_of(given, here, upper)
    return sibling


@device_function
def put_joint(
    given,  # OUT left, right, above
    here,  # IN Here
    joint,  # IN int64: the internal node
    left,  # IN int64
    right,  # IN int64
):
    """Make two nodes the children of a third."""
    given.left[here.joint + np.uint64(joint)] = np.int32(left)
    given.right[here.joint + np.uint64(joint)] = np.int32(right)
    given.above[here.joint + np.uint64(left)] = np.int32(joint)
    given.above[here.joint + np.uint64(right)] = np.int32(joint)


@device_function
def put_leaf(given, here, joint):
    """Make a node a leaf."""
    given.left[here.joint + np.uint64(joint)] = np.int32(-1)
    given.right[here.joint + np.uint64(joint)] = np.int32(-1)


@device_function
def put_root(given, here, joint):
    """Make a node the root."""
    given.above[here.joint + np.uint64(joint)] = np.int32(-1)


@device_function
def replace_child(
    given,  # IN OUT left, right; OUT above
    here,  # IN Here
    upper,  # IN int64: parent of `old`, or -1
    old,  # IN int64
    new,  # IN int64
):
    """Put `new` in the place of `old` below `upper`; if `upper` is -1, `new` becomes the root."""
    given.above[here.joint + np.uint64(new)] = np.int32(upper)
    if upper >= _ZERO:
        if left_of(given, here, upper) == old:
            given.left[here.joint + np.uint64(upper)] = np.int32(new)
        else:
            given.right[here.joint + np.uint64(upper)] = np.int32(new)


def make_cell_tree(lanes: int) -> CellTree:
    """Return the device functions for this number of lanes."""
    total_above = make_rows(lanes).total_above
    step = np.uint64(lanes)

    @device_function
    def join(given, here, joint):
        """Compute a node's rows from its children's."""
        own = joint_row(here, joint)
        left = joint_row(here, left_of(given, here, joint))
        right = joint_row(here, right_of(given, here, joint))
        for part in range(here.gene_rounds):
            gene = np.uint64(part) * step + here.lane
            both = np.int32(given.sums[left + gene] + given.sums[right + gene])
            given.sums[own + gene] = both
            given.tops[own + gene] = maximum(both, maximum(given.tops[left + gene], given.tops[right + gene]))

    @device_function
    def take_off_up(
        given,  # IN left, right, above, gene_rows; IN OUT sums, tops
        here,  # IN Here
        node,  # IN int64; -1: do nothing
        sign,  # IN int32: 1 or -1
        row,  # IN uint64: where the spare row starts
    ):
        """Add sign * row to the sums of a node and of those above it; renew their tops."""
        while node >= _ZERO:
            own = joint_row(here, node)
            left = joint_row(here, left_of(given, here, node))
            right = joint_row(here, right_of(given, here, node))
            for part in range(here.gene_rounds):
                gene = np.uint64(part) * step + here.lane
                value = np.int32(given.sums[own + gene] + np.int32(sign * given.gene_rows[row + gene]))
                given.sums[own + gene] = value
                given.tops[own + gene] = maximum(
                    value, maximum(given.tops[left + gene], given.tops[right + gene])
                )
            node = above_of(given, here, node)

    @device_function
    def score(given, here, root):
        """Return the score with each mutation on its best edge, or on none (int64)."""
        return total_above(here.gene_rounds, here.lane, given.tops, joint_row(here, root))

    return CellTree(join, take_off_up, score)
