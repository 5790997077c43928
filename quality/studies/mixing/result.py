"""Outcome of the study of mixing: a value with a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from syclade.quality.studies import ChainsOnInputs
from syclade.quality.text_table import text_table

__all__ = ["Mixed", "MixingStudy"]


@dataclass(frozen=True)
class Mixed:
    """How chains mixed on one input; all numbers are of the round that is judged.

    Attributes:
        seed: seed of the input.
        guided: whether the chains had guided moves.
        steps: steps of all chains together.
        seconds: processor time of these steps.
        ess: effective sample size of the log-likelihood.
        rhat: its R-hat.
        spread: mean standard deviation over chains of the shares of ancestor pairs.
        pairs: number of ancestor pairs whose effective sample size was measured.
        worst, tenth, median: the lowest of these, the one at a tenth, and their median; 0 without pairs.
    """

    seed: int
    guided: bool
    steps: int
    seconds: float
    ess: float
    rhat: float
    spread: float
    pairs: int
    worst: float
    tenth: float
    median: float


@dataclass(frozen=True, eq=False, repr=False)
class MixingStudy:
    """Outcome of `mixing`.

    Attributes:
        found: for every input, the chains without a guide and with one.
        settings: sizes, chains and device.
    """

    found: tuple[Mixed, ...]
    settings: ChainsOnInputs

    def gain(self, of: Callable[[Mixed], float]) -> float:
        """Return how many times as large a number is with a guide: the geometric mean over the inputs."""
        plain, guided = (
            [max(of(one), 1e-9) for one in self.found if one.guided is chosen] for chosen in (False, True)
        )
        return float(np.exp(np.mean(np.log(guided) - np.log(plain))))

    @property
    def holds(self) -> bool:
        """Return whether a guide gives more effective samples a step: of the log-likelihood, and of pairs."""
        return self.gain(lambda one: one.ess / one.steps) > 1 and self.gain(lambda one: one.tenth) > 1

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        seconds = self.gain(lambda one: one.ess / one.seconds)
        return f"<MixingStudy: {seconds:.2f} times as many effective samples a second with a guide>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in mixing.json."""
        return {
            "check": "mixing",
            "holds": self.holds,
            "settings": asdict(self.settings),
            "found": [asdict(one) for one in self.found],
            "gain": {
                "ess_per_step": self.gain(lambda one: one.ess / one.steps),
                "ess_per_second": self.gain(lambda one: one.ess / one.seconds),
                "tenth_per_second": self.gain(lambda one: one.tenth / one.seconds),
            },
        }

    def markdown(self) -> str:
        """Return the table in Markdown."""
        heads = (
            "input", "guide", "steps per effective sample", "effective samples a second", "pairs: worst",
            "a tenth below", "half below", "R-hat", "spread",
        )  # fmt: skip
        return text_table(heads, [_row(one) for one in self.found])


def _row(one: Mixed) -> tuple[str, ...]:
    sizes = (one.ess, one.worst, one.tenth, one.median)
    return (
        str(one.seed),
        "yes" if one.guided else "no",
        f"{one.steps / one.ess:.0f}",
        *(f"{size / one.seconds:.0f}" for size in sizes),
        f"{one.rhat:.3f}",
        f"{one.spread:.4f}",
    )
