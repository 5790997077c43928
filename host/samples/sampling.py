"""Sampling in a run: options, recorder and sinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syclade.host.chains.events import Sink
from syclade.host.chains.recorders import Recorder, every
from syclade.host.common.errors import OptionError
from syclade.host.options import checked
from syclade.host.supported import check_together

if TYPE_CHECKING:
    from syclade.host.model.problem import Problem
    from syclade.host.samples.features import Features
    from syclade.host.samples.lines import Samples
    from syclade.host.samples.sampled import Sampled

__all__ = ["Sampling", "make_sampling"]

EVENTS = 4096
"""Length of a slot's ring of events."""

_OF_SAMPLES = 1
"""Bit of the only recorder."""


@dataclass(frozen=True)
class Sampling:
    """Selection of the states that are samples.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of burn-in of each chain; the first sample is taken `every` steps later.
    """

    every: int
    burn_in: int

    @property
    def events(self) -> int:
        """Length of a slot's ring of events."""
        return EVENTS

    @property
    def recorder(self) -> Recorder:
        """The recorder that emits the samples."""
        return every(self.every, self.burn_in + self.every)

    def sinks(self, problem: Problem) -> tuple[Samples, Features]:
        """Return the sinks that take the samples."""
        from syclade.host.samples.features import Features
        from syclade.host.samples.lines import Samples

        lines = Samples(_OF_SAMPLES, problem.to_nats, problem.rate_tables.model)
        return lines, Features(_OF_SAMPLES, problem.mutations, problem.learns)

    def judge(self, sinks: tuple[Sink, ...], problem: Problem) -> Sampled:
        """Return the samples with their diagnostics from the sinks, once the chains are done."""
        from syclade.host.samples.features import Features
        from syclade.host.samples.lines import Samples
        from syclade.host.samples.sampled import judge

        lines, features = sinks
        assert isinstance(lines, Samples)
        assert isinstance(features, Features)
        return judge(features, lines, self.every, self.burn_in, problem.to_nats, problem.rate_tables.model)


def make_sampling(samples: int, burn_in: float, steps: int | None) -> Sampling:
    """Return the sampling for the options that a user gave.

    Args:
        samples: steps between two samples.
        burn_in: fraction of a chain's steps that is burn-in, from 0 to below 1.
        steps: steps of each chain.

    Raises:
        OptionError: `steps` is None, `samples` is not a whole number >= 1, or `steps` leaves no sample.
    """
    check_together({"samples": samples, "steps": steps})
    assert steps is not None
    samples = checked("samples", samples)
    first = int(burn_in * steps)
    if steps - first < samples:
        raise OptionError(
            f"{steps} steps have no sample: {first} are burn-in, and a sample comes every {samples} steps",
            hint="run more steps, or sample more often, or with a shorter burn-in",
        )
    return Sampling(samples, first)
