"""Outcome of the study of intervals: a value with a report and a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from syclade.host.data.model.rate_posterior import RateInterval
from syclade.host.data.model.rates import Rates
from syclade.quality.studies.intervals import IntervalStudy
from syclade.quality.text_table import text_table

__all__ = ["ALLOWED", "BOTH", "OfInput", "RatesResult"]

BOTH: Final = ("fp_rate", "fn_rate")

ALLOWED: Final = (0.8, 0.97)
"""Least and largest part of the 90 % intervals that may contain the truth."""


@dataclass(frozen=True, eq=False)
class OfInput:
    """Intervals of one input.

    Attributes:
        setting: its size, shares and seed.
        true: its true rates.
        intervals, control: of both rates, with sampled and with equal shares.
        searched, under: rates of the search, and those that the trees were sampled under.
        rough: whether few of the sampled trees count.
        enough: whether the samples are enough for support.
    """

    setting: Mapping[str, Any]
    true: Rates
    intervals: Mapping[str, RateInterval]
    control: Mapping[str, RateInterval]
    searched: Rates
    under: Rates
    rough: bool
    enough: bool

    def covers(self, name: str, *, control: bool = False) -> bool:
        """Return whether the interval of a rate contains the truth."""
        one = (self.control if control else self.intervals)[name]
        true = self.true.fp_rate if name == "fp_rate" else self.true.fn_rate
        return one.low <= true <= one.high

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            **self.setting,
            "true": self.true.to_dict(),
            "intervals": {name: one._asdict() for name, one in self.intervals.items()},
            "control": {name: one._asdict() for name, one in self.control.items()},
            "searched": self.searched.to_dict(),
            "sampled_under": self.under.to_dict(),
            "rough": self.rough,
            "enough": self.enough,
        }


@dataclass(frozen=True, eq=False, repr=False)
class RatesResult(IntervalStudy[OfInput]):
    """Outcome of `interval_study`."""

    def coverage(self, *, control: bool = False) -> float:
        """Return the part of the intervals of both rates that contain the truth."""
        found = [one.covers(name, control=control) for one in self.inputs for name in BOTH]
        return sum(found) / len(found)

    @property
    def holds(self) -> bool:
        """Return whether the part that contains the truth is as allowed, and that of the control is not."""
        low, high = ALLOWED
        return low <= self.coverage() <= high and self.coverage(control=True) < low

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in rates.json."""
        return {
            "check": "rates",
            "holds": self.holds,
            "coverage": self.coverage(),
            "control": self.coverage(control=True),
            **self.described(),
        }

    def markdown(self) -> str:
        """Return the numbers of intervals that contain the truth, as a table."""
        shares = list(dict.fromkeys(one.setting["shares"] for one in self.inputs))
        groups = {
            f"shares {each}": [one for one in self.inputs if one.setting["shares"] == each] for each in shares
        }
        rows = [_row(name, group) for name, group in {**groups, "all": list(self.inputs)}.items()]
        heads = ("inputs", "number", "fp_rate", "fn_rate", "equal shares: fp_rate", "fn_rate", "rough")
        low, high = ALLOWED
        return (
            f"{text_table(heads, rows)}\n\n{self.coverage():.1%} of the 90 % intervals contain the truth "
            f"(allowed: {low:.0%} to {high:.0%}); with equal shares {self.coverage(control=True):.1%}: "
            f"{'as expected' if self.holds else 'NOT AS EXPECTED'}"
        )


def _row(name: str, inputs: list[OfInput]) -> tuple[str, ...]:
    """Return the numbers of intervals that contain the truth."""
    found = [
        str(sum(one.covers(rate, control=control) for one in inputs))
        for control in (False, True)
        for rate in BOTH
    ]
    return (name, str(len(inputs)), *found, str(sum(one.rough for one in inputs)))
