"""Verdict on a sampler: balance of the proposals, visit frequencies, and single steps."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.quality.posterior.samples import ChainSamples
from syclade.quality.posterior.small_target import Target
from syclade.quality.posterior.stats import Agreement, verdict
from syclade.quality.posterior.transition_fit import TransitionFit, fit_transitions

__all__ = ["PosteriorCase", "judge"]


@dataclass(frozen=True)
class PosteriorCase:
    """One target, the chains' samples of it, and the results of the checks.

    Attributes:
        target: the small problem, enumerated.
        samples: counts of visits and steps of the chains.
        balanced: whether detailed balance of the proposal kernel holds exactly.
        visits: test that the reads are samples of the posterior.
        steps: test that single steps have the exact probabilities.
    """

    target: Target
    samples: ChainSamples
    balanced: bool
    visits: Agreement
    steps: TransitionFit

    @property
    def holds(self) -> bool:
        """Return whether all three checks hold."""
        return self.balanced and self.visits.holds and self.steps.holds


def judge(target: Target, samples: ChainSamples) -> PosteriorCase:
    """Test the chains' samples against the target.

    Raises:
        ValueError: too few samples for a test.
    """
    return PosteriorCase(
        target=target,
        samples=samples,
        balanced=target.imbalance == 0,
        visits=verdict(samples.visits, target.posterior),
        steps=fit_transitions(samples.moves, target.transitions),
    )
