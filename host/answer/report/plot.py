"""Figure of the tree with the matrix beside it, drawn by matplotlib, for papers and talks."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.answer.report.figure import COLOURS, PALETTE, beside_tree, entries_in_order, support_of
from syclade.host.answer.report.tree_svg import TreePicture, picture_of
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import write_file
from syclade.host.ground.packages import install_command

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

    from syclade.host.answer.output.result import Result

__all__ = ["plot_of", "write_plot"]

PIXELS = 72.0
"""Pixels per inch: 12 px are 12 pt."""

MAP_WIDTH = 6.0
"""Width of the matrix in inches."""

MOST_PIXELS = 2**16
"""Maximum height of a matplotlib image in pixels."""

MOST_AREA = 2.5e7
"""Maximum pixels of an image: matplotlib takes some 20 bytes for each while it writes the file."""


def plot_of(result: Result) -> matplotlib.figure.Figure:
    """Return the figure; it is not attached to a window.

    Args:
        result: the result of an inference.

    Raises:
        OptionError: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise OptionError("this needs matplotlib", hint=install_command("report"))
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    clones = result.kind.clones(result.tree)
    shares, of = support_of(result, clones)
    tree = picture_of(clones, result.mutations, shares, of)
    shown = entries_in_order(
        result.observed, result.kind.genotypes(result.tree), result.kind.cell_order(result.tree)
    )
    colours = np.array(PALETTE) / 255.0
    width, height = tree.width / PIXELS, tree.height / PIXELS
    figure = Figure(figsize=(width + MAP_WIDTH, height + 0.6))
    left, right = figure.subplots(1, 2, width_ratios=(width, MAP_WIDTH), squeeze=False)[0]
    figure.subplots_adjust(0.01, 0.45 / (height + 0.6), 0.99, 0.99, 0.01)
    _draw_tree(left, tree)
    top = tree.rows[0].y - min(tree.heights) / 2
    right.imshow(
        beside_tree(shown, clones, tree.heights),
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        aspect="auto",
        interpolation="nearest",
        extent=(0, result.n_cells, top + sum(tree.heights), top),
    )
    right.set(ylim=(tree.height, 0))
    right.set_axis_off()
    handles = [Patch(facecolor=tuple(c), edgecolor="0.6") for c in colours[: len(COLOURS)]]
    figure.legend(handles, list(COLOURS), loc="lower right", ncols=3, fontsize=8, frameon=False)
    return figure


def _draw_tree(axes: matplotlib.axes.Axes, tree: TreePicture) -> None:
    """Draw edges, discs and labels; coordinates are in px, with y downwards."""
    from matplotlib.collections import EllipseCollection, LineCollection

    lines = []
    for row in tree.rows:
        if row.elbow:
            start_x, start_y, to_y, to_x = map(
                float, row.elbow[1:].replace("V", " ").replace("H", " ").split()
            )
            lines.append([(start_x, start_y), (start_x, to_y), (to_x, to_y)])
    axes.add_collection(LineCollection(lines, colors="0.55", linewidths=1.2, zorder=1))
    sizes = [2 * row.radius for row in tree.rows]
    axes.add_collection(
        EllipseCollection(
            sizes,
            sizes,
            np.zeros(len(sizes)),
            units="xy",
            offsets=[(row.x, row.y) for row in tree.rows],
            offset_transform=axes.transData,
            facecolors="#0072b2",
            edgecolors="white",
            linewidths=0.5,
            zorder=2,
        )
    )
    for row in tree.rows:
        if row.text:  # names must not be parsed as formulas
            axes.text(row.text_x, row.y, row.text, va="center", fontsize=9, parse_math=False, zorder=3)
    axes.set(xlim=(0, tree.width), ylim=(tree.height, 0))
    axes.set_axis_off()


def write_plot(
    figure: matplotlib.figure.Figure, path: Path, force: bool, inputs: Mapping[str, object]
) -> None:
    """Write the figure; the write is atomic.

    Args:
        figure: the figure from `plot_of`.
        path: the file; its extension gives the format.
        force: whether to replace an existing file.
        inputs: files that must not be overwritten; see `refuse_same`.

    Raises:
        OptionError: matplotlib does not know the extension.
        OutputError: the file exists and `force` is not given, is one of the inputs, or cannot be written.
    """
    form = path.suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise OptionError(f"figures cannot be written as {path.name}", hint=f"as {', '.join(sorted(known))}")
    width, height = figure.get_size_inches()
    dpi = min(200.0, MOST_PIXELS / height, math.sqrt(MOST_AREA / (width * height)))

    def save(passing: Path) -> None:
        figure.savefig(passing, format=form, dpi=dpi)

    write_file(path, save, force, inputs)
