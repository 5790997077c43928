"""Figure of the posterior check: visit frequencies against the exact posterior, and their deviations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from syclade.quality.figures import new_figure
from syclade.quality.posterior.check import PosteriorCase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["posterior_figure"]

BAND = 3.0
"""Deviation marked in the lower panels, in standard errors."""


def posterior_figure(cases: Sequence[PosteriorCase]) -> Figure:
    """Draw one column of two panels per case."""
    figure = new_figure(max(4.0 * len(cases), 6.0), 6.5)
    panels = figure.subplots(2, len(cases), squeeze=False, sharex="col", height_ratios=(3, 2))
    for (above, below), case in zip(panels.T, cases, strict=True):
        exact, samples = case.target.posterior, case.visits.samples
        visits = case.samples.visits
        seen = visits > 0
        ends = np.array([exact[seen].min(), exact.max()])
        above.plot(ends, ends, color="0.6", linewidth=1, label="equal")
        above.plot(exact[seen], visits[seen] / samples, ".", markersize=4, label="a tree")
        above.set(xscale="log", yscale="log")
        above.set_title(_title(case), fontsize=9)
        error = np.sqrt(samples * exact * (1 - exact))
        # Visit counts of trees with fewer expected visits are far from normal; the test pools them.
        often = samples * exact >= 5
        below.plot(exact[often], ((visits - samples * exact) / error)[often], ".", markersize=4)
        for height in (-BAND, BAND):
            below.axhline(height, color="0.6", linewidth=1, linestyle=":")
        below.set_xlabel("exact posterior probability")
    panels[0, 0].set_ylabel("visit frequency")
    panels[1, 0].set_ylabel("deviation [standard errors]")
    panels[0, 0].legend(loc="upper left")
    return figure


def _title(case: PosteriorCase) -> str:
    visits, trees = case.visits, len(case.target.trees)
    return (
        f"{case.target.size}, {trees} trees, {visits.samples:,} samples\n"
        f"distance {visits.total_variation:.2g} (expected {visits.expected_total_variation:.2g}), "
        f"p = {visits.fit.p_value:.2g}"
    )
