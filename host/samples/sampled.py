"""What samples say, and how far they may be trusted: a value of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.atomic import Content
from syclade.host.cooptimal.consensus import Consensus
from syclade.host.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.diagnostics.trees import ancestor_spread, changes, frechet_ess
from syclade.host.samples.features import Features
from syclade.host.samples.lines import Samples
from syclade.kernels.rates.arguments import FN, FP

if TYPE_CHECKING:
    from syclade.host.model.learned import Learned

__all__ = ["Sampled", "judge"]

FEWEST_CHANGES = 10
"""Of a chain's tree, among its samples: with fewer, no effective size tells it from one that is stuck."""

RHAT, ESS, SPREAD = 1.01, 400.0, 0.01
"""What Vehtari et al. (2021) ask of R-hat and effective sizes, and MrBayes of the spread of frequencies."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """See the module.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of a chain before its first.
        log_likelihoods: float64, shape (chains, samples).
        posterior: probabilities of edges and of who is above whom, over all samples.
        ess, rhat: of the log-likelihood.
        leaves_ess, leaves_rhat: of the number of leaves.
        tree_ess: Fréchet effective size of trees, summed over the chains; of the samples that were kept.
        lines: in SCITE's format, for the file.
        rates: of learned ones, by name: float64, shape (chains, samples).
        still: chains whose tree changed fewer than `FEWEST_CHANGES` times among the samples that were kept.
        spread: mean standard deviation over chains of the frequencies of ancestors.
    """

    every: int
    burn_in: int
    log_likelihoods: NDArray[np.float64]
    posterior: Consensus
    ess: float
    rhat: float
    leaves_ess: float
    leaves_rhat: float
    tree_ess: float
    still: int
    spread: float
    lines: Samples
    rates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """In plain words, why these samples may not be trusted."""
        found = []
        if self.still:
            found.append(
                f"in {self.still} of {len(self.log_likelihoods)} chains the tree changed fewer than "
                f"{FEWEST_CHANGES} times: they may be stuck, whatever the effective sizes say"
            )
        if not self.ess >= ESS:
            found.append(
                f"the samples are worth {self.ess:.0f} independent ones (log-likelihood): run longer"
            )
        if not self.tree_ess >= ESS / 4:
            found.append(f"their trees are worth {self.tree_ess:.0f} independent ones: run longer")
        if not self.rhat <= RHAT:
            found.append(f"R-hat of the log-likelihood is {self.rhat:.3f}: the chains have not mixed")
        for name, values in self.rates.items():
            rhat = split_rhat(values) if values.size else math.nan
            if not rhat <= RHAT:
                found.append(f"R-hat of {name} is {rhat:.3f}: the chains have not mixed")
        if self.spread > SPREAD:
            found.append(f"chains differ in who is above whom by {self.spread:.3f} on the mean: run longer")
        return found

    def told(self) -> dict[str, Any]:
        """As plain values, for summary.json; what cannot be said is null."""
        numbers = {
            "ess": self.ess,
            "rhat": self.rhat,
            "leaves_ess": self.leaves_ess,
            "leaves_rhat": self.leaves_rhat,
            "tree_ess": self.tree_ess,
            "ancestor_spread": self.spread,
        }
        return {
            "every": self.every,
            "burn_in": self.burn_in,
            "chains": self.log_likelihoods.shape[0],
            "samples": int(self.log_likelihoods.size),
            **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
            "still_chains": self.still,
            **({"rates": self._rates_told()} if self.rates else {}),
            "warnings": self.warnings,
        }

    def _rates_told(self) -> dict[str, Any]:
        return {name: rate_told(values) for name, values in self.rates.items()}

    def files(self, mutations: Sequence[str]) -> dict[str, Content]:
        """The texts of the files, by name; edges below 5 % are left out of the graph."""
        return {
            "tree.samples": self.lines.lines(),
            "posterior.tsv": self.posterior.to_table(mutations),
            "posterior.gv": self.posterior.to_graphviz(mutations, least=0.05),
        }


def rate_told(values: NDArray[np.float64]) -> dict[str, float | None]:
    """What samples say of a rate: its posterior mean, standard deviation and central 90 %, ESS and R-hat.

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
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}


def judge(
    features: Features,
    lines: Samples,
    every: int,
    burn_in: int,
    to_nats: Callable[[int], float],
    learned: Learned | None = None,
) -> Sampled:
    """What was sampled, with all that is to be said of it.

    Args:
        features: of the samples.
        lines: likewise.
        every, burn_in: see `Sampled`.
        to_nats: the log-likelihood of an integer score.
        learned: rates that are learned, if any are.
    """
    scores, leaves = features.scores(), features.leaves()
    values, places = np.unique(scores, return_inverse=True)
    nats = np.array([to_nats(int(value)) for value in values])[places].reshape(scores.shape)
    kept = features.trees()
    sizes = [frechet_ess(trees) for trees in kept]
    return Sampled(
        every,
        burn_in,
        nats,
        Consensus(features.samples, features.edges(), features.above()),
        bulk_ess(nats) if nats.size else math.nan,
        split_rhat(nats) if nats.size else math.nan,
        bulk_ess(leaves.astype(np.float64)) if leaves.size else math.nan,
        split_rhat(leaves.astype(np.float64)) if leaves.size else math.nan,
        float(sum(sizes)) if sizes else math.nan,
        sum(changes(trees) < FEWEST_CHANGES for trees in kept),
        ancestor_spread(features.above_by_chain()),
        lines,
        {} if learned is None else _rates(features, learned),
    )


def _rates(features: Features, learned: Learned) -> dict[str, NDArray[np.float64]]:
    """Learned rates of all samples, by name."""
    grids = {FN: learned.fn, FP: learned.fp}
    return {
        grid.prior.name: grid.rates[features.rates(rate)] for rate, grid in grids.items() if grid is not None
    }
