"""How near to the truth is the consensus of samples, at which thresholds?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.inference import infer
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.data.trees.distances import Agreement
from syclade.host.device.choice import choose_device
from syclade.host.findings.consensus.clone_tree import agreement_with, clone_tree_of
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.consensus.search import THRESHOLDS, Thresholds
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.peers.ours import consensus_of_all
from syclade.quality.studies import ChainsOnInputs
from syclade.quality.studies.consensus.result import ConsensusStudy, Found
from syclade.quality.work import Progress

__all__ = ["GRID", "consensus"]

FP_RATE, FN_RATE, MISSING = 1e-3, 0.2, 0.1

SHARES = 0.5
"""Least share of the pairs that are compared as they are, without a tree."""

SAMPLES = 500
"""Samples of each chain."""

GRID = tuple(
    dict.fromkeys(
        (
            THRESHOLDS,
            *(Thresholds(both, both) for both in (0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8)),
            *(Thresholds(before, 0.5) for before in (0.4, 0.6, 0.7)),
        )
    )
)
"""Thresholds that are compared; the first are the defaults."""


def consensus(
    *,
    cells: int = 64,
    mutations: int = 63,
    inputs: int = 4,
    chains: int = 4,
    steps: int = 400_000,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> ConsensusStudy:
    """Compare the most likely tree and consensus trees with the truth, on simulated inputs.

    Samples are of the sum score, from chains that start at the trees of searches; a quarter of their steps is
    burn-in. The most likely tree is that of a search by the maximum score.

    Args:
        cells, mutations: size of the inputs.
        inputs: number of inputs; their seeds are `seed`, `seed` + 1, ….
        chains, steps: number of chains, and steps of each.
        device: as for `infer`.
        seed: seed of the first input, and of all chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    found = choose_device(device).filter
    all_found: list[Found] = []
    for number in range(inputs):
        if progress is not None:
            progress(f"input {seed + number}", number, inputs)
        simulation = simulate(cells, mutations, FP_RATE, FN_RATE, MISSING, seed + number)
        all_found += _of_input(seed + number, simulation, chains, steps, found, seed)
    return ConsensusStudy(tuple(all_found), ChainsOnInputs(cells, mutations, chains, steps, found, seed))


def _of_input(
    number: int, simulation: Simulation, chains: int, steps: int, device: str, seed: int
) -> Iterator[Found]:
    """Yield what each method finds for an input."""
    rates: dict[str, Any] = {"fp_rate": FP_RATE, "fn_rate": FN_RATE, "device": device, "seed": seed}
    best = infer(simulation.matrix, **rates).parents
    sampled = infer(
        simulation.matrix,
        **rates,
        score="sum",
        chains=chains,
        steps=steps,
        samples=max(1, steps * 3 // 4 // SAMPLES),
        start="search",
    )
    samples = sampled.samples
    assert isinstance(samples, SampledMutationTrees)
    ess, relations, true = samples.ess, samples.relations, simulation.parents  # of unplaced mutations, too
    likely = clone_tree_of(best)
    yield Found(number, "most likely tree", likely.clones - 1, ess, agreement_with(likely, true))
    yield Found(number, f"pairs ≥ {SHARES}", None, ess, _of_pairs(relations, true))
    for thresholds in GRID:
        tree = consensus_of_all(samples, best, simulation.matrix, sampled.rates, thresholds)
        name = f"consensus {thresholds.before:g}, {thresholds.apart:g}"
        yield Found(number, name, tree.clones - 1, ess, agreement_with(tree, true))


def _of_pairs(relations: Relations, true: NDArray[np.int32]) -> dict[str, Agreement]:
    """Compare the pairs with shares of at least `SHARES` with a true tree; see `agreement_with`."""
    other = clone_tree_of(true)
    pairs = {
        "ancestors": (relations.before >= SHARES, other.before),
        "lineages": (np.triu(relations.apart >= SHARES), np.triu(other.apart)),
    }
    return {
        name: Agreement(int((one & two).sum()), int(one.sum()), int(two.sum()))
        for name, (one, two) in pairs.items()
    }
