"""Outcome of the study of specimens: a value with a report and a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.simulate import ZIPF
from syclade.quality.studies.intervals import IntervalStudy
from syclade.quality.text_table import text_table

__all__ = ["ALLOWED", "BINS", "Bin", "OfInput", "SpecimensResult"]

ALLOWED: Final = (0.85, 0.95)
"""Least and largest part of the 90 % intervals that may contain the truth."""

BINS: Final = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
"""Ends of the bins of the probability that a share grew."""

MOST_DEVIATIONS: Final = 3.0
"""Standard deviations by which the number of shares that grew may differ from that stated."""


_SAME: Final = 1e-9
"""Difference of two shares that are equal."""


class Bin(NamedTuple):
    """Clones with a similar probability that their share grew.

    Attributes:
        low, high: ends of the probabilities.
        clones: number of clones.
        mean: mean probability.
        grew: number of clones that grew.
        deviations: difference of that from the sum of the probabilities, in standard deviations.
    """

    low: float
    high: float
    clones: int
    mean: float
    grew: int
    deviations: float

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of a row of a table."""
        part = f"{self.grew / self.clones:.3f}"
        ends = f"{self.low:g} to {self.high:g}"
        return (ends, str(self.clones), f"{self.mean:.3f}", part, f"{self.deviations:+.1f}")


@dataclass(frozen=True, eq=False)
class OfInput:
    """Shares of one input.

    Attributes:
        setting: its kind and seed.
        true: float64, shape (specimens, clones): true shares.
        low, high: float64, of the same shape: ends of the intervals.
        control: float64, shape (2, specimens, clones): ends of the control's intervals.
        grew: float64, shape (clones,): probability that the share is larger in the second specimen.
        enough: whether the samples are enough for support.
    """

    setting: Mapping[str, Any]
    true: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    control: NDArray[np.float64]
    grew: NDArray[np.float64]
    enough: bool

    @property
    def inside(self) -> NDArray[np.bool_]:
        """bool, shape (specimens, clones): whether the interval contains the truth."""
        return np.asarray((self.low <= self.true) & (self.true <= self.high))

    @property
    def control_inside(self) -> NDArray[np.bool_]:
        """bool, of the same shape: the same for the control."""
        return np.asarray((self.control[0] <= self.true) & (self.true <= self.control[1]))

    @property
    def drawn(self) -> bool:
        """Return whether the shares were drawn, so that no two are equal."""
        return bool(self.setting["shares"] != ZIPF)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        numbers = {
            "true": self.true, "low": self.low, "high": self.high, "control": self.control, "grew": self.grew,
        }  # fmt: skip
        return {
            **self.setting,
            **{name: one.round(6).tolist() for name, one in numbers.items()},
            "enough": self.enough,
        }


@dataclass(frozen=True, eq=False, repr=False)
class SpecimensResult(IntervalStudy[OfInput]):
    """Outcome of `specimen_study`."""

    def coverage(self, *, control: bool = False, zipf: bool = False) -> float:
        """Return the part of the intervals that contain the truth; with `zipf`, of shares by Zipf's law."""
        chosen = [one for one in self.inputs if not (zipf and one.drawn)]
        inside = [(one.control_inside if control else one.inside).ravel() for one in chosen]
        return float(np.concatenate(inside).mean()) if inside else float("nan")

    def growth(self, *, drawn: bool) -> list[Bin]:
        """Return the bins of the probability that a share grew.

        Args:
            drawn: whether of inputs with drawn shares; else of Zipf's law, by which shares are equal, or
                nearly, far more often than by chance. Equal ones are left out.
        """
        chosen = [one for one in self.inputs if one.drawn is drawn]
        said = np.concatenate([one.grew for one in chosen] or [np.empty(0)])
        change = np.concatenate([one.true[1] - one.true[0] for one in chosen] or [np.empty(0)])
        differs, rows = np.abs(change) > _SAME, []
        for low, high in pairwise(BINS):
            here = differs & (said >= low) & ((said < high) | (high == BINS[-1]))
            if here.any():
                grew, expected = int((change[here] > 0).sum()), float(said[here].sum())
                spread = np.sqrt((said[here] * (1.0 - said[here])).sum())
                off = float((grew - expected) / max(spread, 0.5))  # half a clone at least
                rows.append(Bin(low, high, int(here.sum()), float(said[here].mean()), grew, off))
        return rows

    @property
    def holds(self) -> bool:
        """Return whether intervals and probabilities are as allowed, and the control's intervals are not."""
        low, high = ALLOWED
        within = [low <= self.coverage(zipf=zipf) <= high for zipf in (False, True)]
        fit = all(abs(one.deviations) <= MOST_DEVIATIONS for one in self.growth(drawn=True))
        return all(within) and fit and self.coverage(control=True) < low

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in specimens.json."""
        return {
            "check": "specimens",
            "holds": self.holds,
            "coverage": self.coverage(),
            "coverage_zipf": self.coverage(zipf=True),
            "control": self.coverage(control=True),
            "growth": [one._asdict() for one in self.growth(drawn=True)],
            "growth_zipf": [one._asdict() for one in self.growth(drawn=False)],
            **self.described(),
        }

    def markdown(self) -> str:
        """Return the parts of the intervals that contain the truth, and the changes, as tables."""
        kinds = list(dict.fromkeys(_kind(one) for one in self.inputs))
        groups = {kind: [one for one in self.inputs if _kind(one) == kind] for kind in kinds}
        rows = [_row(name, some) for name, some in {**groups, "all": list(self.inputs)}.items()]
        heads = ("inputs", "number", "clones", "intervals with the truth", "specimens in random order")
        tables = [text_table(heads, rows)]
        for title, drawn in (("shares drawn", True), ("shares by Zipf's law", False)):
            head = (f"{title}: probability of growth", "clones", "mean", "grew", "standard deviations")
            tables.append(text_table(head, [one.texts for one in self.growth(drawn=drawn)]))
        low, high = ALLOWED
        verdict = (
            f"{self.coverage():.1%} of the 90 % intervals contain the truth, {self.coverage(zipf=True):.1%} "
            f"by Zipf's law (allowed: {low:.0%} to {high:.0%}); with specimens in random order "
            f"{self.coverage(control=True):.1%}: {'as expected' if self.holds else 'NOT AS EXPECTED'}"
        )
        return "\n\n".join((*tables, verdict))


def _kind(one: OfInput) -> str:
    """Return the kind of an input as text."""
    return "{mutations} mutations, {per_branch} on a branch, {missing:.0%} missing, shares {shares}".format(
        **one.setting
    )


def _row(name: str, inputs: list[OfInput]) -> tuple[str, ...]:
    """Return the parts of the intervals of some inputs that contain the truth."""
    parts = [
        np.concatenate([some.ravel() for some in found]).mean()
        for found in ([one.inside for one in inputs], [one.control_inside for one in inputs])
    ]
    clones = sum(one.true.shape[1] for one in inputs)
    return (name, str(len(inputs)), str(clones), *(f"{part:.1%}" for part in parts))
