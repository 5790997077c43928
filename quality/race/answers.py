"""Results of the contestants and their evaluation; all trees are scored in the same way."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.simulate import Simulation
from syclade.host.data.trees.distances import tree_distances
from syclade.host.ground.errors import SycladeError
from syclade.quality.race.inputs import RaceInput

__all__ = ["Answer", "Contestant", "Found", "judge", "processor_seconds"]


@dataclass(frozen=True)
class Found:
    """Result of a contestant.

    Attributes:
        parents: parent vector of its tree, int32, shape (n + 1,).
        curve: (processor seconds, best log-likelihood by then), if the contestant reports them.
        details: everything else that it reports, as plain values.
    """

    parents: NDArray[np.int32]
    curve: tuple[tuple[float, float], ...] = ()
    details: dict[str, object] | None = None


Contestant = Callable[[RaceInput, Simulation], Found]


@dataclass(frozen=True)
class Answer:
    """Evaluation of a contestant's result.

    Attributes:
        name: name of the contestant.
        log_likelihood: natural log, float64, every cell at its best node; None without a result.
        seconds: processor time of all threads and child processes.
        ancestors, lineages: precision and recall of the pairs (`trees.distances`).
        curve, details: as in `Found`.
        problem: reason why there is no result, or None.
    """

    name: str
    log_likelihood: float | None
    seconds: float
    ancestors: tuple[float, float] | None = None
    lineages: tuple[float, float] | None = None
    curve: tuple[tuple[float, float], ...] = ()
    details: dict[str, object] | None = None
    problem: str | None = None


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def judge(name: str, contestant: Contestant, given: RaceInput, simulation: Simulation) -> Answer:
    """Run a contestant and evaluate its result; a failure is reported as an answer too."""
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
        found.details,
    )
