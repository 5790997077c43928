"""Histogram of differences in bit flips (figure 4.2 of the ffSCITE thesis)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from syclade.quality.figures import new_figure
from syclade.quality.tost.report import mean_interval
from syclade.quality.tost.runs import Comparison
from syclade.quality.tost.test import TOLERANCE, Equivalence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["tost_figure"]

WIDTHS = ((2.0, 0.05), (8.0, 0.25), (math.inf, 1.0))
"""Pairs of largest difference and width of a bar, in bit flips; zero and whole flips are centres of bars.

The smaller kind of flip, one that a false negative explains, is a tenth of a bit flip at the usual rates.
"""

COLOURS = {-1: "#c44e52", 0: "#8c8c8c", 1: "#4c72b0"}
"""Colours of inputs on which SCITE is better (-1), both are equal (0), and syclade is better (1)."""


def tost_figure(result: Equivalence, comparisons: Sequence[Comparison], whose: str) -> Figure:
    """Draw the number of inputs by difference, with the margin and the confidence interval of the mean.

    TOST rejects both hypotheses iff the interval of confidence 1 - 2 · significance is within the margin.

    Args:
        result, comparisons: what is drawn.
        whose: name of the side that is compared with SCITE.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(7.0, 4.4)
    axes = figure.add_subplot()
    tallest = _draw_bars(axes, result, comparisons, whose)
    axes.set_ylim(0, 1.25 * tallest)
    for side, label in ((-1, "margin of equivalence: 1 bit flip"), (1, None)):
        axes.axvline(side, color="0.2", linestyle="--", linewidth=1, label=label, zorder=0)
    axes.errorbar(
        result.mean_flips,
        1.16 * tallest,
        xerr=result.mean_flips - mean_interval(result)[0],
        color="black",
        marker="o",
        markersize=4,
        capsize=4,
        linestyle="none",
        label=f"mean difference, {1 - 2 * result.significance:.0%} confidence interval",
    )
    axes.set_xlabel(f"difference in log-likelihood, {whose} − SCITE [bit flips]")
    axes.set_ylabel("number of inputs")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.spines[["top", "right"]].set_visible(False)
    delta = result.delta
    to_nats = (lambda flips: np.multiply(flips, delta), lambda nats: np.divide(nats, delta))
    above = axes.secondary_xaxis("top", functions=to_nats)
    above.set_xlabel("[nats]", fontsize=8)
    above.tick_params(labelsize=8)
    verdict = "equivalent" if result.equivalent else "not shown to be equivalent"
    axes.set_title(
        f"{result.equal} equal, {result.better} better, {result.worse} worse than SCITE: {verdict}", pad=10
    )
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def _draw_bars(axes: Axes, result: Equivalence, comparisons: Sequence[Comparison], whose: str) -> int:
    """Draw the bars of worse, equal and better inputs, and return the largest count."""
    differences = np.array([each.ours - each.scite for each in comparisons])
    flips = differences / result.delta
    width = next(width for most, width in WIDTHS if np.abs(flips).max() <= most)
    low, high = np.floor(min(flips.min(), -1) / width), np.ceil(max(flips.max(), 1) / width)
    edges = (np.arange(low, high + 2) - 0.5) * width
    centres = edges[:-1] + width / 2
    sides = np.where(np.abs(differences) <= TOLERANCE, 0, np.sign(differences))
    names = {-1: "SCITE better", 0: "equal", 1: f"{whose} better"}
    below = np.zeros(len(centres), dtype=np.int64)
    for side, colour in COLOURS.items():
        counts = np.histogram(flips[sides == side], edges)[0]
        axes.bar(centres, counts, 0.9 * width, bottom=below, color=colour, label=names[side])
        below += counts
    for centre, count in zip(centres, below.tolist(), strict=True):
        if count:
            axes.annotate(
                str(count), (centre, count), (0, 2), textcoords="offset points", ha="center", fontsize=9
            )
    return int(below.max())
