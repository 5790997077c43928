"""Figures as PNG files, drawn without a window system; matplotlib (extra ``quality``) is imported lazily."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import write_file
from syclade.host.ground.values import path_of
from syclade.quality.extras import require_extras

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Drawn", "new_figure", "write_figure"]

DOTS_PER_INCH = 150


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure (sizes in inches) that uses no window system and no global state.

    Raises:
        OptionError: matplotlib is not installed.
    """
    require_extras("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Figure, path: Path, force: bool = True) -> None:
    """Write a figure to a PNG file, atomically.

    Args:
        figure: the figure.
        path: path of the file.
        force: replace an existing file.

    Raises:
        OutputError: the file exists and `force` is not set, or it cannot be written.
    """
    picture = io.BytesIO()
    # Leave out the version of matplotlib, so that equal figures give equal files.
    figure.savefig(picture, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    write_file(path, picture.getvalue(), force)


class Drawn(ABC):
    """Result of a check that has a figure."""

    @abstractmethod
    def figure(self) -> Figure:
        """Draw the figure."""

    def plot(self, path: str | os.PathLike[str] | None = None, *, force: bool = False) -> Figure:
        """Draw the figure, and write it if a path is given.

        Args:
            path: a PNG file.
            force: replace an existing file.

        Raises:
            OptionError: matplotlib is not installed (the extra `quality`).
            OutputError: the file exists and `force` is not set, or it cannot be written.
        """
        figure = self.figure()
        if path is not None:
            write_figure(figure, path_of("the figure", path, OutputError), force)
        return figure
