"""The outcome of the posterior check: a value with a report, a text and a figure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syclade.quality.posterior.check import PosteriorCase

__all__ = ["PosteriorResult"]


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorResult:
    """The outcome of `syclade.quality.posterior`.

    Attributes:
        cases: for each size of the trees the exact target, what the chains did, and the three tests.
        settings: of the check, with the device, the encoding and the version of syclade.
        device_name: name of the device, as its driver gives it.
    """

    cases: tuple[PosteriorCase, ...]
    settings: Mapping[str, Any]
    device_name: str

    @property
    def holds(self) -> bool:
        """Whether all tests of all sizes hold."""
        return all(case.holds for case in self.cases)

    @property
    def seconds(self) -> float:
        """Wall time of the chains, over all sizes."""
        return sum(case.samples.seconds for case in self.cases)

    @property
    def work(self) -> dict[str, float]:
        """Share of the chain steps by executor: whichever device did them."""
        total = sum(case.samples.steps for case in self.cases)
        shares: dict[str, float] = {}
        for case in self.cases:
            share = case.samples.steps / total
            shares[case.samples.executor] = shares.get(case.samples.executor, 0.0) + share
        return shares

    def __repr__(self) -> str:
        """One line with the sizes and the verdict."""
        sizes = ", ".join(case.target.size for case in self.cases)
        return f"<PosteriorResult: {sizes}: {'holds' if self.holds else 'does not hold'}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in posterior.json."""
        from syclade.quality.posterior.report import posterior_report

        return posterior_report(self)

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        from syclade.quality.posterior.report import posterior_lines

        return posterior_lines(self)

    def plot(self, path: str | os.PathLike[str] | None = None, *, force: bool = False) -> Figure:
        """Draw visit frequencies against the exact posterior, and their deviations in standard errors.

        Args:
            path: a PNG file to write the figure to as well.
            force: replace a file that is there.

        Returns:
            A figure of matplotlib that belongs to no window, with a column of two panels for each size.

        Raises:
            OptionError: matplotlib is not installed (the extra `quality`).
            OutputError: the file is there and force is not given, or it cannot be written.
        """
        from syclade.quality.figures import drawn_figure
        from syclade.quality.posterior.plot import posterior_figure

        return drawn_figure(lambda: posterior_figure(self.cases), path, force)
