"""The histogram of differences in bit flips (figure 4.2 of the ffSCITE thesis)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from syclade.quality.figures import new_figure, write_figure
from syclade.quality.tost.report import mean_interval
from syclade.quality.tost.runs import Comparison
from syclade.quality.tost.test import Equivalence

__all__ = ["plot_tost"]

WIDTHS = ((2.0, 0.05), (8.0, 0.25), (math.inf, 1.0))
"""Up to which difference a bar is how wide, in bit flips; zero and whole flips are in the middle of one.

The smaller kind of flip, one that a false negative explains, is a tenth of a bit flip at the usual rates.
"""


def plot_tost(result: Equivalence, comparisons: Sequence[Comparison], path: Path) -> None:
    """Draw how many inputs have each difference, with the margin and the interval of the mean.

    TOST rejects both hypotheses iff the interval of confidence 1 - 2 · significance lies within the margin.

    Raises:
        OutputError: the file cannot be written.
    """
    flips = np.array([each.ours - each.scite for each in comparisons]) / result.delta
    width = next(width for most, width in WIDTHS if np.abs(flips).max() <= most)
    low, high = np.floor(min(flips.min(), -1) / width), np.ceil(max(flips.max(), 1) / width)
    edges = (np.arange(low, high + 2) - 0.5) * width
    figure = new_figure(7.0, 4.2)
    axes = figure.add_subplot()
    counts = np.histogram(flips, edges)[0]
    centres = edges[:-1] + width / 2
    bars = axes.bar(centres, counts, 0.9 * width, color="C0")
    axes.bar_label(bars, [str(count) if count else "" for count in counts.tolist()], fontsize=8)
    for side, label in ((-1, "margin: one bit flip"), (1, None)):
        axes.axvline(side, color="C3", linestyle="--", linewidth=1, label=label, zorder=0)
    axes.errorbar(
        result.mean_flips,
        0.5 * float(counts.max()),
        xerr=result.mean_flips - mean_interval(result)[0],
        color="C1",
        marker="o",
        markersize=4,
        capsize=4,
        label=f"mean, {1 - 2 * result.significance:.0%} confidence",
    )
    axes.set_xlabel("log-likelihood of syclade's tree less SCITE's [bit flips]")
    axes.set_ylabel("inputs")
    axes.set_title(
        f"{result.equal} equal, {result.better} better, {result.worse} worse: "
        f"{'equivalent' if result.equivalent else 'not shown to be equivalent'}"
    )
    figure.legend(loc="outside lower center", ncols=2)
    write_figure(figure, path)
