"""Random columns for tests of tails: groups of equal error probabilities, as in deep sequencing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Case(NamedTuple):
    probabilities: NDArray[np.float64]
    counts: NDArray[np.int64]
    at_least: int


def error_of(found: float, exact: object) -> float:
    """Return |Δ ln p| / max(1, |ln p|)."""
    expected = float(exact)  # type: ignore[arg-type]
    return abs(found - expected) / max(1.0, abs(expected))


def random_case(rng: np.random.Generator, most_trials: float = 1e5, most_cells: float = 1e12) -> Case:
    """Return a column whose depth, error rates and K have the range of the seed's Table 1, and beyond.

    Args:
        rng: source of randomness.
        most_trials: largest depth.
        most_cells: largest depth × K, the work of an algorithm without windows.
    """
    groups = int(rng.integers(1, 25))
    trials = int(10 ** rng.uniform(0.5, np.log10(most_trials)))
    probabilities = 10 ** -rng.uniform(0.7, 6.0, groups)
    counts = rng.multinomial(trials, rng.dirichlet(np.ones(groups)))
    mean = float(counts @ probabilities)
    kind = rng.integers(4)
    if kind == 0:  # an error column: K near its mean
        at_least = rng.poisson(mean)
    elif kind == 1:  # some standard deviations above
        at_least = round(mean + rng.uniform(0, 20) * np.sqrt(mean + 1))
    else:  # a variant
        at_least = round(mean + trials * 10 ** rng.uniform(-4, -0.3))
    at_least = min(int(at_least), trials, int(most_cells / trials))
    return Case(probabilities, counts, max(at_least, 1))
