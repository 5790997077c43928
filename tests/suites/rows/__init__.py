"""Rows of the suite of equal bits, by the trees and scores that they have."""

from __future__ import annotations

from tests.suites.rows import (
    cell_trees,
    doublets,
    guided,
    inferences,
    learned,
    maximum,
    mutation_trees,
    recurrent,
    searches,
    shares,
)
from tests.support.same_bits import Row

ROWS: list[Row] = [
    *maximum.ROWS,
    *mutation_trees.ROWS,
    *learned.ROWS,
    *guided.ROWS,
    *shares.ROWS,
    *doublets.ROWS,
    *recurrent.ROWS,
    *cell_trees.ROWS,
    *searches.ROWS,
    *inferences.ROWS,
]
