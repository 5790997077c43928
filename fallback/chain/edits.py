"""Edits: what each does to the scores of attachments, and to parents.

Every edit shifts the scores of whole subtrees by one row over the columns each (docs/model.md, "Intervals").
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import (
    EXCHANGE_LABELS,
    EXCHANGE_SUBTREES,
    REATTACH,
    TURN_OVER,
    Proposals,
    Trees,
)


class Shifts(NamedTuple):
    """What edits shift, each in two parts that have no node in common.

    Attributes:
        nodes_1: (slots, nodes) bool: shifted by row_1.
        row_1: (slots, columns) int32.
        nodes_2: (slots, nodes) bool: shifted by row_2.
        row_2: (slots, columns) int32.
    """

    nodes_1: NDArray[Any]
    row_1: NDArray[Any]
    nodes_2: NDArray[Any]
    row_2: NDArray[Any]


def shifts_of(
    trees: Trees,
    proposals: Proposals,
    slots: NDArray[Any],  # IN which slots' they are, in what follows
    scores: NDArray[np.int32],  # IN (all slots, nodes, columns): of every attachment
    weights: NDArray[np.int32],  # IN (all slots, nodes, columns): what each node adds
) -> Shifts:
    """The shifts of some slots' proposals."""
    slot = np.arange(len(slots))
    edit, v, w, t = proposals.edit[:, None], proposals.v, proposals.w, proposals.t
    labels, subtrees = edit == EXCHANGE_LABELS, edit == EXCHANGE_SUBTREES
    turned, reattached = edit == TURN_OVER, edit == REATTACH
    in_v, in_w = trees.below[slot, v], trees.below[slot, w]
    above_v, above_w = scores[slots, trees.parent[slot, v]], scores[slots, trees.parent[slot, w]]
    weight = weights[slots, w] - weights[slots, v]
    only_w = in_w & ~in_v
    return Shifts(
        nodes_1=np.where(labels, in_v & ~in_w, in_v),
        row_1=np.where(labels, weight, np.where(reattached, scores[slots, t], above_w) - above_v),
        nodes_2=np.where(labels | turned, only_w, in_w & subtrees),
        row_2=np.where(
            labels, -weight, np.where(turned, scores[slots, t], above_v) - np.where(turned, above_v, above_w)
        ),
    )


def edited(
    parent: NDArray[np.int32],  # IN (slots, nodes)
    proposals: Proposals,
) -> NDArray[np.int32]:
    """The parents after the edits."""
    slot = np.arange(len(parent))
    edit, v, w, t = proposals.edit, proposals.v, proposals.w, proposals.t
    above_v, above_w = parent[slot, v], parent[slot, w]
    after = parent.copy()
    after[slot, w] = np.where(edit == TURN_OVER, t, np.where(edit == EXCHANGE_SUBTREES, above_v, above_w))
    moves_v = (edit == TURN_OVER) | (edit == EXCHANGE_SUBTREES)
    after[slot, v] = np.where(edit == REATTACH, t, np.where(moves_v, above_w, above_v))
    labels = np.flatnonzero(edit == EXCHANGE_LABELS)
    if labels.size:
        after[labels] = _relabelled(parent[labels], v[labels], w[labels])
    return after


def exchange(
    rows: NDArray[Any],  # IN OUT (slots, nodes, ...)
    slots: NDArray[Any],  # IN in which
    v: NDArray[Any],  # IN (slots,)
    w: NDArray[Any],  # IN (slots,)
) -> None:
    """Rows v and w change places."""
    rows[slots, v], rows[slots, w] = rows[slots, w], rows[slots, v]


def _relabelled(parent: NDArray[np.int32], v: NDArray[Any], w: NDArray[Any]) -> NDArray[np.int32]:
    """v for w and w for v, as node and as parent."""
    v, w = v[:, None], w[:, None]
    named = np.where(parent == v, w, np.where(parent == w, v, parent)).astype(np.int32)
    exchange(named, np.arange(len(parent)), v[:, 0], w[:, 0])
    return named
