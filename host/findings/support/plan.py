"""Chains that sample trees for support: their steps, score, moves, rates, guides and first trees.

Silent mutations are those that the matrix shows in no cell. Chains that moved them, too, would spend most
steps on them where they are many. So the chains leave them out, and support and consensus are of trees
without them. In the samples they are children of the root that no cell has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.mode_jumps import FittedTree
from syclade.host.chains.moves import GUIDED_MOVES, MOVES, guide_from
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.chains.state import Event, Sink
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import (
    grouped,
    problem_of_groups,
)
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rates import ObservationModel, error_rates
from syclade.host.data.trees.tree import depths_of_trees
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.findings.support.budget import CHAINS, FEW_MUTATIONS, Budget, budget_for
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.options.types import SHARED_DROPOUT
from syclade.host.ground.values import short_repr

__all__ = [
    "GUIDED_PROBABILITIES",
    "MOST_GUIDED",
    "PROBABILITIES_OF_MANY",
    "Silent",
    "SupportPlan",
    "WholeTrees",
    "learned_guide",
    "make_support_plan",
    "plan_of_chains",
    "proposal_weights",
    "silent_in",
]


FEW_SILENT = 100
"""Most silent mutations that chains sample like all others. Without them, claims on mutations of few cells
are a little too sure: a silent one can be above such a mutation, which trees without it do not allow for
(docs/trust.md). With more, they would take most of the steps."""

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Silent:
    """Silent mutations, and the others.

    Attributes:
        mutations: the silent ones.
        others: int64: rows of the others, at least one.
        count: n, the number of all.
    """

    mutations: Unplaced
    others: NDArray[np.int64]
    count: int

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return len(self.others) < self.count

    def of_matrix(self, matrix: Matrix) -> Matrix:
        """Return the matrix of the other mutations."""
        return self.mutations.of_matrix(matrix)

    def of_trees(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return trees, int32, (trees, n + 1), without the silent mutations."""
        return self.mutations.of_trees(trees)

    def whole_trees(self, trees: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return trees of the other mutations with the silent ones below the root: int32, (trees, n + 1)."""
        nodes = np.append(self.others, self.count).astype(np.int32)
        return self.whole(nodes[trees], self.count)

    def whole(self, values: NDArray[Number], of_silent: object) -> NDArray[Number]:
        """Return values of all mutations, and of the root if these have it.

        Args:
            values: shape (..., others) or (..., others + 1): of the other mutations, and of the root.
            of_silent: value of silent mutations; may be an array of shape (..., 1).
        """
        root = values.shape[-1] - len(self.others)
        found = np.empty((*values.shape[:-1], self.count + root), dtype=values.dtype)
        found[...] = of_silent
        found[..., self.others] = values[..., : len(self.others)]
        found[..., self.count :] = values[..., len(self.others) :]
        return found


def silent_in(unplaced: Unplaced, count: int) -> Silent:
    """Return the silent mutations that chains leave out: none if there are few, or if all are.

    Args:
        unplaced: mutations of which the matrix says nothing.
        count: number of all mutations.
    """
    leaves_out = FEW_SILENT < len(unplaced.mutations) < count
    some = Unplaced(unplaced.mutations) if leaves_out else Unplaced()
    return Silent(some, some.placed_mutations(count), count)


class WholeTrees:
    """A sink that gives samples of trees without silent mutations to another one, as trees with these.

    Args:
        silent: the silent mutations.
        sink: the other sink.
    """

    def __init__(self, silent: Silent, sink: Sink) -> None:
        self._silent, self._sink = silent, sink

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        if self._silent and events:
            trees = self._silent.whole_trees(np.stack([event.parents for event in events]))
            events = [event._replace(parents=tree) for event, tree in zip(events, trees, strict=True)]
        self._sink.take(events)


EVENTS = 256
"""Length of a slot's ring of events."""


_SOON = 10**8
"""Most samples times pairs of mutations whose support is made in a second or two."""


class SupportPlan(NamedTuple):
    """Chains that sample trees for support.

    Attributes:
        level: quick or full.
        budget: their steps.
        plan: their plan, of the mutations that are not silent.
        problem: the problem of all mutations, in the unit of the chains' scores.
        silent: mutations that the chains leave out.
        rates: the error rates, or the levels of evidence.
        guided: whether the chains have guided moves.
        dropout: auto, shared or per-mutation: whether mutations may have rates of their own.
        groups: int64: group of each mutation of the chains. Those of one group have one rate of false
            negatives, which the chains sample, too; None for the rate of `rates`.
        dominant: whether a node's share may have a concentration of its own.
        fitted: trees to start from, and between which chains jump, with shares and rates that fit them;
            without any, chains start from the trees of searches.
    """

    level: str
    budget: Budget
    plan: Plan
    problem: Problem
    silent: Silent
    rates: ObservationModel
    guided: bool
    dropout: str = SHARED_DROPOUT
    groups: NDArray[np.int64] | None = None
    dominant: bool = True
    fitted: tuple[FittedTree, ...] = ()

    @property
    def shares(self) -> bool:
        """Return whether nodes have shares of the cells, which the chains sample, too."""
        return self.plan.score.shares

    @property
    def has_own_rates(self) -> bool:
        """Return whether the chains sample a rate for each single mutation."""
        return self.groups is not None and len(np.unique(self.groups)) == self.plan.problem.mutations

    @property
    def ends_slowly(self) -> bool:
        """Return whether support of the samples takes seconds, so that a stop request should shorten it."""
        return CHAINS * self.budget.samples * self.problem.nodes**2 > _SOON

    def under(self, found: dict[str, float], matrix: Matrix) -> SupportPlan:
        """Return the same for other rates, by their names.

        Rates that were estimated from one tree are too low where errors are many: the tree is fitted to them.
        """
        given = error_rates(self.rates)
        rates = replace(
            given,
            fp_rate=found.get("fp_rate", given.fp_rate),
            fn_rate=found.get("fn_rate", given.fn_rate),
        )
        return make_support_plan(
            self.level, matrix, rates, None, self.dropout, unplaced=self.silent.mutations
        )

    def with_dropout(self, matrix: Matrix, rates: NDArray[np.float64]) -> SupportPlan:
        """Return the same with a rate of false negatives for each mutation.

        Args:
            matrix: the matrix.
            rates: float64, shape (n,): first estimates, for groups of mutations where they are many.

        Raises:
            MatrixError: the matrix is too large for the score.
        """
        groups = grouped(rates[self.silent.others])
        problem = problem_of_groups(self.silent.of_matrix(matrix), error_rates(self.rates), groups)
        plan = plan_of_chains(problem, ScoreOptions("shares", None), self.budget, guided=self.guided)
        whole = replace(self.problem, scale_bits=problem.scale_bits)
        return self._replace(plan=plan, problem=whole, groups=groups)


def make_support_plan(
    level: str,
    matrix: Matrix,
    rates: ObservationModel,
    doublets: float | None,
    dropout: str = SHARED_DROPOUT,
    *,
    unplaced: Unplaced | None = None,
) -> SupportPlan:
    """Return the chains for a matrix.

    Args:
        level: quick or full.
        matrix, rates: the matrix, and its error rates.
        doublets: rate of doublets; None for a model without.
        dropout: as in `SupportPlan`; rates of mutations need a model without doublets and zygosity.
        unplaced: mutations of which the matrix says nothing: the chains leave them out.

    Raises:
        MatrixError: the matrix is too large for the score.
    """
    score = ScoreOptions("shares", doublets)
    silent = silent_in(unplaced or Unplaced(), matrix.n_mutations)
    whole = make_problem(matrix, rates, octaves=score.octaves)
    problem = make_problem(silent.of_matrix(matrix), rates, octaves=score.octaves) if silent else whole
    whole = replace(whole, scale_bits=problem.scale_bits, rate_tables=problem.rate_tables)
    budget = budget_for(level, problem.mutations, problem.columns, doublets=doublets is not None)
    guided = doublets is None and problem.mutations <= MOST_GUIDED
    plan = plan_of_chains(problem, score, budget, guided=guided)
    return SupportPlan(level, budget, plan, whole, silent, rates, guided, dropout)


def plan_of_chains(problem: Problem, score: ScoreOptions, budget: Budget, *, guided: bool) -> Plan:
    """Return the plan of chains that sample trees in rounds.

    Args:
        problem: the problem.
        score: score of the samples.
        budget: steps of the rounds.
        guided: whether the chains have guided moves.
    """
    few = problem.mutations <= FEW_MUTATIONS
    of_guided = GUIDED_PROBABILITIES if few else PROBABILITIES_OF_MANY
    return make_plan(
        problem,
        moves=GUIDED_MOVES if guided else MOVES,
        move_probabilities=of_guided if guided else MUTATION.move_probabilities,
        score=score_named(score.name, problem, score.doublets),
        recorders=(budget.sampling_of_first.recorder,),
        events=EVENTS,
        space=space_of(score),
    )


GUIDED_PROBABILITIES = (0.08, 0.04, 0.03, 0.5, 0.35)
"""Probabilities of `GUIDED_MOVES`: most effective samples per second in measurements (docs/samples.md)."""

PROBABILITIES_OF_MANY = (0.03, 0.01, 0.01, 0.57, 0.38)
"""The same for more than `FEW_MUTATIONS`: the more places there are, the fewer proposals without the guide
are accepted (docs/performance.md)."""

MOST_GUIDED = 1024
"""Most mutations of chains with a guide: its table grows with their square, and learning it takes samples."""


def learned_guide(plan: Plan, silent: Silent, store: SampleStore) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that the later half of each chain's samples gives.

    Args:
        plan: the plan of the chains, with `GUIDED_MOVES`.
        silent: mutations that it leaves out.
        store: samples of a round, at least two of some chain.
    """
    chains = [silent.of_trees(trees[len(trees) // 2 :]) for trees in store.trees_by_chain()]
    edges = _edges(np.concatenate(chains))
    return guide_from(edges, proposal_weights(chains), plan.problem.unit, plan.gamma)


def _edges(trees: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many trees have each parent (column) of each mutation: int64, shape (n, n + 1)."""
    mutations = trees.shape[1] - 1
    pairs = np.arange(mutations) * (mutations + 1) + trees[:, :mutations]
    return np.bincount(pairs.ravel(), minlength=mutations * (mutations + 1)).reshape(mutations, -1)


_BATCHES = 16
"""Batches of each chain."""

_TREES = 512
"""Most trees of each chain, evenly spaced."""

_UNIT = 4
"""Weight of a mutation whose depth differs independently from tree to tree."""


def proposal_weights(chains: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Return how often to propose each mutation: in proportion to the root of its time, at least `_UNIT`.

    Args:
        chains: sampled trees of each chain, int32, shape (trees, n + 1).

    Returns:
        int64, shape (n,): all `_UNIT` if a chain has fewer than 16 trees.
    """
    length = min(len(trees) for trees in chains)
    step = max(1, length // _TREES)
    batch = length // step // _BATCHES
    if batch == 0:
        return np.full(chains[0].shape[1] - 1, _UNIT)
    found = np.stack([depths_of_trees(trees[: step * batch * _BATCHES : step]) for trees in chains])
    sums = found.reshape(-1, batch, found.shape[2]).sum(axis=1)
    total = sums.sum(axis=0)
    of_mean = total * total / found[..., 0].size
    between = (sums * sums).sum(axis=0) / batch - of_mean
    among = (found * found).sum(axis=(0, 1)) - of_mean
    time = np.divide(batch * between, among, out=np.ones_like(among), where=among > 0)
    weights = np.rint(_UNIT * np.sqrt(np.maximum(time, 1)))
    return np.asarray(weights, dtype=np.int64)
