"""Figure of the study of doublets: precision of ancestor pairs by arm, and calls of doublets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from syclade.quality.figures import new_figure
from syclade.quality.studies.doublets.recovery import Recovery
from syclade.quality.studies.doublets.summary import calls_of, trees_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["recovery_figure"]


def recovery_figure(doublets: Sequence[Recovery], singles: Sequence[Recovery]) -> Figure:
    """Draw boxes of precision for inputs with and without doublets, and of the areas under the curves."""
    figure = new_figure(9.0, 4.2)
    left, middle, right = figure.subplots(1, 3)
    _boxes(left, doublets, "with doublets")
    _boxes(middle, singles, "without doublets")
    calls = calls_of(doublets)
    right.boxplot(
        [
            [one.by_model for one in calls],
            [one.by_count for one in calls],
            [one.branches_by_model for one in calls],
            [one.branches_by_count for one in calls],
        ],
        tick_labels=["model", "count", "branches,\nmodel", "branches,\ncount"],
        showmeans=True,
    )
    right.axhline(0.5, color="0.7", linewidth=1, zorder=0)
    right.set_title("calls of doublets")
    right.set_ylabel("area under the ROC curve")
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=7)
    return figure


def _boxes(axes: Axes, recoveries: Sequence[Recovery], title: str) -> None:
    arms = [tree.arm for tree in recoveries[0].trees]
    axes.boxplot(
        [[tree.precision for tree in trees_by(recoveries, arm)] for arm in arms],
        tick_labels=[arm.replace(" ", "\n") for arm in arms],
        showmeans=True,
    )
    axes.set_ylim(top=1.02)
    axes.set_title(f"{len(recoveries)} inputs {title}")
    axes.set_ylabel("precision of ancestor pairs")
