"""Figure of the study of calibration: reliability of pairs, parents and clades, and ranks of truths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.quality.calibration.ranks import BINS, DRAWS
from syclade.quality.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["calibration_figure"]

_FEWEST = 20
"""Bins with fewer statements are not drawn."""

_TITLES = {"pairs": "ancestor pairs", "edges": "parents", "clades": "clades"}


def calibration_figure(settings: Sequence[Any]) -> Figure:
    """Draw the true part against the share, one panel for each kind of statement, and histograms of ranks.

    Args:
        settings: `OfSetting` of each setting.
    """
    figure = new_figure(12.0, 3.6)
    *panels, last = figure.subplots(1, 4)
    for axes, (name, title) in zip(panels, _TITLES.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
        for one in settings:
            _draw_reliability(axes, one, name)
        axes.set_title(title)
        axes.set_xlabel("share of samples")
        axes.set_ylabel("part that is true")
    _draw_ranks(last, settings)
    for axes in (*panels, last):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=7)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=6)
    return figure


def _draw_reliability(axes: Axes, one: Any, name: str) -> None:
    found = one.statements[name]
    drawn = found.count >= _FEWEST
    axes.plot(
        found.claimed[drawn] / found.count[drawn],
        found.true[drawn] / found.count[drawn],
        marker="o",
        markersize=3,
        linewidth=1,
        linestyle="-" if one.setting.fits else ":",
        label=one.setting.name,
    )


def _draw_ranks(axes: Axes, settings: Sequence[Any]) -> None:
    """Draw histograms of all ranks of the settings that fit, and of those that do not."""
    for fits, label in ((True, "settings that fit"), (False, "controls")):
        ranks = [
            rank
            for one in settings
            if one.setting.fits == fits
            for each in one.ranks.values()
            for rank in each
        ]
        if ranks:
            counts = np.bincount(np.array(ranks) * BINS // (DRAWS + 1), minlength=BINS)
            axes.plot(np.arange(BINS), counts * BINS / counts.sum(), marker="o", markersize=3, label=label)
    axes.axhline(1, color="0.7", linewidth=1, zorder=0)
    axes.set_ylim(bottom=0)
    axes.set_title("ranks of the truth")
    axes.set_xlabel(f"rank among {DRAWS} samples, in {BINS} bins")
    axes.set_ylabel("relative frequency")
    axes.legend(frameon=False, fontsize=6)
