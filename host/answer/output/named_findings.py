"""The findings of a result by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from syclade.host.data.model.rates import Rates
from syclade.host.findings.clones_by_sample import ClonesBySample, ClonesBySampleFinding
from syclade.host.findings.consensus.finding import ConsensusFinding
from syclade.host.findings.cooptimal.finding import CoOptimalFinding
from syclade.host.findings.finding import Finding
from syclade.host.findings.genotypes import Genotypes, GenotypesFinding
from syclade.host.findings.rates import RatesFinding
from syclade.host.findings.recurrences import RecurrencesFinding
from syclade.host.findings.samples.finding import SamplesFinding
from syclade.host.findings.support.finding import SupportFinding
from syclade.host.findings.truth import TruthFinding
from syclade.host.findings.unplaced import Unplaced, UnplacedFinding

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.cooptimal.plateau import CoOptimal
    from syclade.host.findings.recurrences import Recurrences
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.support.value import Support

__all__ = ["NamedFindings"]

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
