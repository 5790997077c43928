"""Outcome of the comparison of optima: a value with a report, a text and a figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn, new_figure
from syclade.quality.studies.doublets.optima import TIMES, Compared, counts
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["OptimaResult"]

_HEADS = (
    "input",
    "size",
    "default",
    "random starts",
    "starts by search",
    "difference",
    "default is",
    "agreed",
    "steps",
    "s",
    "s of others",
)
_COLOURS = {"equal": "#8c8c8c", "better": "#4c72b0", "worse": "#c44e52"}


@dataclass(frozen=True, eq=False, repr=False)
class OptimaResult(Drawn):
    """Outcome of `optima`.

    Attributes:
        compared: every input.
        rate: rate of doublets of the model.
        device: device of all inferences.
        seed: seed of the first input and of the inferences.
    """

    compared: tuple[Compared, ...]
    rate: float
    device: str
    seed: int

    @property
    def holds(self) -> bool:
        """Return whether no input has a better tree than that of the default."""
        return counts(self.compared)["worse"] == 0

    def __repr__(self) -> str:
        """Return one line with the counts."""
        return f"<OptimaResult: {len(self.compared)} inputs, {counts(self.compared)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in doublets-search.json; log-likelihoods in nats."""
        return {
            "check": "doublets-search",
            "holds": self.holds,
            "settings": {"rate": self.rate, "device": self.device, "seed": self.seed, "times": TIMES},
            "counts": counts(self.compared),
            "inputs": [
                {**asdict(one), "difference": one.difference, "verdict": one.verdict} for one in self.compared
            ],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        rows = [
            (
                one.name,
                f"{one.mutations} x {one.cells}",
                f"{one.default:.4f}",
                f"{one.random:.4f}",
                f"{one.searched:.4f}",
                f"{one.difference:+.4f}" if one.verdict != "equal" else "0",
                one.verdict,
                "yes" if one.agreed else "no",
                str(one.steps),
                *(f"{value:.1f}" for value in one.seconds),
            )
            for one in self.compared
        ]
        listing = ", ".join(f"{count} {name}" for name, count in counts(self.compared).items())
        return [
            text_table(_HEADS, rows),
            f"the default against chains of {TIMES} times its steps, {len(rows)} inputs: {listing}",
        ]

    def figure(self) -> Figure:
        """Draw the difference of every input against its number of mutations."""
        figure = new_figure(5.5, 3.8)
        axes = figure.add_subplot()
        for verdict, count in counts(self.compared).items():
            points = [one for one in self.compared if one.verdict == verdict]
            axes.plot(
                [one.mutations for one in points],
                [one.difference for one in points],
                marker="o",
                linestyle="none",
                color=_COLOURS[verdict],
                label=f"{count} {verdict}",
            )
        axes.set_xlabel("mutations")
        axes.set_ylabel(f"default − chains of {TIMES} times its steps [nats]")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        return figure
