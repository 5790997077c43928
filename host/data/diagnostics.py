"""Effective sample size and R-hat of a number sampled by chains, and of relations between mutations.

Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: an
improved R-hat", Bayesian Analysis 16(2), 2021: split chains, rank-normalised; Geyer's initial monotone
sequence. Here, a chain that never moved counts as one sample, not as all of its samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import JsonObject, short_repr

__all__ = [
    "LEAST",
    "MOST",
    "ROUGH",
    "Kept",
    "PairSizes",
    "bulk_ess",
    "effective_size",
    "indicator_ess",
    "likely_chains",
    "pair_sizes",
    "split_rhat",
]


_FEWEST = 4
"""Fewest samples in half a chain for which diagnostics are computed."""

_NATS, _DEVIATIONS = 20.0, 5.0
"""A chain is far below the best one if its median log-likelihood is lower by more than so many nats, and by
more than so many standard deviations of the best chain, which grow with the number of mutations."""


class Kept(NamedTuple):
    """Chains that count, beside the best one.

    Attributes:
        chains: their numbers, ascending.
        left_out: number of the other chains, which are far below.
        below: nats by which the medians of the others are below that of the best chain, at least.
    """

    chains: tuple[int, ...]
    left_out: int = 0
    below: float = 0.0


def likely_chains(log_likelihoods: Mapping[int, NDArray[np.float64]]) -> Kept:
    """Return the chains that are not far below the best one: the trees of the others have no weight.

    Args:
        log_likelihoods: those of the samples of each chain, by its number: float64, shape (samples,).
    """
    medians = {chain: float(np.median(values)) for chain, values in log_likelihoods.items()}
    best = max(medians, key=lambda chain: medians[chain])
    least = medians[best] - max(_NATS, _DEVIATIONS * float(np.std(log_likelihoods[best])))
    likely = tuple(chain for chain in sorted(medians) if medians[chain] >= least)
    others = [median for chain, median in medians.items() if chain not in likely]
    below = medians[best] - max(others) if others else 0.0
    return Kept(likely, len(others), below)


def split_rhat(samples: NDArray[np.float64]) -> float:
    """Return the rank-normalised split R-hat: the greater of that of the samples and of the folded samples.

    Folded samples are distances from the median.

    Args:
        samples: float64, shape (chains, samples).

    Returns:
        Near 1 if chains agree; inf if all chains are stuck, at different values; nan if there are too few
        samples, or all are equal.
    """
    halves = _split(samples)
    if halves.shape[1] < _FEWEST:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(_normalised(halves)), _rhat(_normalised(folded)))


def bulk_ess(samples: NDArray[np.float64]) -> float:
    """Return the bulk effective sample size: that in the middle of the distribution.

    Args:
        samples: float64, shape (chains, samples).

    Returns:
        nan if there are too few samples. If all chains are stuck, each counts as one sample at most.
    """
    return _ess(samples, _normalised)


def indicator_ess(samples: NDArray[np.float64]) -> float:
    """Return `bulk_ess` of samples that are 0 or 1, faster: their ranks are in proportion to themselves.

    Args:
        samples: float64, shape (chains, samples).
    """
    return _ess(samples, lambda halves: halves)


def _ess(
    samples: NDArray[np.float64], normalised: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> float:
    halves = _split(samples)
    if halves.shape[1] < _FEWEST:
        return float("nan")
    if (np.ptp(samples, axis=1) == 0).all():
        return 1.0 if np.ptp(samples) == 0 else float(len(samples))
    return effective_size(normalised(halves))


def effective_size(samples: NDArray[np.float64]) -> float:
    """Compute the effective sample size from the autocovariances of chains and the variance between chains.

    Args:
        samples: float64, shape (chains, samples), not all equal.
    """
    chains, length = samples.shape
    covariance = np.array([_autocovariance(chain) for chain in samples])
    within = covariance[:, 0].mean() * length / (length - 1)
    total = within * (length - 1) / length
    if chains > 1:
        total += samples.mean(axis=1).var(ddof=1)
    if total == 0:
        return 1.0
    correlation = 1.0 - (within - covariance.mean(axis=0) * length / (length - 1)) / total
    correlation[0] = 1.0
    time = _correlation_time(correlation)
    return float(min(chains * length / time, chains * length * np.log10(chains * length)))


def _correlation_time(correlation: NDArray[np.float64]) -> float:
    """Return 1 + 2 times the sum of correlations, by the initial monotone sequence (Geyer 1992)."""
    pairs = correlation[: len(correlation) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.nonzero(pairs <= 0)[0]
    if len(negative):
        pairs = pairs[: negative[0]]
    return float(max(2.0 * np.minimum.accumulate(pairs).sum() - 1.0, 1e-3)) if len(pairs) else 1.0


def _autocovariance(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the autocovariance at all lags, with the number of samples as the divisor."""
    length = len(chain)
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(chain - chain.mean(), size)
    covariance: NDArray[np.float64] = np.fft.irfft(spectrum * spectrum.conj(), size)[:length] / length
    return covariance


