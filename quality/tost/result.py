"""Outcome of the comparison with SCITE: a value with a report, a text and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn
from syclade.quality.tost.plot import tost_figure
from syclade.quality.tost.report import tost_lines, tost_report
from syclade.quality.work import mean_work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syclade.quality.reference.scores import ScoredInput
    from syclade.quality.tost.runs import Comparison, RunSettings
    from syclade.quality.tost.test import Equivalence

__all__ = ["TostResult"]


@dataclass(frozen=True, eq=False, repr=False)
class TostResult(Drawn):
    """Outcome of `syclade.quality.tost`.

    Attributes:
        test: counts, mean difference, p-values and verdict of the two one-sided t-tests.
        comparisons: for each input, the log-likelihoods of both programs' trees in nats, our tree, the
            seconds that our run took, and the device that did the work.
        scored: the inputs, with the scores from SCITE's logs.
        settings: settings of our runs.
        device_name: name of the device, as given by its driver.
    """

    test: Equivalence
    comparisons: tuple[Comparison, ...]
    scored: tuple[ScoredInput, ...]
    settings: RunSettings
    device_name: str

    @property
    def holds(self) -> bool:
        """Return whether the programs are equivalent: both one-sided tests reject."""
        return self.test.equivalent

    @property
    def whose(self) -> str:
        """Return the name of the side that is compared with SCITE."""
        return "syclade" if self.settings.trees is None else "given trees"

    @property
    def seconds(self) -> float:
        """Wall time of our runs in seconds, over all inputs."""
        return sum(each.seconds for each in self.comparisons)

    @property
    def work(self) -> dict[str, float]:
        """Share of our work by the executor that did it; mean over the inputs."""
        return mean_work([each.work for each in self.comparisons])

    def __repr__(self) -> str:
        """Return one line with the counts and the verdict."""
        test = self.test
        verdict = "equivalent" if self.holds else "not shown to be equivalent"
        return (
            f"<TostResult: {test.inputs} inputs, {test.equal} equal, {test.better} better, "
            f"{test.worse} worse than SCITE: {verdict}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in tost.json; log-likelihoods in nats."""
        return tost_report(self)

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return tost_lines(self)

    def figure(self) -> Figure:
        """Draw the number of inputs by difference, as in figure 4.2 of the ffSCITE thesis.

        Returns:
            A matplotlib figure without a window; x is our log-likelihood minus SCITE's in bit flips, y the
            number of inputs.
        """
        return tost_figure(self.test, self.comparisons, self.whose)
