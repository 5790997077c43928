"""Score mapping: the score of every cell at every node, by popcount of masked words.

A cell at a node has the mutations in the node's row. So its score is a sum over the values that may be
observed: the value's weight times the number of bits that the node's row and the cell's column of the value's
plane have in common.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import Arrays, ChainParts
from syclade.fallback.ancestor.rows import popcount


def scores_at_nodes(
    matrix: NDArray[np.uint64],  # IN (words, nodes): one tree
    planes: NDArray[np.uint64],  # IN (values, words, cells)
    weights: NDArray[np.int64],  # IN (values,)
) -> NDArray[np.int32]:
    """Return the scores, (cells, nodes), in units of 2^-f nat.

    No partial sum of a cell reaches 2^30.
    """
    scores = np.zeros((planes.shape[2], matrix.shape[1]), dtype=np.int32)
    for weight, plane in zip(weights.astype(np.int32), planes, strict=True):
        for row, column in zip(matrix, plane, strict=True):
            scores += weight * popcount(row & column[:, None]).astype(np.int32)
    return scores


def score_mapping(
    arrays: Arrays,  # IN planes, weights, proposal; OUT worth
    slots: NDArray[np.int64],
    _parts: ChainParts,
) -> None:
    """Write the scores at all nodes of the proposed trees.

    Slots are processed one by one, so that their words fit in a cache.
    """
    planes = arrays["planes"]
    for slot in slots:
        weights = arrays["weights"][slot, : len(planes)]
        arrays["worth"][slot] = scores_at_nodes(arrays["proposal"][slot], planes, weights)
