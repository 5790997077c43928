"""Inputs of the study: tree, rates, cells and observations, drawn from the setting's distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model import rates as zygosity
from syclade.host.data.model.dropout import draw_common_beta, within_limits
from syclade.host.data.model.rate_grid import RateGrid
from syclade.host.data.model.rate_model import RateModel, make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, observe, random_parents
from syclade.host.data.model.simulate_reads import ReadModel, simulate_reads
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.calibration.settings import Setting, Shares

__all__ = ["LEARN", "ONE_CLONE", "Drawn", "draw", "drawn_fn_rates", "model_of_reads", "shares_of"]

LEARN = 0.1
"""Probability that a step of a chain changes a rate, for each learned rate."""

ONE_CLONE: Final = 0.95
"""Share of the cells at one node, if shares are `one`."""

OCCUPIED: Final = 0.25
"""Part of the nodes that have cells, if shares are `empty`."""

GROWN: Final = 1000.0
"""Size of a clone from the beginning, relative to one from the end, if shares are by `growth`."""


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
    """Draw an input: each cell is at a random node, the root included; a doublet, at two.

    With a depth, entries have reads in place of values, of single cells. Learned rates, and rates that differ
    between mutations, are drawn from the prior of the chains, on its grid.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n, m = setting.mutations, setting.cells
    parents = random_parents(n, rng) if setting.trees == "uniform" else _recursive_parents(n, rng)
    rates = _drawn_rates(model_of(setting), rng) if setting.learn else Rates(setting.fp_rate, setting.fn_rate)
    above = ancestor_matrix(parents)[:n].astype(bool)
    nodes = _nodes(setting, parents, rng, 2 * m if setting.doublets else m)
    of_cells = above[:, nodes]
    truth = of_cells[:, :m]
    if setting.doublets:
        truth |= of_cells[:, m:] & (rng.random(m) < setting.doublets)
    fn_rates = drawn_fn_rates(n, rates.fp_rate, rng) if setting.own_rates else None
    values = observe(truth, rates, rng.random((n, m)), fn_rates)
    values[rng.random((n, m)) < setting.missing] = zygosity.MISSING
    matrix = matrix_from_array(values)
    if setting.depth is not None:
        alone = np.full(m, -1, dtype=np.int32)
        made = Simulation(matrix, parents, nodes[:m].astype(np.int32), truth.astype(np.uint8), alone)
        matrix = simulate_reads(made, model_of_reads(setting), seed).made.matrix
    return Drawn(matrix, parents, rates)


def drawn_fn_rates(mutations: int, fp_rate: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a rate of false negatives for each mutation, from a Beta that is drawn from its prior: (n,)."""
    nothing = np.zeros(1)
    return within_limits(rng.beta(*draw_common_beta(nothing, nothing, rng.random()), mutations), fp_rate)


def model_of_reads(setting: Setting) -> ReadModel:
    """Return the parameters of the reads of a setting that has them, as `draw` takes them."""
    assert setting.depth is not None
    return ReadModel(depth=setting.depth)


def _nodes(
    setting: Setting, parents: NDArray[np.int32], rng: np.random.Generator, cells: int
) -> NDArray[np.int64]:
    """Draw the nodes of some cells."""
    nodes = setting.mutations + 1
    if setting.shares == "equal":
        return rng.integers(0, nodes, cells)
    return rng.choice(nodes, cells, p=shares_of(setting.shares, parents, rng))


def shares_of(shares: Shares, parents: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the shares of the cells at the nodes of a tree: float64, shape (n + 1,).

    Args:
        shares: equal; `one` node has `ONE_CLONE`, and the others equal shares; `zipf`, in random order in
            proportion to 1, 1/2, 1/3, …; `empty`, equal for a part `OCCUPIED` of the nodes and 0 for others;
            `growth`, of clones that grow exponentially from random times, later ones below earlier ones; or
            the concentration of a Dirichlet distribution.
        parents: int32, shape (n + 1,): the tree.
        rng: the generator.
    """
    nodes = len(parents)
    found = np.ones(nodes)
    if shares == "one":
        found[:] = (1.0 - ONE_CLONE) / (nodes - 1)
        found[rng.integers(nodes)] = ONE_CLONE
    elif shares == "zipf":
        found = rng.permutation(1.0 / np.arange(1, nodes + 1))
    elif shares == "empty":
        found[rng.permutation(nodes)[max(1, round(OCCUPIED * nodes)) :]] = 0.0
    elif shares == "growth":
        depth = ancestor_matrix(parents).sum(axis=0)
        times = np.zeros(nodes)
        for node in np.argsort(depth, kind="stable").tolist()[1:]:
            times[node] = rng.uniform(times[parents[node]], 1.0)
        found = GROWN**-times
    elif not isinstance(shares, str):
        found = rng.dirichlet(np.full(nodes, shares))
    return np.asarray(found / found.sum())


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
