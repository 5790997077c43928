"""Properties of a result: findings by name, arrays by name, forms of other programs, a warning of doubt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.runs.context import TREE
from syclade.host.chains.search.policy import expected_gain
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import to_networkx
from syclade.host.findings.clones_by_sample import ClonesBySample, ClonesBySampleFinding
from syclade.host.findings.consensus.finding import ConsensusFinding
from syclade.host.findings.cooptimal.finding import CoOptimal, CoOptimalFinding
from syclade.host.findings.finding import Finding
from syclade.host.findings.genotypes import Genotypes, GenotypesFinding
from syclade.host.findings.inputs import TruthFinding
from syclade.host.findings.kinds import Tree, TreeKind
from syclade.host.findings.rates import RatesFinding
from syclade.host.findings.recurrences import RecurrencesFinding
from syclade.host.findings.samples.finding import SamplesFinding
from syclade.host.findings.support.finding import SupportFinding
from syclade.host.findings.unplaced import Unplaced, UnplacedFinding
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    import networkx

    from syclade.host.answer.output.result import Result
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.recurrences import Recurrences
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.support.value import Support

__all__ = ["AssignedTree", "NamedFindings", "doubt_of"]

F = TypeVar("F", bound=Finding)


class NamedFindings:
    """Findings of a result as properties, each None or empty where the result lacks it.

    Attributes:
        findings: what was found about the tree, in the order in which it is shown.
    """

    findings: tuple[Finding, ...]

    @property
    def support(self) -> Support | None:
        """Probabilities of edges, clades and attachments; None if no trees were sampled for them."""
        found = self._finding(SupportFinding)
        return None if found is None else found.support

    @property
    def consensus(self) -> CloneConsensus | None:
        """Clone tree with the lowest expected loss over the samples, with its cells; None without samples."""
        found = self._finding(ConsensusFinding)
        return None if found is None else found.consensus

    @property
    def clones_by_sample(self) -> ClonesBySample | None:
        """Share of each clone in each specimen; None without specimens (`metadata`)."""
        found = self._finding(ClonesBySampleFinding)
        return None if found is None else found.found

    @property
    def genotypes(self) -> Genotypes | None:
        """The mutations of each cell by the published tree, if requested."""
        found = self._finding(GenotypesFinding)
        return None if found is None else found.genotypes

    @property
    def samples(self) -> Sampled | None:
        """Samples of the chains, if requested."""
        found = self._finding(SamplesFinding)
        return None if found is None else found.samples

    @property
    def co_optimal(self) -> CoOptimal | None:
        """Equally likely trees, if requested; the first is this one."""
        found = self._finding(CoOptimalFinding)
        return None if found is None else found.found

    @property
    def recurrences(self) -> Recurrences | None:
        """A test of each mutation for a recurrence; None if they were not tested."""
        found = self._finding(RecurrencesFinding)
        return None if found is None else found.tests

    @property
    def true_tree(self) -> Mapping[str, Any] | None:
        """Comparison with the true tree, if it was given (`trees.truth.compare`)."""
        found = self._finding(TruthFinding)
        return None if found is None else found.comparison

    @property
    def unplaced(self) -> Unplaced:
        """Mutations and cells that are in the tree, but neither in the consensus nor in the support."""
        found = self._finding(UnplacedFinding)
        return Unplaced() if found is None else found.unplaced

    @property
    def estimated_rates(self) -> tuple[str, ...]:
        """Names of the error rates that were not given, but estimated from the matrix."""
        found = self._finding(RatesFinding)
        return () if found is None else found.estimated

    @property
    def fitted_rates(self) -> Rates | None:
        """The error rates under which the best tree is most likely (`rate_fit`).

        None for cell trees, doublets, a recurrence, zygosity and learned rates.
        """
        found = self._finding(RatesFinding)
        return None if found is None else found.fitted

    @property
    def advised_rates(self) -> Rates | None:
        """Rates that fit the tree and the priors of estimates, if the matrix contradicts those of the run."""
        found = self._finding(RatesFinding)
        return None if found is None else found.advised

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Names of the rates that `advised_rates` contradict: five times off, and not by chance."""
        found = self._finding(RatesFinding)
        return () if found is None else found.contradicted

    @property
    def misfits(self) -> list[str]:
        """Messages: rates that the matrix contradicts, rates at the upper limit, and what to do."""
        found = self._finding(RatesFinding)
        return [] if found is None else found.warnings

    def _finding(self, kind: type[F]) -> F | None:
        """Return the finding of a type; None if the result has none."""
        return next((one for one in self.findings if isinstance(one, kind)), None)


