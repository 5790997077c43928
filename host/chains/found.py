"""What was found, by chains or by searches, and where: what a result is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.pipeline import Outcome
from syclade.host.devices.work import WorkDone

__all__ = ["Found", "Search", "ShortChains"]


class Search(NamedTuple):
    """One search.

    Attributes:
        start: how it began (docs/search.md).
        log_likelihood: of its best tree, natural log, for rounded weights.
    """

    start: str
    log_likelihood: float


class ShortChains(NamedTuple):
    """What is told of chains that searches begin from.

    Attributes:
        best_scores: int64, shape (chains,): of each, in units of 2^-f nat.
        tallies: int64, shape (2 * kinds,): as in `Outcome`, over all of them.
        encoding: of their trees; empty if there were none.
    """

    best_scores: NDArray[np.int64]
    tallies: NDArray[np.int64]
    encoding: str


@dataclass(frozen=True, eq=False)
class Found:
    """See the module.

    Attributes:
        outcome: its best state has the best tree; the rest is the chains'.
        steps: that every chain has done.
        encoding: of the chains; empty if there were none.
        slots: chains or searches at once.
        work: what each executor did in this process, in order; an earlier run's work does not count.
        searches: in the order of their numbers; none where only chains ran.
        interrupted: whether the run was stopped before its end.
        trees: the best tree of each search, as a parent vector.
        pipeline: how full the pipeline of separate stages was (`StagedRunner.report`); None of fused ones.
    """

    outcome: Outcome
    steps: int
    encoding: str
    slots: int
    work: tuple[WorkDone, ...]
    searches: tuple[Search, ...] = ()
    interrupted: bool = False
    trees: tuple[NDArray[np.int32], ...] = ()
    pipeline: dict[str, Any] | None = None
