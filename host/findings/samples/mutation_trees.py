"""Samples of mutation trees: their posterior, their convergence diagnostics, and their files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.data.diagnostics.trees import ancestor_spread, frechet_ess
from syclade.host.data.model.problem import Problem
from syclade.host.findings.consensus.clades import edge_support
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.consensus.unplaced import Unplaced
from syclade.host.findings.cooptimal.consensus import Consensus
from syclade.host.findings.samples.diagnostics import judged
from syclade.host.findings.samples.features import Features, leaves_of
from syclade.host.findings.samples.lines import sample_lines
from syclade.host.findings.samples.sampled import Sampled, sampled_rates
from syclade.host.findings.samples.sampling import Sampling
from syclade.host.ground.atomic import Content
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.clones import Clone

__all__ = ["SampledMutationTrees", "judge_mutation_trees"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledMutationTrees(Sampled):
    """Samples of mutation trees, with their posterior; see `Sampled`.

    Attributes:
        posterior: probabilities of edges and of ancestor relations, over all samples.
        leaves_ess, leaves_rhat: effective sample size and R-hat of the number of leaves.
        problem: the problem of the chains.
        unseparated: as in `Relations`; None for samples without shares.
        clones: consensus of the samples (`Wanderers.tree`); None if it is not known.
    """

    posterior: Consensus
    leaves_ess: float
    leaves_rhat: float
    problem: Problem
    unseparated: NDArray[np.int64] | None = None
    clones: CloneTree | None = None
    spread_name = "ancestor_spread"
    spread_of = "who is above whom"
    dimension = "mutation"

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def relations(self) -> Relations:
        """Relations of all pairs of mutations: the counts that `posterior` has as shares."""
        samples = self.posterior.trees
        above = np.rint(self.posterior.ancestors * samples).astype(np.int64)
        return Relations(samples, above, self.unseparated)

    @property
    def numbers(self) -> dict[str, float]:
        """See `Trust.numbers`."""
        return super().numbers | {"leaves_ess": self.leaves_ess, "leaves_rhat": self.leaves_rhat}

    def lines(self) -> Iterator[str]:
        """See `Sampled.lines`; in SCITE's format."""
        return sample_lines(self.store, self.problem.to_nats, self.problem.rate_tables.model)

    def files(self) -> dict[str, Content]:
        """See `Sampled.files`; the graph leaves out edges of 5 % or less."""
        return {
            "tree.samples": self.lines(),
            "posterior.tsv": self.posterior.to_table(self.names),
            "posterior.gv": self.posterior.to_graphviz(self.names, least=0.05),
        }

    def support(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> list[float | None]:
        """See `Sampled.support`: the share of the edge to the clone's first mutation."""
        edges = np.full(len(parents) - 1, np.nan)
        edges[unplaced.placed_mutations(len(edges))] = edge_support(
            unplaced.of_tree(parents), unplaced.of_blocks(self.store.trees)
        )
        first = [unplaced.first_placed(clone.mutations) for clone in clones]
        return [None if one is None else float(edges[one]) for one in first]

    def columns(self, parents: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
        """See `Sampled.columns`."""
        return {"leaves": leaves_of(parents)}


def judge_mutation_trees(
    store: SampleStore,
    sampling: Sampling,
    problem: Problem,
    names: Sequence[str],
    unplaced: Unplaced | None = None,
) -> SampledMutationTrees:
    """Return samples with their posterior and convergence diagnostics.

    Args:
        store: the samples.
        sampling: which states they are.
        problem: the problem of the chains.
        names: the n names of the mutations.
        unplaced: mutations that the spread leaves out: they go anywhere, which says nothing of the chains.
    """
    placed = (unplaced or Unplaced()).placed_mutations(problem.mutations)
    features = Features(store, problem.mutations)
    leaves, above = features.leaves().astype(np.float64), features.above_by_chain()
    return SampledMutationTrees(
        every=sampling.every,
        burn_in=sampling.burn_in,
        **judged(features.scores(), features.trees(), frechet_ess, problem.to_nats),
        spread=ancestor_spread(above[:, placed[:, None], placed] if features.samples else above),
        posterior=Consensus(features.samples, features.edges(), features.above()),
        leaves_ess=bulk_ess(leaves) if leaves.size else math.nan,
        leaves_rhat=split_rhat(leaves) if leaves.size else math.nan,
        rates=sampled_rates(store, problem.rate_tables.model),
        store=store,
        problem=problem,
        names=tuple(names),
    )
