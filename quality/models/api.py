"""Does the model of doublets explain real matrices better than the model without?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syclade.host.answer.inference import infer
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.device.choice import choose_device
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.models.fit import MODELS, Fit, fit_model
from syclade.quality.models.result import Explained, ModelsResult
from syclade.quality.work import Progress

__all__ = ["CHAINS", "FN_RATE", "FP_RATE", "STEPS", "models"]

FP_RATE, FN_RATE = 1e-3, 0.2
CHAINS, STEPS = 4, 100_000
LEARN = 0.1
"""Probability that a step changes a rate, for each rate."""

_SCORES: tuple[dict[str, Any], ...] = ({"score": "sum"}, {"doublets": "learn"})
"""Options of `infer` for the models of single cells and of doublets."""


def models(
    matrices: Sequence[Path],
    *,
    fp_rate: float = FP_RATE,
    fn_rate: float = FN_RATE,
    chains: int = CHAINS,
    steps: int = STEPS,
    start: str = "search",
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> ModelsResult:
    """Compare the model of doublets with the model without on real matrices.

    Chains of either model learn its rates, from trees of searches. Then the rates are fitted to the best tree
    of either, without priors, under every model; each model keeps its better tree. So a larger model is never
    below that of single cells, which it contains.

    Args:
        matrices: files; homozygous mutations count as heterozygous ones.
        fp_rate, fn_rate: means of the priors, for chains.
        chains, steps: number of chains, and steps of each.
        start: trees that chains start from, as for `infer`.
        device: as for `infer`.
        seed: seed of the chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        MatrixError: a file is not a matrix.
        DeviceError: the device cannot run.
    """
    found = choose_device(device).filter
    chained = {"chains": chains, "steps": steps, "start": start, "seed": seed, "device": found}
    explained = []
    for number, path in enumerate(matrices):
        if progress is not None:
            progress(path.stem, number, len(matrices))
        began = time.process_time()
        fits = _fits(read_matrix(path), fp_rate, fn_rate, chained)
        explained.append(Explained(path.stem, *fits, time.process_time() - began))
    return ModelsResult(tuple(explained), fp_rate, fn_rate, chains, steps, found, seed)


def _fits(
    matrix: Matrix, fp_rate: float, fn_rate: float, chained: dict[str, Any]
) -> tuple[int, int, dict[str, Fit]]:
    """Return the size of a matrix, and the best fit of each model."""
    trees = []
    for options in _SCORES:
        result = infer(
            matrix, fp_rate=fp_rate, fn_rate=fn_rate, merge_homozygous=True, learn_fn=LEARN, learn_fp=LEARN,
            **options, **chained,
        )  # fmt: skip
        trees.append((result.parents, result.rates))
    fits = {
        model: max(
            fit_model(matrix, parents, rates.fp_rate, rates.fn_rate, model) for parents, rates in trees
        )
        for model in MODELS
    }
    return matrix.n_mutations, matrix.n_cells, fits
