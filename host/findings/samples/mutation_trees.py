"""Samples of mutation trees: scores and relations, convergence diagnostics, posterior, and files."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import Records, SampleStore
from syclade.host.data.diagnostics import bulk_ess, split_rhat
from syclade.host.data.model.problem import Problem
from syclade.host.findings.consensus.clone_tree import CloneTree, edge_support
from syclade.host.findings.consensus.relations import Consensus, Relations, SharedTrees, count_above
from syclade.host.findings.samples.diagnostics import frechet_ess, judged, spread_of
from syclade.host.findings.samples.sampled import (
    ChainFeatures,
    Sampled,
    SampleFeatures,
    Sampling,
    cut_to_shortest,
    sample_lines,
    sampled_rates,
)
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.atomic import Content
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone

__all__ = [
    "Features",
    "SampledMutationTrees",
    "judge_mutation_trees",
    "leaves_of",
]


class _OfChain(ChainFeatures):
    """Features of one chain, with those of `ChainFeatures`.

    Attributes:
        leaves: numbers of leaves of all samples' trees.
        edges: int64, shape (n + 1, n): number of samples with each edge.
        above: int64, shape (n, n): number of samples in which the row's mutation is above the column's.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.leaves = array("q")
        self.edges = np.zeros((n + 1, n), dtype=np.int64)
        self.above = np.zeros((n, n), dtype=np.int64)


def leaves_of(trees: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number of leaves of each tree: int32, shape (trees,).

    Args:
        trees: int32, shape (trees, n + 1): parent vectors.
    """
    inner = 1 + (np.diff(np.sort(trees, axis=1), axis=1) != 0).sum(axis=1)
    return np.asarray(trees.shape[1] - inner, dtype=np.int32)


class Features(SampleFeatures[_OfChain]):
    """Features of all samples. Their memory grows by 16 bytes per sample.

    Args:
        store: the samples.
        mutations: n.
    """

    def __init__(self, store: SampleStore, mutations: int) -> None:
        self._n = mutations
        super().__init__(store)

    def new_chain(self) -> _OfChain:
        """See `SampleFeatures.new_chain`."""
        return _OfChain(self._n)

    def add(self, chain: _OfChain, records: Records) -> None:
        """See `SampleFeatures.add`."""
        trees = np.ascontiguousarray(records["parents"])
        for score, tree in zip(records["score"].tolist(), trees, strict=True):
            chain.take(score, tree)
        chain.leaves.extend(leaves_of(trees).tolist())
        _count(trees, chain.edges, chain.above)

    def leaves(self) -> NDArray[np.int64]:
        """Return the numbers of leaves of the trees: int64, shape (chains, samples)."""
        return cut_to_shortest([chain.leaves for chain in self.chains])

    def edges(self) -> NDArray[np.float64]:
        """Return the posterior probability of each edge (row: parent, column: child).

        Returns:
            float64, shape (n + 1, n).
        """
        none = np.zeros((self._n + 1, self._n), dtype=np.int64)  # before the first sample
        return np.asarray(sum((chain.edges for chain in self.chains), none) / max(self.samples, 1))

    def above(self) -> NDArray[np.float64]:
        """Return the posterior probability that the row's mutation is above the column's.

        Returns:
            float64, shape (n, n).
        """
        none = np.zeros((self._n, self._n), dtype=np.int64)
        return np.asarray(sum((chain.above for chain in self.chains), none) / max(self.samples, 1))

    def above_by_chain(self) -> NDArray[np.float64]:
        """Return `above` for each chain: float64, shape (chains, n, n)."""
        return np.array([chain.above / max(len(chain.scores), 1) for chain in self.chains])


def _count(trees: NDArray[np.int32], edges: NDArray[np.int64], above: NDArray[np.int64]) -> None:
    """Count each edge and each ancestor relation in trees.

    Args:
        trees: int32, shape (trees, n + 1).
        edges: int64, shape (n + 1, n): counts to add to.
        above: int64, shape (n, n): counts to add to.
    """
    n = trees.shape[1] - 1
    mutations = np.broadcast_to(np.arange(n), (len(trees), n))
    upper = trees[:, :n].astype(np.int64)
    edges += np.bincount((upper * n + mutations).ravel(), minlength=(n + 1) * n).reshape(n + 1, n)
    count_above(trees, above)


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledMutationTrees(Sampled):
    """Samples of mutation trees, with their posterior; see `Sampled`.

    Attributes:
        posterior: probabilities of edges and of ancestor relations, over all samples.
        leaves_ess, leaves_rhat: effective sample size and R-hat of the number of leaves.
        problem: the problem of the chains.
        unseparated: as in `Relations`; None for samples without shares.
        clones: consensus of the samples (`Wanderers.tree`); None if it is not known.
        shared: some trees with shares of their nodes; None for samples without shares.
    """

    posterior: Consensus
    leaves_ess: float
    leaves_rhat: float
    problem: Problem
    unseparated: NDArray[np.int64] | None = None
    clones: CloneTree | None = None
    shared: SharedTrees | None = None
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

    Raises:
        Stopped: a stop was requested meanwhile (`signals.give_way`).
    """
    placed = (unplaced or Unplaced()).placed_mutations(problem.mutations)
    features = Features(store, problem.mutations)
    leaves, above = features.leaves().astype(np.float64), features.above_by_chain()
    return SampledMutationTrees(
        every=sampling.every,
        burn_in=sampling.burn_in,
        **judged(features.scores(), features.trees(), frechet_ess, problem.to_nats),
        spread=spread_of(above[:, placed[:, None], placed] if features.samples else above),
        posterior=Consensus(features.samples, features.edges(), features.above()),
        leaves_ess=bulk_ess(leaves) if leaves.size else math.nan,
        leaves_rhat=split_rhat(leaves) if leaves.size else math.nan,
        rates=sampled_rates(store, problem.rate_tables.model),
        store=store,
        problem=problem,
        names=tuple(names),
    )
