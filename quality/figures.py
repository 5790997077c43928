"""Figures as PNG files, drawn without a window system; matplotlib (extra ``quality``) is imported lazily."""

from __future__ import annotations

import io
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.errors import OutputError

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
    passing = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with passing.open("xb") as file:
            file.write(picture.getvalue())
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"cannot write {path}: {reason}", hint="choose another directory with --out"
        ) from problem
    finally:
        passing.unlink(missing_ok=True)
