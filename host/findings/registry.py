"""The findings of an answer, in the order in which they are shown: a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.findings.clones_by_sample import CLONES_BY_SAMPLE
from syclade.host.findings.consensus.finding import CONSENSUS, LIKELY_CELLS
from syclade.host.findings.cooptimal.finding import CO_OPTIMAL
from syclade.host.findings.doublets import DOUBLETS
from syclade.host.findings.evidence import EVIDENCE
from syclade.host.findings.genotypes import GENOTYPES
from syclade.host.findings.rates import RATES
from syclade.host.findings.recurrences import RECURRENCES
from syclade.host.findings.samples.finding import SAMPLES
from syclade.host.findings.support.finding import SUPPORT
from syclade.host.findings.truth import TRUTH
from syclade.host.findings.unplaced import INPUT, LEFT_OUT, UNPLACED

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft, Finding, FindingKind, Question

__all__ = ["FINDINGS", "findings_of", "promised"]

FINDINGS: tuple[FindingKind, ...] = (
    INPUT,
    UNPLACED,
    LEFT_OUT,
    RATES,
    EVIDENCE,
    DOUBLETS,
    RECURRENCES,
    SAMPLES,
    CONSENSUS,
    LIKELY_CELLS,
    CLONES_BY_SAMPLE,
    GENOTYPES,
    SUPPORT,
    CO_OPTIMAL,
    TRUTH,
)


def findings_of(draft: Draft) -> tuple[Finding, ...]:
    """Return the findings of an answer whose stages have ended."""
    return tuple(one for kind in FINDINGS if (one := kind.make(draft)) is not None)


def promised(question: Question) -> list[str]:
    """Return the names of the files that the findings of a run may write."""
    return [name for kind in FINDINGS for name in kind.promises(question)]
