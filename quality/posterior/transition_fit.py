"""Chi-square test that single steps have the probabilities of the exact chain, over all rows.

Given the number of visits to each state, the next steps of a Markov chain are independent between visits. So
each row is tested by itself, and the statistics add up (Billingsley, "Statistical methods in Markov chains",
1961).
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
    """Test of all rows together.

    Attributes:
        steps: number of steps in the test.
        rows: number of trees with enough visits for a test.
        statistic: Pearson's statistic, summed over the rows.
        freedom: degrees of freedom, summed over the rows.
        p_value: p-value of the statistic.
        impossible: number of steps with probability 0 that occurred.
        detectable_deviation: see `stats.detectable_deviation`, for the probability of a step.
        holds: whether nothing impossible occurred and the p-value is not below the significance.
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
        ValueError: no tree has enough visits.
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
