"""What a contestant gives, and what that is worth: all trees are scored alike."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.likelihood import log_likelihood
from syclade.host.model.simulate import Simulation
from syclade.host.trees.distances import tree_distances
from syclade.quality.race.inputs import RaceInput

__all__ = ["Answer", "Contestant", "Found", "judge", "processor_seconds"]


@dataclass(frozen=True)
class Found:
    """What a contestant has found.

    Attributes:
        parents: int32, shape (n + 1,).
        curve: (processor seconds, best log-likelihood by then), where it tells of them.
        told: what else it says, as plain values.
    """

    parents: NDArray[np.int32]
    curve: tuple[tuple[float, float], ...] = ()
    told: dict[str, object] | None = None


Contestant = Callable[[RaceInput, Simulation], Found]


@dataclass(frozen=True)
class Answer:
    """What an answer is worth.

    Attributes:
        name: the contestant's.
        log_likelihood: natural log, float64, every cell at its best node.
        seconds: processor time, of all threads and of child processes.
        ancestors, lineages: precision and recall of the pairs (`trees.distances`).
        curve, told: as it was found.
        problem: why there is no answer.
    """

    name: str
    log_likelihood: float | None
    seconds: float
    ancestors: tuple[float, float] | None = None
    lineages: tuple[float, float] | None = None
    curve: tuple[tuple[float, float], ...] = ()
    told: dict[str, object] | None = None
    problem: str | None = None


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def judge(name: str, contestant: Contestant, given: RaceInput, simulation: Simulation) -> Answer:
    """Let a contestant run, and say what its answer is worth; a failure is an answer too."""
    from syclade.host.errors import SycladeError

    began = processor_seconds()
    try:
        found = contestant(given, simulation)
    except SycladeError as error:
        return Answer(name, None, processor_seconds() - began, problem=str(error))
    seconds = processor_seconds() - began
    apart = tree_distances(found.parents, simulation.parents)
    return Answer(
        name,
        log_likelihood(simulation.matrix, given.rates, found.parents),
        seconds,
        (apart.ancestors.precision, apart.ancestors.recall),
        (apart.lineages.precision, apart.lineages.recall),
        found.curve,
        found.told,
    )
