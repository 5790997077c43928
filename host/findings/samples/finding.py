"""Samples of the user's chains as a finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.host.findings.finding import Finding, FindingKind, Question, Section, Table

if TYPE_CHECKING:
    from syclade.host.findings.draft import Draft
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.ground.atomic import Content

__all__ = ["SAMPLES", "SamplesFinding"]


@dataclass(frozen=True, eq=False, repr=False)
class SamplesFinding(Finding):
    """Samples of the trees of chains, with their diagnostics."""

    name = "samples"
    samples: Sampled

    def files(self) -> dict[str, Content]:
        """Return the files of these kind of trees."""
        return self.samples.files()

    def summary(self) -> dict[str, Any]:
        """Return numbers and diagnostics of the samples."""
        return {"samples": self.samples.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Number and worth of the samples."""
        found = self.samples
        return [
            f"{found.log_likelihoods.size} samples of {len(found.log_likelihoods)} chains, worth "
            f"{found.ess:.0f} (log-likelihood) and {found.tree_ess:.0f} (trees); R-hat {found.rhat:.4f}"
        ]

    @property
    def warnings(self) -> list[str]:
        """Reasons why the samples may not be enough."""
        return self.samples.warnings

    def section(self) -> Section:
        """Return the diagnostics, and the log-likelihood along the chains."""
        told = self.samples.to_dict()
        rows = [(name, _short(value)) for name, value in told.items() if name not in ("warnings", "rates")]
        rows += [
            (f"{rate}: {name}", _short(value))
            for rate, numbers in told.get("rates", {}).items()
            for name, value in numbers.items()
        ]
        return Section("Posterior samples", (), Table(("", ""), rows), tuple(told["warnings"]), self.samples)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _make(draft: Draft) -> SamplesFinding | None:
    return None if draft.samples is None else SamplesFinding(draft.samples)


def _names(question: Question) -> Iterable[str]:
    return () if question.options.samples is None else question.kind.sample_names


SAMPLES = FindingKind(SamplesFinding.name, _make, _names)
