"""Outcome of the study of doublets: a value with a report, a text and a figure."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn
from syclade.quality.studies.doublets.arms import MAX, SUM, Arm, Method
from syclade.quality.studies.doublets.plot import recovery_figure
from syclade.quality.studies.doublets.recovery import Recovery
from syclade.quality.studies.doublets.summary import Spread, calls_of, change, comes_back, spread, summarise
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HALF", "RecoveryResult"]

HALF = 0.5
"""Part of the lost precision that has to come back."""

_CALLS = {
    "by_model": "all doublets, by their probability",
    "by_count": "all doublets, by the number of observed mutations",
    "branches_by_model": "doublets of two branches, by their probability",
    "branches_by_count": "doublets of two branches, by the number of observed mutations",
}


@dataclass(frozen=True, eq=False, repr=False)
class RecoveryResult(Drawn):
    """Outcome of `recovery`.

    Attributes:
        doublets, singles: inputs with doublets, and inputs of the same trees without.
        rate: rate of doublets of the inputs and of the model.
        rates: rates of the model on the inputs without doublets.
        method: how trees were found.
    """

    doublets: tuple[Recovery, ...]
    singles: tuple[Recovery, ...]
    rate: float
    rates: tuple[float, ...]
    method: Method

    @property
    def modelled(self) -> str:
        """Name of the arm with the rate of the inputs."""
        return Arm("max", self.rate).name

    def comes_back(self, base: Arm = SUM) -> float:
        """Return the part of the lost mean precision that the model brings back; nan if none was lost.

        Args:
            base: the score without doublets that loses it. The sum score is the model's at a rate of 0.
        """
        ignored, modelled = (self._precision(self.doublets, arm) for arm in (base.name, self.modelled))
        return comes_back(self._precision(self.singles, base.name), ignored, modelled)

    @property
    def holds(self) -> bool:
        """Return whether half of the lost precision comes back, and nothing is lost without doublets.

        Both are measured beside the sum score. Something is lost if the confidence interval of the mean
        difference in precision is below 0.
        """
        kept = change(self.singles, self.modelled, SUM.name, lambda tree: tree.precision)
        return self.comes_back() >= HALF and kept.high >= 0

    @staticmethod
    def _precision(recoveries: tuple[Recovery, ...], arm: str) -> float:
        return next(each.precision.mean for each in summarise(recoveries) if each.arm == arm)

    def __repr__(self) -> str:
        """Return one line with the main number."""
        return (
            f"<RecoveryResult: {len(self.doublets)} inputs with doublets, {len(self.singles)} without, "
            f"{self.comes_back():.0%} of the lost precision comes back>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in doublets.json."""
        return {
            "check": "doublets",
            "holds": self.holds,
            "settings": {**asdict(self.method), "rate": self.rate, "rates": list(self.rates)},
            "comes_back": {base.name: self.comes_back(base) for base in (SUM, MAX)},
            "with_doublets": [asdict(each) for each in summarise(self.doublets)],
            "without_doublets": [asdict(each) for each in summarise(self.singles)],
            "changes": self._changes(),
            "auroc": {name: asdict(value) for name, value in self.auroc().items()},
            "inputs": [asdict(each) for each in (*self.doublets, *self.singles)],
        }

    def auroc(self) -> dict[str, Spread]:
        """Return median and mean area under the ROC curve, by the names of `Calls`."""
        calls = calls_of(self.doublets)
        return {name: spread([getattr(one, name) for one in calls]) for name in _CALLS}

    def _changes(self) -> list[dict[str, Any]]:
        """Return the paired differences between the model and the scores without it."""
        arms = [(self.doublets, self.modelled)] + [(self.singles, Arm("max", one).name) for one in self.rates]
        found: list[dict[str, Any]] = []
        for (recoveries, arm), base in itertools.product(arms, (SUM, MAX)):
            one: dict[str, Any] = {
                "inputs": "with doublets" if recoveries is self.doublets else "without",
                "arm": arm,
                "base": base.name,
            }
            for name in ("precision", "recall", "f1"):
                one[name] = asdict(change(recoveries, arm, base.name, operator.attrgetter(name)))
            found.append(one)
        return found

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        rows = [
            [kind, each.arm]
            + [f"{value:.3f}" for one in (each.precision, each.recall) for value in (one.mean, one.median)]
            + [f"{each.seconds.median:.1f}"]
            for kind, recoveries in (("yes", self.doublets), ("no", self.singles))
            for each in summarise(recoveries)
        ]
        heads = ("doublets", "score", "precision, mean", "median", "recall, mean", "median", "s")
        yield from text_table(heads, rows).splitlines()
        for one in self._changes():
            values = ", ".join(
                f"{name} {one[name]['mean']:+.3f} ({one[name]['low']:+.3f} to {one[name]['high']:+.3f})"
                for name in ("precision", "recall", "f1")
            )
            yield f"inputs {one['inputs']}, {one['arm']} against {one['base']}: {values}"
        for base in (SUM, MAX):
            part = f"{self.comes_back(base):.0%}"
            yield f"{part} of the lost mean precision comes back, beside the {base.name} score"
        for name, value in self.auroc().items():
            yield f"AUROC of {_CALLS[name]}: mean {value.mean:.3f}, median {value.median:.3f}"

    def figure(self) -> Figure:
        """Draw precision by arm, and the areas under the ROC curves."""
        return recovery_figure(self.doublets, self.singles)
