"""Convergence diagnostics of samples of any kind of trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.data.diagnostics.trees import changes
from syclade.host.ground.values import Array, JsonObject

__all__ = ["FEWEST_CHANGES", "Trust", "finite", "judged", "rhat_warnings"]

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
