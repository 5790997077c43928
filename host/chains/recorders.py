"""Recorders: which states a chain emits while it runs. Names and implementations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["EQUAL_BEST", "NEW_BEST", "Recorder", "every"]


@dataclass(frozen=True)
class Recorder:
    """Selection of the states to emit.

    Attributes:
        name: name shown to users.
        device: `module:NAME` of a `kernels.chain.parts.Recorder`.
        numpy: `module:NAME` of a `fallback.chain.parts.Recorder`.
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    device: str
    numpy: str
    defaults: Mapping[str, int] = field(default_factory=dict)


def _own(name: str, module: str, **defaults: int) -> Recorder:
    place = f"recorders.{module}:RECORDER"
    return Recorder(name, f"syclade.kernels.{place}", f"syclade.fallback.{place}", defaults)


def every(steps: int, first: int = 0) -> Recorder:
    """Return a recorder that emits the state after `first` steps, and then every `steps` steps.

    If `first` is 0, the first state is that after `steps` steps.
    """
    return _own(f"every {steps} steps", "every", every=steps, first_sample=first or steps)


NEW_BEST = _own("new best", "new_best")
EQUAL_BEST = _own("equal to the best", "equal_best")
