"""Do single steps have the probabilities of the exact chain: a chi-square test over all rows.

Given how often a Markov chain was in each state, what it did next is independent from visit to visit, so each
row is tested by itself and the statistics add up (Billingsley, "Statistical methods in Markov chains", 1961).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.quality.posterior.stats import SIGNIFICANCE, detectable_deviation, goodness_of_fit

__all__ = ["TransitionFit", "fit_transitions"]


@dataclass(frozen=True)
class TransitionFit:
    """The test of all rows together.

    Attributes:
        steps: steps that the test saw.
        rows: trees with visits enough for a test.
        statistic: Pearson's, summed over the rows.
        freedom: degrees of freedom, summed over the rows.
        p_value: of the statistic.
        impossible: steps of probability 0 that happened.
        detectable_deviation: see `posterior_stats.detectable_deviation`, of a step's probability.
        holds: nothing impossible happened, and the p-value is not below the significance.
    """

    steps: int
    rows: int
    statistic: float
    freedom: int
    p_value: float
    impossible: int
    detectable_deviation: float
    holds: bool


def fit_transitions(
    moves: NDArray[np.int64], transitions: NDArray[np.float64], significance: float = SIGNIFICANCE
) -> TransitionFit:
    """Test counts of single steps, shape (trees, trees), against the exact probabilities, same shape.

    Raises:
        ValueError: no tree has visits enough.
    """
    from scipy import stats

    statistic, freedom, rows, steps = 0.0, 0, 0, 0
    for counts, probabilities in zip(moves, transitions, strict=True):
        if not counts.any():
            continue
        with contextlib.suppress(ValueError):  # too few visits for two cells
            fit = goodness_of_fit(counts, probabilities)
            statistic += fit.statistic
            freedom += fit.cells - 1
            rows += 1
            steps += int(counts.sum())
    if rows == 0:
        raise ValueError(f"{int(moves.sum())} steps are too few: no tree has visits enough")
    p_value = float(stats.chi2.sf(statistic, freedom))
    impossible = int(moves[transitions == 0].sum())
    return TransitionFit(
        steps=steps,
        rows=rows,
        statistic=statistic,
        freedom=freedom,
        p_value=p_value,
        impossible=impossible,
        detectable_deviation=detectable_deviation(freedom + 1, steps, significance),
        holds=impossible == 0 and p_value >= significance,
    )
