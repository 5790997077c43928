"""Samples of a run's trees, of any kind: diagnostics, and what their files are made of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.data.model.rate_model import RateModel
from syclade.host.findings.samples.diagnostics import Trust, finite, rhat_warnings
from syclade.host.ground.atomic import Content

if TYPE_CHECKING:
    from syclade.host.data.trees.clones import Clone
    from syclade.host.findings.consensus.unplaced import Unplaced

__all__ = ["Sampled", "sampled_rates"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampled(Trust, ABC):
    """Samples of trees; for the diagnostics see `Trust`.

    Attributes:
        store: the samples.
        names: names of the nodes but the root.
        rates: samples of learned rates, by name: float64, shape (chains, samples).
        dimension: name of the nodes' dimension in netCDF files.
    """

    store: SampleStore
    names: tuple[str, ...]
    rates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    dimension: ClassVar[str]

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield the lines of the file of samples, chain by chain."""

    @abstractmethod
    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name."""

    @abstractmethod
    def support(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> list[float | None]:
        """Return the share of samples that have each clone of a tree; None where there is nothing to share.

        Args:
            parents: the tree.
            clones: its clones.
            unplaced: mutations that are left out, and clones of nothing else with them.
        """

    def columns(self, parents: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
        """Return numbers of some samples besides their trees, by name: int32, shape (samples,).

        Args:
            parents: int32, shape (samples, nodes).
        """
        return {}

    @property
    def warnings(self) -> list[str]:
        """See `Trust.warnings`; also warns of learned rates with a high R-hat."""
        found = super().warnings
        for name, values in self.rates.items():
            if values.size and not math.isnan(self.ess):
                found += rhat_warnings(name, split_rhat(values))
        return found

    def to_dict(self) -> dict[str, Any]:
        """See `Trust.told`."""
        rates = {name: rate_told(values) for name, values in self.rates.items()}
        return super().to_dict() | ({"rates": rates} if rates else {})


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


def sampled_rates(store: SampleStore, model: RateModel) -> dict[str, NDArray[np.float64]]:
    """Return the learned rates of all samples, by name, cut to the shortest chain.

    Args:
        store: the samples.
        model: the rates of the chains.

    Returns:
        float64, shape (chains, samples) each; nothing if no rate is learned.
    """
    grids = [(at, grid) for at, grid in enumerate(model.grids) if grid is not None]
    if not grids:
        return {}
    places = [
        np.concatenate(
            [np.zeros((0, len(model.grids)), np.int64), *(one["rate_at"] for one in store.of_chain(chain))]
        )
        for chain in store.chains
    ]
    shortest = min((len(one) for one in places), default=0)
    all_places = np.array([one[:shortest] for one in places], dtype=np.int64).reshape(
        len(places), shortest, len(model.grids)
    )
    return {grid.prior.name: grid.rates[all_places[:, :, at]] for at, grid in grids}
