"""Inputs of the study: tree, rates, cells and observations, drawn from the setting's distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.input.matrix import Matrix, matrix_from_array
from syclade.host.model import zygosity
from syclade.host.model.rate_model import RateGrid, RateModel, make_rate_model
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import observe, random_parents
from syclade.host.trees.tree import ancestor_matrix
from syclade.quality.calibration.settings import ONE_CLONE, Setting

__all__ = ["LEARN", "Drawn", "draw"]

LEARN = 0.1
"""Probability that a step of a chain changes a rate, for each learned rate."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """An input with its truth.

    Attributes:
        matrix: the observed values.
        parents: the true tree, int32, shape (n + 1,).
        rates: the true error rates.
    """

    matrix: Matrix
    parents: NDArray[np.int32]
    rates: Rates


def draw(setting: Setting, seed: int) -> Drawn:
    """Draw an input: each cell is at a random node, the root included.

    Learned rates are drawn from the prior of the chains, on its grid.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n, m = setting.mutations, setting.cells
    parents = random_parents(n, rng) if setting.trees == "uniform" else _recursive_parents(n, rng)
    rates = _drawn_rates(model_of(setting), rng) if setting.learn else Rates(setting.fp_rate, setting.fn_rate)
    nodes = _nodes(setting, rng)
    truth = ancestor_matrix(parents)[:n, nodes].astype(bool)
    values = observe(truth, rates, rng.random((n, m)))
    values[rng.random((n, m)) < setting.missing] = zygosity.MISSING
    return Drawn(matrix_from_array(values), parents, rates)


def _nodes(setting: Setting, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the node of each cell."""
    nodes, cells = setting.mutations + 1, setting.cells
    if setting.shares == "equal":
        return rng.integers(0, nodes, cells)
    if setting.shares == "one":
        shares = np.full(nodes, (1.0 - ONE_CLONE) / (nodes - 1))
        shares[rng.integers(nodes)] = ONE_CLONE
    else:
        shares = rng.dirichlet(np.full(nodes, setting.shares))
    return rng.choice(nodes, cells, p=shares)


def model_of(setting: Setting) -> RateModel:
    """Return the rates of the setting's chains."""
    learned = {"learn_fn": LEARN, "learn_fp": LEARN} if setting.learn else {}
    return make_rate_model(setting.inferred_with, **learned)


def _drawn_rates(model: RateModel, rng: np.random.Generator) -> Rates:
    assert model.fp is not None
    assert model.fn is not None
    return Rates(_drawn(model.fp, rng), _drawn(model.fn, rng))


def _drawn(grid: RateGrid, rng: np.random.Generator) -> float:
    weights = np.exp(grid.log_density - grid.log_density.max())
    return float(rng.choice(grid.rates, p=weights / weights.sum()))


def _recursive_parents(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw a recursive tree with random labels."""
    label = np.append(rng.permutation(n), n)
    above = np.append((rng.random(n) * np.arange(1, n + 1)).astype(np.int64) - 1, -1)  # -1 is the root
    parents = np.empty(n + 1, dtype=np.int32)
    parents[label] = label[above]
    return parents
