"""Tree update: the ancestor matrices after the moves (thesis 3.1.2 to 3.1.6).

The lemmas, with the matrix A before and A' after the move, p the parent, and desc the subtree of a node:

- reattach v to t: for y in desc(v): A'[x][y] = A[x][t] or (A[v][x] and A[x][y]).
- exchange labels of v and w: rows v and w are swapped, and so are bits v and w in every row.
- exchange subtrees of v and w: reattach v to p(w), and w to p(v).
- turn over (w above v, t below v): C = desc(v) is reattached to p(w), and B = desc(w) without C to t.
- every other y: A'[x][y] = A[x][y].

All rules read the matrix before the move. A subtree with the root r loses its ancestors, those in row p(r),
and gets others: `moved`. So `A[v][x] and A[x][y]` is row y without row p(v).
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import EDIT, Arrays, ChainParts, T, V, W
from syclade.fallback.ancestor.rows import bit_of, has_above, row_of
from syclade.fallback.chain.parts import EXCHANGE_LABELS, EXCHANGE_SUBTREES, REATTACH, TURN_OVER

Matrix = NDArray[np.uint64]  # (slots, words, nodes)
Rows = NDArray[np.uint64]  # (slots, words)
Nodes = NDArray[np.int64]  # (slots,)
Members = NDArray[np.bool_]  # (slots, nodes)


def moved(matrix: Matrix, members: Members, old: Rows, new: Rows) -> Matrix:
    """Return the matrix in which members have lost the ancestors in `old` and got those in `new`."""
    rows = (matrix & ~old[:, :, None]) | new[:, :, None]
    return np.where(members[:, None, :], rows, matrix)


def reattach(matrix: Matrix, v: Nodes, t: Nodes, above_v: Rows) -> Matrix:
    """Return the matrix with v below t."""
    return moved(matrix, has_above(matrix, v), above_v, row_of(matrix, t))


def exchange_subtrees(matrix: Matrix, v: Nodes, w: Nodes, above_v: Rows, above_w: Rows) -> Matrix:
    """Return the matrix with v below the parent of w, and w below that of v; neither is above the other."""
    half = moved(matrix, has_above(matrix, v), above_v, above_w)
    return moved(half, has_above(matrix, w), above_w, above_v)


def turn_over(matrix: Matrix, v: Nodes, w: Nodes, t: Nodes, above_v: Rows, above_w: Rows) -> Matrix:
    """Return the matrix with C below the parent of w, and B below t.

    The row of t is then above_w | (row(t) & ~above_v).
    """
    in_c = has_above(matrix, v)
    in_b = has_above(matrix, w) & ~in_c
    half = moved(matrix, in_c, above_v, above_w)
    return moved(half, in_b, above_w, above_w | (row_of(matrix, t) & ~above_v))


def exchange_labels(matrix: Matrix, v: Nodes, w: Nodes) -> Matrix:
    """Return the matrix with rows v and w swapped, and bits v and w of every row."""
    slot = np.arange(len(v))
    differ = has_above(matrix, v) ^ has_above(matrix, w)
    after = matrix.copy()
    for node in (v, w):
        after[slot, node // 64] ^= np.where(differ, bit_of(node)[:, None], np.uint64(0))
    after[slot, :, v], after[slot, :, w] = row_of(after, w), row_of(after, v)
    return after


def tree_update(
    arrays: Arrays,  # IN ancestors, move, parent_rows; OUT proposal
    slots: NDArray[np.int64],
    _parts: ChainParts,
) -> None:
    """Write the proposed trees."""
    arrays["proposal"][slots] = arrays["ancestors"][slots]
    edit = arrays["move"][slots, EDIT]
    for number in (REATTACH, EXCHANGE_LABELS, EXCHANGE_SUBTREES, TURN_OVER):
        at = slots[edit == number]
        if not at.size:
            continue
        matrix, (v, w, t) = arrays["ancestors"][at], arrays["move"][at][:, [V, W, T]].T
        above_v, above_w = arrays["parent_rows"][at].transpose(1, 0, 2)
        if number == REATTACH:
            after = reattach(matrix, v, t, above_v)
        elif number == EXCHANGE_LABELS:
            after = exchange_labels(matrix, v, w)
        elif number == EXCHANGE_SUBTREES:
            after = exchange_subtrees(matrix, v, w, above_v, above_w)
        else:
            after = turn_over(matrix, v, w, t, above_v, above_w)
        arrays["proposal"][at] = after
