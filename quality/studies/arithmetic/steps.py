"""Steps of chains with doublets: processor time of a step, and of a visited node and cell."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from syclade.host.data.model.simulate import simulate
from syclade.host.device.device import Device
from syclade.quality.bench.measure import FN_RATE, FP_RATE, MISSING, measure
from syclade.quality.studies.arithmetic.visits import Visits, visits_of

__all__ = ["RATE", "StepCost", "slope_of", "step_costs"]

RATE = 0.1
"""Rate of doublets of the inputs and of the chains."""

PROPOSALS = 2000


@dataclass(frozen=True)
class StepCost:
    """Cost of the steps of one size, on one core.

    Attributes:
        mutations, cells: size of the simulated input.
        ns: processor time of a step in ns, median of the repeats.
        wall_steps: steps per second of wall time over all slots, median of the repeats.
        acceptance: accepted fraction of the steps.
        visits: nodes that a proposal visits on the tree of the simulation.
    """

    mutations: int
    cells: int
    ns: float
    wall_steps: float
    acceptance: float
    visits: Visits

    @property
    def ns_per_visit(self) -> float:
        """Processor time of a visited child and cell, in ns; everything else of a step is included."""
        return self.ns / (self.visits.children * self.cells)

    @property
    def ns_per_node(self) -> float:
        """Processor time of a node of the tree and cell, in ns, as if a step visited all nodes."""
        return self.ns / ((self.mutations + 1) * self.cells)

    @property
    def ns_per_pair(self) -> float:
        """Processor time of a pair of nodes and cell, in ns, as if a step visited all pairs."""
        return self.ns / ((self.mutations + 1) ** 2 * self.cells)


def step_costs(
    device: Device,
    sizes: Sequence[tuple[int, int]],
    *,
    seconds: float,
    repeats: int,
    seed: int = 1,
    show: Callable[[str], None] = lambda _text: None,
) -> list[StepCost]:
    """Measure chains of several sizes in turns, one slot each.

    Args:
        device: a usable device.
        sizes: (mutations, cells) of each input.
        seconds: length of a measurement.
        repeats: number of measurements of each size.
        seed: seed of the inputs and chains.
        show: called with each activity.
    """
    found: dict[tuple[int, int], list[tuple[float, float, float]]] = {size: [] for size in sizes}
    for turn in range(repeats):
        for mutations, cells in sizes:
            show(f"{mutations} x {cells}, turn {turn + 1} of {repeats}")
            one = measure(
                device,
                cells=cells,
                mutations=mutations,
                slots=1,
                seconds=seconds,
                repeats=1,
                seed=seed,
                doublets=RATE,
            )
            found[mutations, cells].append((one.cpu_ns_per_step, one.steps_per_second, one.acceptance))
    return [_cost(size, values, seed) for size, values in found.items()]


def _cost(size: tuple[int, int], values: Sequence[tuple[float, float, float]], seed: int) -> StepCost:
    mutations, cells = size
    tree = simulate(cells, mutations, FP_RATE, FN_RATE, MISSING, seed, doublets=RATE).parents
    ns, steps, accepted = (statistics.median(column) for column in zip(*values, strict=True))
    return StepCost(mutations, cells, ns, steps, accepted, visits_of(tree, PROPOSALS, seed))


def slope_of(costs: Sequence[StepCost]) -> float:
    """Return the exponent of the time of a step in the number of nodes, by least squares of logarithms."""
    nodes = np.log([cost.mutations + 1 for cost in costs])
    return float(np.polyfit(nodes, np.log([cost.ns for cost in costs]), 1)[0])
