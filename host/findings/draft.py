"""Draft of an answer: the most likely tree, and what is found about it, until the result is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.unplaced import Unplaced
from syclade.host.findings.kinds.kind import Tree, TreeKind
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.chains.runs.outcome import Found
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.assignment import Assignment
    from syclade.host.data.model.rates import Rates
    from syclade.host.device.work import WorkDone
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.cooptimal.plateau import CoOptimal
    from syclade.host.findings.recurrences import Recurrences
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.support.value import Support

__all__ = ["BestTree", "Draft"]


@dataclass(frozen=True, eq=False)
class BestTree:
    """The most likely tree that a run found, and what it was inferred from.

    Attributes:
        kind: kind of the tree.
        parents: int32, shape (nodes,): parent of every node.
        log_likelihood: natural log, float64, recomputed from counts of events.
        assignment: the best place of each cell, or of each mutation of a cell tree.
        mutations, cells: names, in the order of the matrix.
        rates: the error rates.
        observed: the matrix.
        score: name of the score of the log-likelihood.
        learned: value and prior of each learned rate, and `log_prior`; None if no rate was learned.
    """

    kind: TreeKind
    parents: NDArray[np.int32]
    log_likelihood: float
    assignment: Assignment
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    rates: Rates
    observed: Matrix
    score: str
    learned: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def labels(self) -> list[str]:
        """Labels of the nodes."""
        return self.kind.labels(self.mutations, self.cells)

    @property
    def tree(self) -> Tree:
        """The tree with its names and its assignment."""
        return Tree(self.parents, self.mutations, self.cells, self.assignment)


@dataclass(eq=False)
class Draft:
    """An answer while it is made: its stages add what they find.

    Attributes:
        best: the most likely tree.
        found: the output of the chains or searches.
        estimated: names of the error rates that were estimated from the matrix.
        true_tree: int32, shape (n + 1,): parent vector of the true tree; None if it was not given.
        unplaced: mutations and cells of which the matrix, or the samples, say nothing.
        work: work of each executor, in order.
        seconds: wall time of chains and searches.
        stopped_in: first stage that a stop request has cut short or left out; None for none.
        samples, consensus, support, co_optimal, recurrences: what the stages found; None for nothing.
    """

    best: BestTree
    found: Found
    estimated: tuple[str, ...]
    true_tree: NDArray[np.int32] | None
    unplaced: Unplaced
    work: tuple[WorkDone, ...]
    seconds: float
    stopped_in: str | None = None
    samples: Sampled | None = None
    consensus: CloneConsensus | None = None
    support: Support | None = None
    co_optimal: CoOptimal | None = None
    recurrences: Recurrences | None = None

    def stop(self, stage: str) -> None:
        """Note that a stop request came in a stage; an earlier one remains."""
        self.stopped_in = self.stopped_in or stage

    @property
    def settled(self) -> bool:
        """Return whether the tree is one that searches found, or that chains agree on."""
        return bool(self.found.searches) or bool(self.found.outcome.converged)
