"""Evidence: the mean of the likelihood over all trees of a space, by stepping stones (docs/model.md).

A chain begins at a random tree, and its exponent γ rises from nearly 0 to 1 along a ladder. On each rung,
the mean of exp((γ' - γ) log L) over its states estimates the ratio of the means at the next rung, γ', and at
this one. The first rung is so low that the inverse ratio to γ = 0, all trees alike, is exact enough.

Source: Xie, Lewis, Fan, Kuo, Chen, "Improving marginal likelihood estimation for Bayesian phylogenetic model
selection", 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner
from syclade.host.chains.state import ChainState

__all__ = ["LADDER", "Estimate", "estimate_of", "ratios_by_chains"]

LADDER = tuple((rung / 30) ** 4 for rung in range(1, 31))
"""Exponents; most are low, where the likelihood of trees varies most. The last one, 1, is only reached."""

READS = 50
"""Reads of a chain's score on each rung."""

BURN_IN = 0.2
"""Part of the steps on a rung before the first read."""


class Estimate(NamedTuple):
    """An estimate, natural log.

    Attributes:
        value: the estimate.
        error: its standard error, by a jackknife over the chains; NaN with one chain.
    """

    value: float
    error: float

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference of two independent estimates."""
        return Estimate(self.value - other.value, math.hypot(self.error, other.error))


def ratios_by_chains(
    runner: Runner, starts: Sequence[ChainState], steps: int, launched: Callable[[int, int], None]
) -> NDArray[np.float64]:
    """Run chains along the ladder; return the estimate of each chain on each rung.

    Args:
        runner: of plans with fixed rates; its slots are overwritten.
        starts: states of independent chains at step 0, at trees that are uniform in their space.
        steps: steps of a chain on each rung.
        launched: called after each launch with the number of steps done, over all chains, and the best score
            of those in the slots.

    Returns:
        float64, shape (chains, rungs): logs of ratios; they sum to the log of the mean likelihood.
    """
    done, found = 0, []
    burn_in = max(1, round(BURN_IN * steps))
    for first in range(0, len(starts), runner.slots):
        group = starts[first : first + runner.slots]
        for slot, state in enumerate(group):
            runner.put(slot, state)
        ratios = []
        for rung, gamma in enumerate(LADDER[:-1]):
            for slot in range(len(group)):
                runner.set_gamma(slot, gamma)
            scores = []
            for stop in np.linspace(burn_in, steps, READS).round().astype(int).tolist():
                targets = np.zeros(runner.slots, dtype=np.int64)
                targets[: len(group)] = rung * steps + stop
                runner.advance(targets)
                scores.append(runner.read_all("score")[: len(group)])
            done += steps * len(group)
            launched(done, int(runner.best_scores()[: len(group)].max()))
            nats = runner.plan.problem.base + np.array(scores) * runner.plan.problem.unit
            ratio = _log_mean((LADDER[rung + 1] - gamma) * nats)
            ratios.append(ratio if rung else ratio - _log_mean(-gamma * nats))
        found.append(np.stack(ratios, axis=1))
    return np.concatenate(found)


def estimate_of(ratios: NDArray[np.float64]) -> Estimate:
    """Return the estimate of independent chains: float64, shape (chains, rungs), from `ratios_by_chains`."""
    chains = len(ratios)
    value = float(_log_mean(ratios).sum())
    if chains == 1:
        return Estimate(value, math.nan)
    without = np.array([_log_mean(np.delete(ratios, chain, axis=0)).sum() for chain in range(chains)])
    variance = (chains - 1) * float(np.mean((without - without.mean()) ** 2))
    return Estimate(value, math.sqrt(variance))


def _log_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean of exponentials along the first axis."""
    mean: NDArray[np.float64] = np.logaddexp.reduce(values, axis=0) - math.log(len(values))
    return mean
