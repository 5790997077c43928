"""Outcome of the posterior check: a value with a report, a text and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn
from syclade.quality.posterior.plot import posterior_figure
from syclade.quality.posterior.report import posterior_lines, posterior_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syclade.quality.posterior.check import PosteriorCase

__all__ = ["PosteriorResult"]


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorResult(Drawn):
    """Outcome of `syclade.quality.posterior`.

    Attributes:
        cases: for each size of the trees, the exact target, the chains' samples, and the three tests.
        settings: options of the check, with the device, the encoding and the version of syclade.
        device_name: name of the device, as given by its driver.
    """

    cases: tuple[PosteriorCase, ...]
    settings: Mapping[str, Any]
    device_name: str

    @property
    def holds(self) -> bool:
        """Return whether all tests of all sizes hold."""
        return all(case.holds for case in self.cases)

    @property
    def seconds(self) -> float:
        """Wall time of the chains in seconds, over all sizes."""
        return sum(case.samples.seconds for case in self.cases)

    @property
    def work(self) -> dict[str, float]:
        """Share of the chain steps by the executor that did them."""
        total = sum(case.samples.steps for case in self.cases)
        shares: dict[str, float] = {}
        for case in self.cases:
            share = case.samples.steps / total
            shares[case.samples.executor] = shares.get(case.samples.executor, 0.0) + share
        return shares

    def __repr__(self) -> str:
        """Return one line with the sizes and the verdict."""
        sizes = ", ".join(case.target.size for case in self.cases)
        return f"<PosteriorResult: {sizes}: {'holds' if self.holds else 'does not hold'}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in posterior.json."""
        return posterior_report(self)

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return posterior_lines(self)

    def figure(self) -> Figure:
        """Draw visit frequencies against the exact posterior, and their deviations in standard errors.

        Returns:
            A matplotlib figure without a window, with one column of two panels per size.
        """
        return posterior_figure(self.cases)