def _rhat(samples: NDArray[np.float64]) -> float:
    length = samples.shape[1]
    within = samples.var(axis=1, ddof=1).mean()
    between = samples.mean(axis=1).var(ddof=1)
    if (np.ptp(samples, axis=1) == 0).all():  # rounding may make the variance of equal numbers greater than 0
        return float("nan") if np.ptp(samples) == 0 else float("inf")
    return float(np.sqrt((length - 1) / length + between / within))


def _split(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Split each chain into two halves; an odd number of samples loses the middle one."""
    half = samples.shape[1] // 2
    return np.concatenate([samples[:, :half], samples[:, samples.shape[1] - half :]])


def _normalised(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal scores of the ranks over all chains."""
    from scipy import special

    _, places, counts = np.unique(samples, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places].reshape(samples.shape)  # equal numbers: their mean
    scores: NDArray[np.float64] = special.ndtri((ranks - 3 / 8) / (samples.size + 1 / 4))
    return scores


LEAST, MOST = 0.05, 0.95
"""Probabilities of uncertain pairs; others have too few changes to measure."""

ROUGH = 100
"""Pairs with fewer effective samples are counted: their standard error can be above 0.05."""


_SAMPLES = 1024
"""Most samples of each chain."""

_PAIRS_AT_ONCE = 16
"""Pairs that are measured together, so that their numbers stay in a fast cache."""


class PairSizes(NamedTuple):
    """Effective sample sizes of uncertain pairs.

    Attributes:
        uncertain: number of pairs with a probability from `LEAST` to `MOST`.
        sizes: float64, shape (measured,): effective sample sizes of some of them, evenly spaced.
    """

    uncertain: int
    sizes: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def lowest(self) -> float | None:
        """Smallest effective sample size; None if no pair is uncertain."""
        return float(self.sizes.min()) if self.sizes.size else None

    @property
    def rough(self) -> int:
        """Number of measured pairs with fewer effective samples than `ROUGH`."""
        return int((self.sizes < ROUGH).sum())

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json."""
        return {
            "uncertain": self.uncertain,
            "measured": len(self.sizes),
            "lowest_ess": None if self.lowest is None else float(f"{self.lowest:.6g}"),
            f"below_{ROUGH}": self.rough,
        }


def pair_sizes(chains: Sequence[NDArray[np.int32]], shares: NDArray[np.float64], most: int) -> PairSizes:
    """Measure uncertain pairs of the samples of chains, or of every k-th sample where these are many.

    Every k-th sample tells as much of slow pairs, which matter here.

    Args:
        chains: trees of each chain: int32, shape (samples, n + 1).
        shares: float64, shape (n, n): probability that the row's mutation is above the column's.
        most: most pairs to measure.
    """
    upper, lower = np.nonzero((shares >= LEAST) & (shares <= MOST))
    count = min(most, len(upper))
    chosen = np.arange(count) * len(upper) // max(1, count)
    length = min(map(len, chains), default=0)
    stride = max(1, -(-length // _SAMPLES))
    trees = np.array([chain[:length:stride] for chain in chains])
    sizes = [
        indicator_ess(above.astype(np.float64))
        for first in range(0, count, _PAIRS_AT_ONCE)
        for above in _are_above(
            trees, *(one[chosen[first : first + _PAIRS_AT_ONCE]] for one in (upper, lower))
        )
    ]
    return PairSizes(len(upper), np.array(sizes, dtype=np.float64))


def _are_above(
    trees: NDArray[np.int32], upper: NDArray[np.int64], lower: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether mutations are above others: bool, shape (pairs, chains, samples).

    Args:
        trees: int32, shape (chains, samples, n + 1).
        upper, lower: int64, shape (pairs,): two mutations each.
    """
    chains, samples, nodes = trees.shape
    flat, root = trees.reshape(-1), nodes - 1
    found = np.zeros(len(upper) * chains * samples, dtype=np.bool_)
    place = np.arange(len(found))
    start = np.tile(np.arange(chains * samples) * nodes, len(upper))
    wanted, at = (np.repeat(one.astype(np.int32), chains * samples) for one in (upper, lower))
    while True:  # climbs from all lower mutations, until each is at the upper one or at the root
        at = flat[start + at]
        met = at == wanted
        found[place[met]] = True
        on = ~met & (at != root)
        if not on.any():
            return found.reshape(len(upper), chains, samples)
        place, start, wanted, at = place[on], start[on], wanted[on], at[on]
