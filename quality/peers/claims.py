"""Claims of a tree about pairs of mutations, counted in the same way for all programs.

A tree claims of two mutations that one is before the other, or that they are on different lineages. Of two
mutations in one clone it claims nothing, and nothing of a mutation that no cell has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Agreement
from syclade.host.findings.consensus.clone_tree import CloneTree

__all__ = [
    "RELATIONS",
    "Claims",
    "agreement",
    "claims_of_cells",
    "claims_of_shares",
    "claims_of_tree",
    "without_ties",
]

RELATIONS = ("ancestors", "lineages", "seen_ancestors", "seen_lineages")
"""Relations that are compared: of all pairs, and of those that the true cells tell apart."""

SHARES = 0.5
"""Least share of the samples from which a pair counts as claimed by them."""


@dataclass(frozen=True, eq=False)
class Claims:
    """Claims about pairs of mutations.

    Attributes:
        before: bool, shape (n, n): the row's mutation is before the column's.
        apart: bool, shape (n, n), symmetric: the two are on different lineages.
    """

    before: NDArray[np.bool_]
    apart: NDArray[np.bool_]


def claims_of_tree(tree: CloneTree) -> Claims:
    """Return the claims of a clone tree."""
    return Claims(tree.before, tree.apart)


def claims_of_cells(cells: NDArray[np.bool_]) -> Claims:
    """Return the claims of genotypes without conflicts: a mutation is before those with some of its cells.

    Mutations with the same cells are one clone.

    Args:
        cells: bool, shape (n, m): the cells that have each mutation.
    """
    wide = cells.astype(np.float64)
    size, shared = wide.sum(axis=1), wide @ wide.T  # exact: whole numbers
    some = np.logical_and.outer(size > 0, size > 0)
    before = some & (shared == size) & (size[:, np.newaxis] > size)
    return Claims(before, some & (shared == 0))


def without_ties(claims: Claims, cells: NDArray[np.bool_]) -> Claims:
    """Return claims without those about mutations that the same cells have: they are one clone.

    Args:
        claims: the claims.
        cells: bool, shape (n, m): the cells that have each mutation.
    """
    group = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    return Claims(claims.before & (group[:, np.newaxis] != group), claims.apart)


def claims_of_shares(
    before: NDArray[np.float64], apart: NDArray[np.float64], least: float = SHARES
) -> Claims:
    """Return the claims with at least a share of sampled trees; they need not fit in one tree."""
    return Claims(before >= least, apart >= least)


def agreement(found: Claims, true: Claims, seen: Claims) -> dict[str, Agreement]:
    """Compare claims with true ones, for each of `RELATIONS`; different lineages are unordered pairs.

    Args:
        found: the claims.
        true: the claims of the true tree, which orders everything.
        seen: the claims of the true genotypes (`claims_of_cells`). Pairs of which they claim nothing do not
            count in the last two relations: no cell tells their order.
    """
    related = seen.before | seen.before.T | seen.apart
    everything = np.ones_like(related)
    compared = {}
    for prefix, counted in (("", everything), ("seen_", related)):
        compared[f"{prefix}ancestors"] = _agreement(found.before, true.before, counted)
        compared[f"{prefix}lineages"] = _agreement(found.apart, true.apart, np.triu(counted))
    return compared


def _agreement(found: NDArray[np.bool_], true: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Agreement:
    found, true = found & counted, true & counted
    return Agreement(int((found & true).sum()), int(found.sum()), int(true.sum()))
