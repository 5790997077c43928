"""Score of a tree by brute force, in the chain's integer units."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.quality.oracle.trees import ParentsLike, path_to_root


def node_scores(parents: ParentsLike, column: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Return the score of one cell at each node, relative to the root: the sum along the path.

    `column` has the cell's n observed values; `weights[d]` is the score of a carried mutation observed as d.
    """
    return _scores_at(_carried(parents), column, weights)


def _carried(parents: ParentsLike) -> list[list[int]]:
    """Return the mutations of each node: those on its path to the root, which has none."""
    return [path_to_root(parents, node)[:-1] for node in range(len(parents))]


def _scores_at(carried: list[list[int]], column: Sequence[int], weights: Sequence[int]) -> list[int]:
    seen = [weights[value] for value in column]
    return [sum(seen[mutation] for mutation in mutations) for mutations in carried]


def tree_score(parents: ParentsLike, matrix: NDArray[np.integer[Any]], weights: Sequence[int]) -> int:
    """Return the sum over the cells of their best scores (max score of SCITE), relative to all at the root.

    `matrix`: observed values, integer, shape (n, m); `weights`: four integers, one per observed value d,
    logP(d|1) - logP(d|0) in units of 2^-f nat.
    """
    carried = _carried(parents)  # once for all cells
    return sum(max(_scores_at(carried, column, weights)) for column in matrix.T.tolist())
