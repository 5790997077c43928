"""Likelihoods of genotypes as evidence: log odds of a mutation from probabilities or phred numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.evidence import Likelihoods
from syclade.host.data.input.formats.grid import Grid, ReadOptions, named_grid, unused_evidence

__all__ = ["calls_of", "likely_grid", "odds_of"]


def odds_of(mutated: NDArray[np.float64], absent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of two likelihoods or probabilities; 0 where both are 0, or one is NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(mutated) - np.log(absent)
    return np.where(np.isnan(odds), 0.0, odds)


def calls_of(log_odds: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the likelier of both as calls: 1 above 0, 0 below, and missing where nothing is known."""
    return np.where(log_odds == 0.0, 3, log_odds > 0.0).astype(np.uint8)


def likely_grid(
    log_odds: NDArray[np.float64], mutations: Sequence[str], cells: Sequence[str], options: ReadOptions
) -> Grid:
    """Return the grid of a format whose entries are likelihoods, with calls made from them.

    Args:
        log_odds: shape (n_mutations, n_cells), as in `Likelihoods`.
        mutations, cells: names; empty if the file has none.
        options: the options.
    """
    evidence = Likelihoods(log_odds) if options.evidence == "likelihoods" else None
    return named_grid(
        calls_of(log_odds), mutations, cells, evidence=evidence, notes=unused_evidence(options, "likelihoods")
    )
