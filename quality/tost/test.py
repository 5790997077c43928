"""Equivalence of two programs' optima by two one-sided paired t-tests (TOST).

Schuirmann 1987, as used in the ffSCITE thesis (section 4.4): both programs get the same inputs, and the
margin is the largest effect of one flipped bit of the mutation matrix. The programs are equivalent iff both
tests reject. The log-likelihoods are in nats and come from one scorer.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIGNIFICANCE = 0.01
"""Significance of each of the two tests, as in the thesis."""

TOLERANCE = 1e-6
"""Log-likelihoods that differ by at most this, in nats, are equal. SCITE's logs have about as many digits."""

POWER = 0.95
"""Probability of finding an effect that is called detectable."""


@dataclass(frozen=True)
class Differences:
    """Log-likelihoods of the two programs' best trees, in nats, float64, both of shape (inputs,).

    ValueError if the shapes differ, there are fewer than two inputs, or a value is not finite.
    """

    ours: NDArray[np.float64]
    reference: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.ours.ndim != 1 or self.ours.shape != self.reference.shape:
            raise ValueError(
                f"one log-likelihood an input and program, not {self.ours.shape}, {self.reference.shape}"
            )
        if len(self.ours) < 2:
            raise ValueError("a t-test needs at least two inputs")
        if not np.isfinite(self.values).all():
            raise ValueError("a log-likelihood is not finite")

    @classmethod
    def between(cls, ours: ArrayLike, reference: ArrayLike) -> "Differences":
        """Convert anything that numpy accepts as an array."""
        return cls(np.asarray(ours, dtype=np.float64), np.asarray(reference, dtype=np.float64))

    @property
    def values(self) -> NDArray[np.float64]:
        """Ours minus the reference's, float64, shape (inputs,): positive where ours is better."""
        return self.ours - self.reference

    @property
    def mean(self) -> float:
        """Mean difference."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """Sample standard deviation of the differences."""
        return float(self.values.std(ddof=1))

    def has_spread(self, tolerance: float = TOLERANCE) -> bool:
        """Return whether the differences vary by more than the tolerance."""
        return float(np.ptp(self.values)) > tolerance


@dataclass(frozen=True)
class Equivalence:
    """Verdict and the values behind it; differences are ours minus the reference's."""

    inputs: int
    equal: int
    better: int
    worse: int
    delta: float
    """Margin in nats: one bit flip."""
    mean: float
    """Mean difference in nats."""
    mean_flips: float
    """The mean in units of the margin."""
    deviation: float
    """Sample standard deviation of the differences in nats."""
    significance: float
    p_worse: float
    """p-value of the hypothesis that ours is worse by the margin or more (mean <= -delta)."""
    p_better: float
    """p-value of the hypothesis that ours is better by the margin or more (mean >= delta)."""
    equivalent: bool
    """Both hypotheses are rejected."""
    non_inferior: bool
    """The first hypothesis is rejected: ours may be better without limit."""
    detectable_shift: float
    """Result of the function `detectable_shift` for these inputs, in nats."""
    failing_shift: float
    """Result of the function `failing_shift` for these inputs, in nats."""
    note: str
    """Remark on the p-values, or empty."""


def delta(fp_rate: float, fn_rate: float) -> float:
    """Return the largest effect of one flipped bit on the log-likelihood, in nats (thesis, lemma 4.1).

    ValueError if a rate is not between 0 and 1.
    """
    if not (0 < fp_rate < 1 and 0 < fn_rate < 1):
        raise ValueError(f"error rates {fp_rate}, {fn_rate} are not between 0 and 1")
    observed = abs(math.log(fp_rate) - math.log1p(-fn_rate))
    not_observed = abs(math.log(fn_rate) - math.log1p(-fp_rate))
    return max(observed, not_observed)


def tost(
    differences: Differences,
    margin: float,
    significance: float = SIGNIFICANCE,
    tolerance: float = TOLERANCE,
    power: float = POWER,
) -> Equivalence:
    """Run two one-sided paired t-tests with the margin in nats, by statsmodels.

    The thesis states its hypotheses for the reference's values minus its own. Its figures, with the mean in
    favour of its own program and p- < p+, are for the other order: p- is `p_worse`, p+ is `p_better`.

    ValueError if the margin is not positive.
    """
    if not margin > 0:
        raise ValueError(f"margin {margin} is not positive")
    values, inputs = differences.values, len(differences.values)
    p_worse, p_better, note = _p_values(differences, margin, tolerance)
    better, worse = int((values > tolerance).sum()), int((values < -tolerance).sum())
    deviation = differences.deviation
    return Equivalence(
        inputs=inputs,
        equal=inputs - better - worse,
        better=better,
        worse=worse,
        delta=margin,
        mean=differences.mean,
        mean_flips=differences.mean / margin,
        deviation=deviation,
        significance=significance,
        p_worse=p_worse,
        p_better=p_better,
        equivalent=max(p_worse, p_better) < significance,
        non_inferior=p_worse < significance,
        detectable_shift=detectable_shift(deviation, inputs, significance, power),
        failing_shift=failing_shift(margin, deviation, inputs, significance, power),
        note=note,
    )


def detectable_shift(
    deviation: float, inputs: int, significance: float = SIGNIFICANCE, power: float = POWER
) -> float:
    """Return the smallest true mean difference (nats) that a one-sided t-test detects with this power.

    `deviation`: standard deviation of the differences. The statistic then has a noncentral t distribution.
    """
    return _noncentrality(inputs, significance, power) * deviation / math.sqrt(inputs)


def failing_shift(
    margin: float, deviation: float, inputs: int, significance: float = SIGNIFICANCE, power: float = POWER
) -> float:
    """Return the smallest true mean difference (nats, either direction) at which TOST fails with this power.

    It is within the margin if power < 1 - significance. 0 means that TOST fails even for equal programs,
    because there are too few inputs for their deviation. Only the test on the near side is considered; the
    other one can only make TOST fail sooner.
    """
    passing = _noncentrality(inputs, significance, 1 - power)
    return max(0.0, margin - passing * deviation / math.sqrt(inputs))


def _p_values(differences: Differences, margin: float, tolerance: float) -> tuple[float, float, str]:
    """Return the p-values of the hypotheses mean <= -margin and mean >= margin, and a note."""
    if not differences.has_spread(tolerance):
        return (
            0.0 if differences.mean > -margin else 1.0,
            0.0 if differences.mean < margin else 1.0,
            "All differences are equal, so there is no t-statistic; the p-values are its limits, 0 or 1.",
        )
    from statsmodels.stats.weightstats import ttost_paired  # slow to import, and optional

    _, (_, p_worse, _), (_, p_better, _) = ttost_paired(
        differences.ours, differences.reference, -margin, margin
    )
    return float(p_worse), float(p_better), ""


def _noncentrality(inputs: int, significance: float, power: float) -> float:
    """Return the noncentrality at which a one-sided one-sample t-test rejects with this power."""
    from scipy import optimize, stats

    freedom = inputs - 1
    critical = stats.t.isf(significance, freedom)
    limit = 10 * (1 + critical)
    return float(optimize.brentq(lambda shift: stats.nct.sf(critical, freedom, shift) - power, -limit, limit))
