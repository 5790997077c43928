"""The verdict on a sampler: balance of the proposals, visit frequencies, and single steps."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.quality.posterior.samples import ChainSamples
from syclade.quality.posterior.small_target import Target
from syclade.quality.posterior.stats import Agreement, verdict
from syclade.quality.posterior.transition_fit import TransitionFit, fit_transitions

__all__ = ["PosteriorCase", "judge"]


@dataclass(frozen=True)
class PosteriorCase:
    """One target, what the chain did on it, and whether that agrees.

    Attributes:
        target: the small problem, enumerated.
        samples: what the chains did.
        balanced: detailed balance of the proposal kernel holds exactly.
        visits: whether the reads are samples of the posterior.
        steps: whether single steps have the exact probabilities.
    """

    target: Target
    samples: ChainSamples
    balanced: bool
    visits: Agreement
    steps: TransitionFit

    @property
    def holds(self) -> bool:
        """All three checks hold."""
        return self.balanced and self.visits.holds and self.steps.holds


def judge(target: Target, samples: ChainSamples) -> PosteriorCase:
    """Test what the chains did against the target.

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
