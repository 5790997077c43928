"""Simulation of SCITE's model: a random mutation tree, cells attached to it, and noisy observations.

The design is that of the ffSCITE thesis's quality test: a uniform random rooted tree (Prüfer code), with
cells attached to uniform random nodes, the root included. Doublets are at two such nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import OptionError
from syclade.host.common.values import real, whole
from syclade.host.input.matrix import Matrix
from syclade.host.model.rates import Rates
from syclade.host.model.zygosity import HOMOZYGOUS
from syclade.host.options import checked
from syclade.host.trees.tree import ancestor_matrix
from syclade.host.trees.uniform import parents_from_pruefer

__all__ = ["Simulation", "simulate"]

MOST: Final = 2**31 - 2
"""Maximum number of cells and of mutations: nodes are numbered in int32, the root after the mutations."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated matrix and its ground truth.

    Attributes:
        matrix: the observed values, shape (n, m); the mutations are named M1 to M<n>.
        parents: the true tree, parent vector, int32, shape (n + 1,).
        attachments: the true node of each cell, int32, shape (m,).
        truth: uint8, shape (n, m), 1 where the cell has the mutation.
        partners: int32, shape (m,): the true second node of each doublet, -1 for single cells.
    """

    matrix: Matrix
    parents: NDArray[np.int32]
    attachments: NDArray[np.int32]
    truth: NDArray[np.uint8]
    partners: NDArray[np.int32]


def simulate(
    cells: int,
    mutations: int,
    fp_rate: float,
    fn_rate: float,
    missing: float,
    seed: int,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    doublets: float | None = None,
) -> Simulation:
    """Simulate a matrix. Equal arguments give equal results with the same version of numpy (PCG64).

    Without rates for zygosity, no value is 2. With the same seed, both cases use the same draws.

    Args:
        cells: number of columns, m >= 1.
        mutations: number of rows, n >= 1.
        fp_rate: probability of observing a mutation that is absent, inside (0, 1).
        fn_rate: probability of not observing a mutation, inside (0, 1).
        missing: probability that a value is missing (3), 0 to 1.
        seed: 0 to 2^64 - 1.
        fn_rate_hom: probability of observing a mutation as homozygous, or None.
        hom_rate: probability of observing an absent mutation as homozygous; goes with fn_rate_hom.
        doublets: probability that a cell is two cells together, inside (0, 1); None for none.

    Raises:
        OptionError: an argument is out of range.
        RatesError: an error rate is out of range.
    """
    cells = whole("cells", cells, 1, MOST)
    mutations = whole("mutations", mutations, 1, MOST)
    seed = checked("seed", seed)
    missing = real("missing", missing)
    if not 0 <= missing <= 1:
        raise OptionError(f"missing is {missing}", hint="give a probability, 0 to 1")
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate)
    rng = np.random.Generator(np.random.PCG64(seed))
    parents = random_parents(mutations, rng)
    attachments = rng.integers(0, mutations + 1, cells, dtype=np.int32)
    partners = np.full(cells, -1, dtype=np.int32)
    above = ancestor_matrix(parents)[:mutations]
    truth = above[:, attachments]
    if doublets is not None:
        doublets = checked("doublets", doublets)
        both = np.flatnonzero(rng.random(cells) < doublets)
        partners[both] = rng.integers(0, mutations + 1, both.size, dtype=np.int32)
        truth[:, both] |= above[:, partners[both]]
    observed = observe(truth, rates, rng.random(truth.shape))
    observed[rng.random(truth.shape) < missing] = 3
    names = tuple(f"M{number}" for number in range(1, mutations + 1))
    matrix = Matrix(np.ascontiguousarray(observed), names, f"simulation, seed {seed}")
    return Simulation(matrix, parents, attachments, np.ascontiguousarray(truth, dtype=np.uint8), partners)


def observe(truth: NDArray[np.bool_], rates: Rates, draws: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return observations of the truth, drawn from the model's table with one draw per entry (docs/model.md).

    Args:
        truth: bool, shape (n, m), whether the cell has the mutation.
        rates: error rates.
        draws: float64, shape (n, m), uniform in [0, 1).

    Returns:
        uint8, shape (n, m), entries 0, 1 or 2.
    """
    error_rate = np.where(truth, rates.fn_rate, rates.fp_rate)
    observed = (truth ^ (draws < error_rate)).astype(np.uint8)
    hom_rate = np.where(truth, rates.fn_rate_hom or 0.0, rates.hom_rate or 0.0)
    observed[(draws >= error_rate) & (draws < error_rate + hom_rate)] = HOMOZYGOUS
    return observed


def random_parents(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw a tree uniformly from the (n + 1)^(n - 1) trees of n mutations: int32, shape (n + 1,)."""
    return parents_from_pruefer(rng.integers(0, n + 1, n - 1).tolist(), n)
