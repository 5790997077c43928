"""Outcome of a study of intervals: of all inputs, with the part of the intervals that contain the truth."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["IntervalStudy", "OfInput"]


class OfInput(Protocol):
    """Intervals of one input."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        ...


Input = TypeVar("Input", bound=OfInput)


@dataclass(frozen=True, eq=False, repr=False)
class IntervalStudy(Generic[Input]):
    """Outcome of a study of intervals.

    Attributes:
        inputs: the inputs with their intervals.
        device: where the chains ran.
        seed: seed of the first input.
        seconds: processor seconds of this process.
    """

    inputs: tuple[Input, ...]
    device: str
    seed: int
    seconds: float

    @abstractmethod
    def coverage(self, *, control: bool = False) -> float:
        """Return the part of the intervals that contain the truth; with `control`, of the control's."""

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        return f"<{type(self).__name__}: {len(self.inputs)} inputs, {self.coverage():.1%} of the intervals>"

    def described(self) -> dict[str, Any]:
        """Return settings, time and inputs as plain values."""
        return {
            "settings": {"inputs": len(self.inputs), "device": self.device, "seed": self.seed},
            "seconds": self.seconds,
            "results": [one.to_dict() for one in self.inputs],
        }
