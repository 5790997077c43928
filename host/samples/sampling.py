"""What samples need of a run: the recorder, the sinks, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.chains.events import Sink
from syclade.host.chains.recorders import Recorder, every
from syclade.host.errors import OptionError
from syclade.host.values import whole

if TYPE_CHECKING:
    from syclade.host.model.problem import Problem
    from syclade.host.samples.features import Features
    from syclade.host.samples.lines import Samples
    from syclade.host.samples.sampled import Sampled

__all__ = ["Sampling", "make_sampling"]

EVENTS = 4096
"""Length of a slot's ring."""

_OF_SAMPLES = 1
"""The bit of the only recorder."""


@dataclass(frozen=True)
class Sampling:
    """Which states are samples.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of a chain before its first.
    """

    every: int
    burn_in: int

    @property
    def events(self) -> int:
        """Length of a slot's ring."""
        return EVENTS

    @property
    def recorder(self) -> Recorder:
        """That hands them out."""
        return every(self.every, self.burn_in + self.every)

    def sinks(self, problem: Problem) -> tuple[Samples, Features]:
        """That take them."""
        from syclade.host.samples.features import Features
        from syclade.host.samples.lines import Samples

        learned = None if problem.learned is None else problem.learned.learned
        lines = Samples(_OF_SAMPLES, problem.to_nats, learned)
        return lines, Features(_OF_SAMPLES, problem.mutations, learned is not None)

    def judge(self, sinks: tuple[Sink, ...], problem: Problem) -> Sampled:
        """What the sinks have, once the chains are done."""
        from syclade.host.samples.features import Features
        from syclade.host.samples.lines import Samples
        from syclade.host.samples.sampled import judge

        lines, features = sinks
        assert isinstance(lines, Samples)
        assert isinstance(features, Features)
        learned = None if problem.learned is None else problem.learned.learned
        return judge(features, lines, self.every, self.burn_in, problem.to_nats, learned)


def make_sampling(samples: int, burn_in: float, steps: int | None) -> Sampling:
    """For what a user asked.

    Args:
        samples: steps between two samples.
        burn_in: the part of a chain's steps before its first sample, from 0 to below 1.
        steps: of each chain.

    Raises:
        OptionError: it makes no sense.
    """
    if steps is None:
        raise OptionError("--samples without --steps", hint="say how long the chains shall be: --steps N")
    samples = whole("--samples", samples, 1, 2**62 - 1)
    first = int(burn_in * steps)
    if steps - first < samples:
        raise OptionError(
            f"{steps} steps have no sample: {first} are burn-in, and a sample comes every {samples} steps",
            hint="give more --steps, fewer steps to --samples, or less --burn-in",
        )
    return Sampling(samples, first)
