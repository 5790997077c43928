"""Figures as PNG files, drawn without a window system; matplotlib (extra ``quality``) is imported lazily."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.output.files import write_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure", "write_figure"]

DOTS_PER_INCH = 150


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches, that belongs to no window system and no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file, all of it or nothing; whether it may replace one is the caller's to check.

    Raises:
        OutputError: it cannot be written.
    """
    picture = io.BytesIO()
    # Without the version of matplotlib in it, equal figures are equal files.
    figure.savefig(picture, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    write_files(path.parent, {path.name: picture.getvalue()}, force=True)
