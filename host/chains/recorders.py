"""The recorders: which states leave a chain while it runs. Their names, and where their forms are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["EQUAL_BEST", "NEW_BEST", "Recorder", "every"]


@dataclass(frozen=True)
class Recorder:
    """Which states to hand out.

    Attributes:
        name: for users.
        device: `module:NAME` of a `kernels.chain.parts.Recorder`.
        numpy: `module:NAME` of a `fallback.chain.parts.Recorder`.
        defaults: the slot's settings that it takes, with what they are unless a state says otherwise.
    """

    name: str
    device: str
    numpy: str
    defaults: Mapping[str, int] = field(default_factory=dict)


def _own(name: str, module: str, **defaults: int) -> Recorder:
    place = f"recorders.{module}:RECORDER"
    return Recorder(name, f"syclade.kernels.{place}", f"syclade.fallback.{place}", defaults)


def every(steps: int, first: int = 0) -> Recorder:
    """The states after `first` steps (after `steps`, if that is 0), and after every so many steps more."""
    return _own(f"every {steps} steps", "every", every=steps, first_sample=first or steps)


NEW_BEST = _own("new best", "new_best")
EQUAL_BEST = _own("equal to the best", "equal_best")
