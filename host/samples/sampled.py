"""Samples of a result: their posterior and their convergence diagnostics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.atomic import Content
from syclade.host.cooptimal.consensus import Consensus
from syclade.host.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.diagnostics.trees import ancestor_spread, frechet_ess
from syclade.host.samples.features import Features
from syclade.host.samples.lines import Samples
from syclade.host.samples.trust import RHAT, Trust, finite, judged
from syclade.kernels.rates.arguments import FN, FP

if TYPE_CHECKING:
    from syclade.host.model.rate_model import RateModel

__all__ = ["Sampled", "judge"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampled(Trust):
    """Samples of mutation trees, with their posterior; for the diagnostics see `Trust`.

    Attributes:
        posterior: probabilities of edges and of ancestor relations, over all samples.
        leaves_ess, leaves_rhat: effective sample size and R-hat of the number of leaves.
        lines: the samples in SCITE's format, for the file.
        rates: samples of learned rates, by name: float64, shape (chains, samples).
    """

    posterior: Consensus
    leaves_ess: float
    leaves_rhat: float
    lines: Samples
    rates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    spread_name = "ancestor_spread"
    spread_of = "who is above whom"

    @property
    def warnings(self) -> list[str]:
        """See `Trust.warnings`; also warns of learned rates with a high R-hat."""
        found = super().warnings
        for name, values in self.rates.items():
            if values.size and not (rhat := split_rhat(values)) <= RHAT:
                found.append(f"R-hat of {name} is {rhat:.3f}: the chains have not mixed")
        return found

    @property
    def numbers(self) -> dict[str, float]:
        """See `Trust.numbers`."""
        return super().numbers | {"leaves_ess": self.leaves_ess, "leaves_rhat": self.leaves_rhat}

    def told(self) -> dict[str, Any]:
        """See `Trust.told`."""
        return super().told() | ({"rates": self._rates_told()} if self.rates else {})

    def _rates_told(self) -> dict[str, Any]:
        return {name: rate_told(values) for name, values in self.rates.items()}

    def files(self, mutations: Sequence[str]) -> dict[str, Content]:
        """Return the contents of the files, by name; the graph leaves out edges of 5 % or less."""
        return {
            "tree.samples": self.lines.lines(),
            "posterior.tsv": self.posterior.to_table(mutations),
            "posterior.gv": self.posterior.to_graphviz(mutations, least=0.05),
        }


def rate_told(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Summarise a sampled rate: posterior mean, standard deviation, central 90 %, ESS and R-hat.

    Args:
        values: float64, shape (chains, samples).
    """
    if not values.size:
        return dict.fromkeys(("mean", "sd", "low", "high", "ess", "rhat"))
    low, high = np.quantile(values, (0.05, 0.95)).tolist()
    numbers = {
        "mean": float(values.mean()),
        "sd": float(values.std()),
        "low": low,
        "high": high,
        "ess": bulk_ess(values),
        "rhat": split_rhat(values),
    }
    return finite(numbers)


def judge(
    features: Features,
    lines: Samples,
    every: int,
    burn_in: int,
    to_nats: Callable[[int], float],
    model: RateModel,
) -> Sampled:
    """Return the samples with their posterior and convergence diagnostics.

    Args:
        features: features of the samples.
        lines: lines of the samples.
        every, burn_in: see `Sampled`.
        to_nats: (integer score) -> log-likelihood.
        learned: the learned rates; None if there are none.
    """
    leaves = features.leaves().astype(np.float64)
    return Sampled(
        every=every,
        burn_in=burn_in,
        **judged(features.scores(), features.trees(), frechet_ess, to_nats),
        spread=ancestor_spread(features.above_by_chain()),
        posterior=Consensus(features.samples, features.edges(), features.above()),
        leaves_ess=bulk_ess(leaves) if leaves.size else math.nan,
        leaves_rhat=split_rhat(leaves) if leaves.size else math.nan,
        lines=lines,
        rates=_rates(features, model),
    )


def _rates(features: Features, model: RateModel) -> dict[str, NDArray[np.float64]]:
    """Return the learned rates of all samples, by name: float64, shape (chains, samples)."""
    grids = {FN: model.fn, FP: model.fp}
    return {
        grid.prior.name: grid.rates[features.rates(rate)] for rate, grid in grids.items() if grid is not None
    }
