"""Learned rates of samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.model.rate_model import RateModel

__all__ = ["sampled_rates"]


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
