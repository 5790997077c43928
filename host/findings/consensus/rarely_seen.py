"""Mutations that fewer cells show than those of their clone should: a check on the data, not on the model.

Where samples agree on nothing about a mutation, a consensus has to put it somewhere, and then its clone's
cells, share and genotypes seem to be the mutation's, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.evidence import PairCounts

__all__ = ["rarely_seen_in"]

_RARE = 1e-3
"""Probability, over all mutations of a matrix, of so few cells by chance."""


def rarely_seen_in(
    tree: CloneTree,
    of_cells: NDArray[np.float64],
    known: NDArray[np.bool_],
    counts: PairCounts,
    rates: Rates,
    fn_rates: NDArray[np.float64] | None = None,
) -> list[int]:
    """Return the rows of the mutations that too few cells show, if all at and below their clone have them.

    Only cells with a value count: specimens can differ in their clones, and in what was measured.

    Args:
        tree: the consensus.
        of_cells: float64, shape (clones, cells): expected number of cells of each clone that each one is.
        known: bool, shape (n, cells): whether cells have a value of its mutations.
        counts: of these.
        rates: error rates.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; None for that of `rates`.
    """
    from scipy.special import bdtr

    below, each = tree.within @ of_cells, of_cells.sum(axis=0)
    having, observed = np.zeros(len(known)), counts.observed
    for clone in np.unique(tree.clone_of).tolist():
        (rows,) = np.nonzero(tree.clone_of == clone)
        having[rows] = (known[rows] @ below[clone]) / np.maximum(known[rows] @ each, 1.0)
    missed = np.full(len(known), rates.fn_rate) if fn_rates is None else fn_rates
    chance = bdtr(counts.seen, observed, np.clip(having * (1.0 - missed), 0.0, 1.0))
    rare = (chance < _RARE / max(len(known), 1)) & (tree.clone_of != 0)
    return [int(row) for row in np.flatnonzero(rare)]
