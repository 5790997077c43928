"""Sampling in a run: which states are samples, and the recorder that emits them."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.host.chains.recorders import Recorder, every
from syclade.host.ground.errors import OptionError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import Options, checked, flag_of
from syclade.host.ground.supported import check_together

__all__ = ["Sampling", "make_sampling"]

EVENTS = 4096
"""Length of a slot's ring of events."""


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


def make_sampling(samples: int, burn_in: float, steps: int | None, chains: int) -> Sampling:
    """Return the sampling for the options that a user gave.

    Args:
        samples: steps between two samples.
        burn_in: fraction of a chain's steps that is burn-in, from 0 to below 1.
        steps: steps of each chain.
        chains: number of chains.

    Raises:
        OptionError: `steps` is None, `samples` is not a whole number >= 1, `steps` leaves no sample, or the
            scores of all samples, which the diagnostics need, do not fit in memory.
    """
    check_together(Options(samples=samples, steps=steps))
    assert steps is not None
    samples = checked("samples", samples)
    first = int(burn_in * steps)
    if steps - first < samples:
        raise OptionError(
            f"{steps} steps have no sample: {first} are burn-in, and a sample comes every {samples} steps",
            hint="run more steps, or sample more often, or with a shorter burn-in",
        )
    count = chains * ((steps - first) // samples)
    require_memory(8 * count, f"{count} samples", f"sample less often: a larger {flag_of('samples')}")
    return Sampling(samples, first)
