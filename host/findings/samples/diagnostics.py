"""Convergence diagnostics of sampled trees: effective sample sizes, agreement of chains, warnings.

Sources: Magee, Karcher, Matsen, Minin, "How trustworthy is your tree? Bayesian phylogenetic effective sample
size through the lens of Monte Carlo error", arXiv:2109.07629 (Fréchet ESS: correlations from squared
distances). The squared distance here is the number of mutations with different parents: half the squared
Euclidean distance of the trees' edges. The spread of ancestor frequencies over chains corresponds to that of
split frequencies (ASDSF) in MrBayes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.diagnostics import bulk_ess, split_rhat
from syclade.host.ground.values import Array, JsonObject

__all__ = [
    "FEWEST_CHANGES",
    "Trust",
    "changes",
    "clade_ess",
    "finite",
    "frechet_ess",
    "judged",
    "rhat_warnings",
    "spread_of",
]

_LEAST_SHARE = 0.1
"""Relations that are rarer than this in every chain do not count, as in MrBayes."""


def frechet_ess(trees: NDArray[np.int32]) -> float:
    """Return the Fréchet effective sample size of one chain's trees.

    Args:
        trees: int32, shape (samples, n + 1): parent vectors in the order in which they were sampled.

    Returns:
        Between 1 (also if the tree never changed) and the number of samples; nan for fewer than four samples.
    """
    return _ess(len(trees), _mean_distance(trees), lambda lag: _distance_at(trees, lag))


def clade_ess(trees: NDArray[np.int64]) -> float:
    """Return the Fréchet effective sample size of trees given by their clades.

    The distance of two trees is the number of clades of one that the other does not have.

    Args:
        trees: int64, shape (samples, clades): the clade numbers of each tree, all different.

    Returns:
        As `frechet_ess`.
    """
    from scipy import sparse

    count, width = trees.shape if trees.ndim == 2 else (len(trees), 0)
    if count < 4:
        return float("nan")
    numbers, places = np.unique(trees, return_inverse=True)
    rows = np.repeat(np.arange(count), width)
    has = sparse.csr_array(
        (np.ones(rows.size), (rows, places.ravel())), shape=(count, len(numbers)), dtype=np.float64
    )
    counts = np.bincount(places.ravel(), minlength=len(numbers))  # integer sums: their order does not matter

    def distance_at(lag: int) -> float:
        if lag == 0:
            return 0.0
        return width - float(has[lag:].multiply(has[:-lag]).sum()) / (count - lag)

    return _ess(count, width - int((counts**2).sum()) / count**2, distance_at)


def _ess(count: int, variance: float, distance_at: Callable[[int], float]) -> float:
    """Compute the effective sample size.

    Args:
        count: number of samples.
        variance: mean distance of two independent samples.
        distance_at: (lag) -> mean distance of samples that far apart.
    """
    if count < 4:
        return float("nan")
    if variance <= 1e-12:
        return 1.0
    total = 0.0
    last = np.inf
    for lag in range(0, count - 2, 2):
        pair = sum(1.0 - distance_at(one) / variance for one in (lag, lag + 1))
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return float(min(max(count / max(2.0 * total - 1.0, 1e-3), 1.0), count))


def changes(trees: NDArray[np.int32] | NDArray[np.int64]) -> int:
    """Count the samples whose tree differs from the one before.

    Args:
        trees: as for `frechet_ess`, or as for `clade_ess` with sorted clade numbers.
    """
    return int((trees[1:] != trees[:-1]).any(axis=1).sum())


def _distance_at(trees: NDArray[np.int32], lag: int) -> float:
    """Return the mean squared distance of trees `lag` samples apart."""
    if lag == 0:
        return 0.0
    return float((trees[lag:] != trees[:-lag]).sum(axis=1).mean())


def _mean_distance(trees: NDArray[np.int32]) -> float:
    """Return the mean squared distance of two samples drawn independently: twice the Fréchet variance."""
    count = len(trees)
    equal = 0.0
    for parents in trees.T[:-1]:
        shares = np.unique(parents, return_counts=True)[1] / count
        equal += float((shares**2).sum())
    return (trees.shape[1] - 1) - equal


def spread_of(shares: NDArray[np.float64]) -> float:
    """Return the mean standard deviation over chains of the frequencies of features of trees.

    Args:
        shares: float64, shape (chains, ...): share of each chain's samples with each feature.

    Returns:
        0 if all chains agree; nan for one chain, or if no feature is frequent enough.
    """
    if len(shares) < 2:
        return float("nan")
    frequent = (shares >= _LEAST_SHARE).any(axis=0)
    return float(shares.std(axis=0, ddof=1)[frequent].mean()) if frequent.any() else float("nan")


FEWEST_CHANGES = 10
"""A chain whose tree changes less often may be stuck; its effective sample size cannot show this."""

RHAT, ESS, SPREAD = 1.01, 400.0, 0.01
"""Thresholds: R-hat and effective sample size as in Vehtari et al. (2021), spread as in MrBayes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Trust:
    """Convergence diagnostics of samples.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of burn-in of each chain; the first sample is taken `every` steps later.
        log_likelihoods: float64, shape (chains, samples), natural log.
        ess, rhat: effective sample size and R-hat of the log-likelihood.
        tree_ess: Fréchet effective sample size of the stored trees, summed over the chains.
        stuck: number of stuck chains: among their stored trees there are fewer than `FEWEST_CHANGES` changes.
        spread: mean standard deviation over chains of the frequencies of `spread_of`.
        spread_name, spread_of: name of the spread in summary.json, and of its features in messages.
    """

    every: int
    burn_in: int
    log_likelihoods: NDArray[np.float64]
    ess: float
    rhat: float
    tree_ess: float
    stuck: int
    spread: float
    spread_name: ClassVar[str]
    spread_of: ClassVar[str]

    @property
    def warnings(self) -> list[str]:
        """Messages: why these samples may not be reliable; empty if all diagnostics are good."""
        if not self.log_likelihoods.size:
            return ["the run ended before every chain had a sample: run longer"]
        found = []
        if self.stuck:
            found.append(
                f"in {self.stuck} of {len(self.log_likelihoods)} chains the tree changed fewer than "
                f"{FEWEST_CHANGES} times: they may be stuck, whatever the effective sizes say"
            )
        if math.isnan(self.ess):
            return [*found, "there are too few samples to judge them: run longer, or sample more often"]
        if not self.ess >= ESS:
            found.append(
                f"the samples are worth {self.ess:.0f} independent ones (log-likelihood): run longer"
            )
        if not self.tree_ess >= ESS / 4:
            found.append(f"their trees are worth {self.tree_ess:.0f} independent ones: run longer")
        found += rhat_warnings("the log-likelihood", self.rhat)
        if self.spread > SPREAD:
            found.append(f"chains differ in {self.spread_of} by {self.spread:.3f} on the mean: run longer")
        return found

    @property
    def numbers(self) -> dict[str, float]:
        """The diagnostics, by name."""
        return {"ess": self.ess, "rhat": self.rhat, "tree_ess": self.tree_ess, self.spread_name: self.spread}

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json; numbers that are not finite become null."""
        return {
            "every": self.every,
            "burn_in": self.burn_in,
            "chains": self.log_likelihoods.shape[0],
            "samples": int(self.log_likelihoods.size),
            **finite(self.numbers),
            "still_chains": self.stuck,
            "warnings": self.warnings,
        }


def rhat_warnings(of: str, rhat: float) -> list[str]:
    """Return a message if an R-hat is high, or cannot be computed: it is nan if all samples are equal."""
    if math.isnan(rhat):
        return [f"{of} is the same in all samples, so its R-hat says nothing"]
    return [f"R-hat of {of} is {rhat:.3f}: the chains have not mixed"] if rhat > RHAT else []


def finite(numbers: dict[str, float]) -> dict[str, float | None]:
    """Return the numbers with twelve digits, so that all versions of numpy give the same.

    Numbers that are not finite become None, since JSON cannot represent them.
    """
    return {name: float(f"{value:.12g}") if math.isfinite(value) else None for name, value in numbers.items()}


class Judged(TypedDict):
    """Fields of `Trust` that follow from scores and trees."""

    log_likelihoods: NDArray[np.float64]
    ess: float
    rhat: float
    tree_ess: float
    stuck: int


def judged(
    scores: NDArray[np.int64],
    kept: Sequence[Array],
    ess_of: Callable[[Array], float],
    to_nats: Callable[[int], float],
) -> Judged:
    """Compute the fields of `Trust` that follow from scores and trees.

    Args:
        scores: int64, shape (chains, samples).
        kept: stored trees of each chain, shape (stored, ...), in the form that `ess_of` takes.
        ess_of: (stored trees of one chain) -> their effective sample size.
        to_nats: (integer score) -> log-likelihood.
    """
    values, places = np.unique(scores, return_inverse=True)
    nats = np.array([to_nats(int(value)) for value in values])[places].reshape(scores.shape)
    sizes = [ess_of(trees) for trees in kept]
    return {
        "log_likelihoods": nats,
        "ess": bulk_ess(nats) if nats.size else math.nan,
        "rhat": split_rhat(nats) if nats.size else math.nan,
        "tree_ess": float(sum(sizes)) if sizes else math.nan,
        "stuck": sum(changes(trees) < FEWEST_CHANGES for trees in kept),
    }