class AssignedTree(NamedFindings):
    """A tree with assigned cells or mutations; the attributes are those of `Result`."""

    kind: TreeKind
    parents: NDArray[np.int32]
    assignment: Assignment
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.cells)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the mutations of the matrix as it was given: all but the copy of a recurrent one."""
        return self.mutations if self.assignment.recurrence is None else self.mutations[:-1]

    @property
    def tree(self) -> Tree:
        """The tree with its names, its assignment and its support."""
        return Tree(self.parents, self.mutations, self.cells, self.assignment, self.support)

    @property
    def labels(self) -> list[str]:
        """Labels of the nodes in files."""
        return self.kind.labels(self.mutations, self.cells)

    @property
    def attachment(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the best node of every cell of a mutation tree; the root is n."""
        return self._assigned("cell").node

    @property
    def attachment_ties(self) -> NDArray[np.int32]:
        """int32, shape (cells,): number of equally good nodes of every cell, the best one included."""
        return self._assigned("cell").ties

    @property
    def cell_log_likelihoods(self) -> NDArray[np.float64]:
        """float64, shape (cells,): log-likelihood of every cell at its node, natural log."""
        return self._assigned("cell").log_likelihood

    @property
    def attachment_posteriors(self) -> NDArray[np.float64] | None:
        """float64, (cells,): probability of every cell's node, given the tree; None unless score is sum."""
        return self._assigned("cell").posterior

    @property
    def placement(self) -> NDArray[np.int32]:
        """int32, shape (n,): the node below the best edge of every mutation of a cell tree."""
        return self._assigned("mutation").node

    @property
    def placement_ties(self) -> NDArray[np.int32]:
        """int32, shape (n,): number of equally good edges of every mutation, the best one included."""
        return self._assigned("mutation").ties

    @property
    def mutation_log_likelihoods(self) -> NDArray[np.float64]:
        """float64, shape (n,): log-likelihood of every mutation on its edge, natural log."""
        return self._assigned("mutation").log_likelihood

    def _assigned(self, item: str) -> Assignment:
        """Return the assignment; raise an AttributeError if the tree does not assign these items."""
        if item != self.kind.item:
            raise AttributeError(
                f"{self.kind.title} assign each {self.kind.item} to one {self.kind.place}: see `assignment`"
            )
        return self.assignment

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return the tree as a directed graph from the root; its nodes are `labels`.

        With support, edges have the attribute `support` (`Support.edges`), except those of unplaced ones.
        """
        return to_networkx(self.parents, self.labels, None if self.support is None else self.support.edges)

    def to_newick(self, *, attach: bool | None = None) -> str:
        """Return the tree in Newick format, every node labelled.

        Args:
            attach: whether to attach the cells of a mutation tree to their nodes, as leaves; None uses the
                option of `infer`. In a cell tree the cells are the leaves.

        Raises:
            MatrixError: a cell and a node have the same name.
        """
        return self.kind.newick(self.tree, self._attaches(attach))

    def to_graphviz(self, *, attach: bool | None = None) -> str:
        """Return the tree in GraphViz's dot language, a cell tree with mutations on its edges.

        With support, the edges of a mutation tree have their probabilities as labels.

        Arguments and errors are those of `to_newick`.
        """
        return self.kind.graphviz(self.tree, self._attaches(attach))

    def _attaches(self, attach: bool | None) -> bool:
        return bool(self.options.get("attach", False) if attach is None else attach)

    def to_attachments(self) -> str:
        """Return the attachments of the cells to a mutation tree: tab-separated, one line per cell."""
        self._assigned("cell")
        return self.kind.table(self.tree)

    def to_placements(self) -> str:
        """Return the placements of the mutations on a cell tree: tab-separated, one line per mutation."""
        self._assigned("mutation")
        return self.kind.table(self.tree)

    @property
    def trees(self) -> NDArray[np.int32]:
        """int32, shape (trees, nodes): the co-optimal trees if requested, or else only this one."""
        found = self.parents[None] if self.co_optimal is None else self.co_optimal.trees
        trees = found.copy()
        trees.flags.writeable = False
        return trees


def doubt_of(result: Result) -> str | None:
    """Return why the best tree may not have been found, and what to do; None if nothing speaks for that.

    A run that was stopped in its search says so. Diagnostics of samples are of their distribution, not of the
    best tree among them.
    """
    if result.converged or result.stopped_in == TREE:
        return None
    if result.searches:
        found, same = [one.log_likelihood for one in result.searches], result.model.same
        others = sorted({one.start for one in result.searches if one.log_likelihood < max(found) - same})
        words = (
            "the searches do not agree on the best tree (those that began "
            f"{', '.join(others)} ended below it): another {flag_of('seed')} may find a better one"
        )
        return f"{words}, by {expected_gain(found):.2f} nats on the mean" if same else words
    if result.chains == 1:
        return f"one chain cannot show that its tree is the best: compare several ({flag_of('chains')})"
    if result.options["method"] == "anneal":
        return (
            "the chains do not agree on the best tree within the steps that this size is given: "
            f"another {flag_of('seed')}, or more {flag_of('chains')}, may find a better one"
        )
    return (
        f"the chains do not agree on the best tree: more {flag_of('chains')}, or more {flag_of('steps')} "
        "where they were given, may find a better one"
    )
