"""Trees and calls of one simulated input, by all arms."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.doublets import call_doublets
from syclade.host.data.model.simulate import Simulation
from syclade.host.data.trees.distances import tree_distances
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.studies.doublets.arms import Arm, Method
from syclade.quality.studies.doublets.auroc import auroc
from syclade.quality.studies.doublets.inputs import DoubletInput

__all__ = ["Calls", "Recovered", "Recovery", "recover"]


@dataclass(frozen=True)
class Recovered:
    """The tree of one arm, compared with the true one.

    Attributes:
        arm: name of the arm.
        precision, recall: of the pairs (ancestor, descendant) of mutations.
        log_likelihood: natural log, by the arm's own score.
        seconds: wall time of the inference.
    """

    arm: str
    precision: float
    recall: float
    log_likelihood: float
    seconds: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Calls:
    """How well doublets are told from single cells: areas under the ROC curve.

    Attributes:
        by_model: by the probability of being a doublet, given the best tree of the model.
        by_count: by the number of observed mutations.
        branches_by_model, branches_by_count: likewise, without the doublets of which one cell's clone is the
            other's or above it: such a doublet has the true genotype of a single cell.
        doublets, branches: number of all doublets, and of those of two branches.
    """

    by_model: float
    by_count: float
    branches_by_model: float
    branches_by_count: float
    doublets: int
    branches: int


@dataclass(frozen=True)
class Recovery:
    """One input with the trees of all arms.

    Attributes:
        given: the input.
        trees: one per arm.
        calls: calls of doublets; None for an input without doublets.
    """

    given: DoubletInput
    trees: tuple[Recovered, ...]
    calls: Calls | None


def recover(given: DoubletInput, arms: Sequence[Arm], method: Method) -> Recovery:
    """Infer the tree of an input by all arms; the calls are those of the first arm with doublets."""
    simulation = given.simulated()
    trees: list[Recovered] = []
    calls = None
    for arm in arms:
        began = time.perf_counter()
        found = arm.infer(given, simulation, method)
        seconds = time.perf_counter() - began
        shared = tree_distances(found.parents, simulation.parents).ancestors
        trees.append(Recovered(arm.name, shared.precision, shared.recall, found.log_likelihood, seconds))
        if calls is None and arm.doublets is not None and given.doublets is not None:
            called = call_doublets(simulation.matrix, given.rates, found.parents, arm.doublets)
            calls = _calls(simulation, called.probability)
    return Recovery(given, tuple(trees), calls)


def _calls(simulation: Simulation, probability: NDArray[np.float64]) -> Calls:
    """Compare probabilities, and numbers of observed mutations, with the true doublets."""
    count = (simulation.matrix.values == 1).sum(axis=0)
    doublet = simulation.partners >= 0
    branches = doublet & _apart(simulation)
    clear = branches | ~doublet
    return Calls(
        auroc(probability, doublet),
        auroc(count, doublet),
        auroc(probability[clear], branches[clear]),
        auroc(count[clear], branches[clear]),
        int(doublet.sum()),
        int(branches.sum()),
    )


def _apart(simulation: Simulation) -> NDArray[np.bool_]:
    """Return bool, shape (cells,): whether the two nodes of a cell are in different branches."""
    above = ancestor_matrix(simulation.parents)
    one, other = simulation.attachments, simulation.partners
    apart: NDArray[np.bool_] = ~(above[one, other] | above[other, one])
    return apart
