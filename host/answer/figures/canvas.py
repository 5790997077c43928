"""Scenes as figures of matplotlib, and files of figures: SVG is written as it is, others by matplotlib."""

from __future__ import annotations

import importlib.util
import logging
import math
import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.answer.figures.scene import (
    FONTS,
    LETTERS,
    Box,
    Disc,
    Group,
    Item,
    Line,
    Picture,
    Polygon,
    Scene,
    Text,
    svg_of,
)
from syclade.host.answer.figures.style import ROOM
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import check_file, write_file
from syclade.host.ground.packages import install_command
from syclade.host.ground.values import listed

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

__all__ = [
    "MILLIMETRES",
    "POINTS",
    "check_figure_file",
    "figure_of",
    "fitted",
    "room_of",
    "write_figure",
    "written_figure",
]

logger = logging.getLogger("syclade.figures")

POINTS, MILLIMETRES = 72.0, 25.4
"""Points and millimetres per inch."""

DPI = 300.0
"""Pixels per inch of figures made of pixels, such as PNG, unless these are large."""

MOST_PIXELS, MOST_AREA = 2**16, 2.5e7
"""Maximum height of a matplotlib image, and its maximum number of pixels: it takes some 20 bytes for each."""

FORMS = ("svg", "pdf", "png", "eps", "ps", "tif", "tiff", "jpg", "jpeg", "webp")
"""Formats of files, by their extensions."""


LEAST_LETTERS = 5.0
"""Least size of letters that a figure shrinks to, points."""


def room_of(width: float | None, font_size: float) -> float:
    """Return the width that a figure may take, px, with letters of 12 px.

    Args:
        width: its width in millimetres; None for the default.
        font_size: size of its letters, points.
    """
    return ROOM if width is None else width / MILLIMETRES * POINTS * LETTERS / font_size


def fitted(scene: Scene, width: float | None, font_size: float) -> tuple[float, float]:
    """Return the points for each px of a scene, and the size of its letters in points.

    A scene that is wider than the given width shrinks to it, while its letters can be read.

    Args:
        scene: the scene.
        width, font_size: as for `room_of`.

    Raises:
        OptionError: the letters would be smaller than `LEAST_LETTERS`, and than the font size.
    """
    scale = font_size / LETTERS
    if width is not None:
        scale = min(scale, width / MILLIMETRES * POINTS / scene.width)
        least = min(LEAST_LETTERS, font_size)
        if scale * LETTERS < least - 1e-9:
            wide = math.ceil(scene.width * least / LETTERS / POINTS * MILLIMETRES)
            raise OptionError(
                f"in a width of {width:g} mm, the letters would be of {scale * LETTERS:.2g} pt",
                hint=f"use a width of {wide} mm or more",
            )
    return scale, scale * LETTERS


def require_matplotlib() -> None:
    """Raise an OptionError if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise OptionError("this needs matplotlib", hint=install_command("report"))


@cache
def _fonts() -> frozenset[str]:
    """Return the names of the installed fonts."""
    from matplotlib import font_manager

    return frozenset(one.name for one in font_manager.fontManager.ttflist)


def _families(font: str) -> list[str]:
    """Return the installed fonts that texts are drawn with, the first that has a letter.

    Raises:
        OptionError: the given font is not installed.
    """
    if font and font not in _fonts():
        near = sorted(name for name in _fonts() if name.lower().startswith(font[:3].lower()))
        raise OptionError(
            f"the font {font!r} is not installed",
            hint=f"installed are {listed(near or sorted(_fonts()), 12)}; SVG files take any font",
        )
    return [name for name in ((font,) if font else ()) + FONTS if name in _fonts()] or ["sans-serif"]


def figure_of(scene: Scene, *, scale: float = 1.0, font: str = "") -> matplotlib.figure.Figure:
    """Return a scene as a figure, which is not attached to a window.

    Args:
        scene: the scene.
        scale: points of the figure for each px of the scene.
        font: name of the font; by default the first of `FONTS` that is installed.

    Raises:
        OptionError: matplotlib, or the font, is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(scene.width * scale / POINTS, scene.height * scale / POINTS))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
    axes.set_axis_off()
    families = _families(font)
    for order, item in enumerate(scene.items):
        _draw(axes, item, order + 1, scale, families)
    return figure


def _draw(axes: matplotlib.axes.Axes, item: Item, order: int, scale: float, families: list[str]) -> None:
    """Draw an item above those of a smaller order."""
    from matplotlib.patches import Circle, Rectangle
    from matplotlib.patches import Polygon as Patch

    thin: dict[str, Any] = {"linewidth": 0.8 * scale, "zorder": order}
    match item:
        case Group(items):
            for one in items:
                _draw(axes, one, order, scale, families)
        case Line(points, colour, width, dashed):
            style = (0.0, (4.0 * scale / width, 3.0 * scale / width)) if dashed else "solid"
            axes.plot(
                *zip(*points, strict=True),
                color=colour,
                linewidth=width * scale,
                linestyle=style,
                zorder=order,
            )
        case Polygon(points, fill, edge):
            axes.add_patch(Patch(points, facecolor=fill, edgecolor=edge, **thin))
        case Box(x, y, width, height, fill, edge):
            axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, **thin))
        case Disc(x, y, radius, fill, edge):
            axes.add_patch(Circle((x, y), radius, facecolor=fill, edgecolor=edge, **thin))
        case Text():
            below = 0.35 * item.size
            x, y = (item.x + below, item.y) if item.upright else (item.x, item.y + below)
            axes.text(
                x, y, item.text, fontsize=item.size * scale, color=item.colour, family=families,
                weight="bold" if item.bold else "normal", va="baseline", rotation_mode="anchor",
                ha={"start": "left", "middle": "center", "end": "right"}[item.anchor],
                rotation=90 if item.upright else 0, parse_math=False, zorder=order + 0.5,
            )  # fmt: skip
        case Picture(x, y, width, height, pixels, palette):
            axes.imshow(
                np.array(palette, dtype=np.uint8)[pixels],
                extent=(x, x + width, y + height, y),
                aspect="auto",
                interpolation="nearest",
                zorder=order,
            )


def check_figure_file(path: Path, force: bool) -> str:
    """Check the name of a figure's file before it is drawn; return its format.

    Raises:
        OptionError: the extension is of no format.
        OutputError: the file exists and `force` is not given, or its folder does not.
    """
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMS:
        raise OptionError(
            f"figures cannot be written as {path.name}",
            hint=f"use one of .{', .'.join(FORMS)}",
        )
    check_file(path, force)
    return form


def write_figure(
    scene: Scene,
    path: Path,
    force: bool,
    inputs: Mapping[str, object],
    *,
    scale: float = 0.75,
    font: str = "",
) -> None:
    """Write a scene; the write is atomic.

    Args:
        scene: the scene.
        path: the file; its extension gives the format.
        force: whether to replace an existing file.
        inputs: files that must not be overwritten; see `refuse_same`.
        scale: points for each px of the scene: 0.75 is that of screens.
        font: as for `figure_of`.

    Raises:
        OptionError: the extension is of no format; matplotlib, or the font, is not installed.
        OutputError: the file exists and `force` is not given, is one of the inputs, or cannot be written.
    """
    form = check_figure_file(path, force)
    if form == "svg":
        write_file(path, svg_of(scene, scale=scale / 0.75, font=font, alone=True), force, inputs)
        return
    figure = figure_of(scene, scale=scale, font=font)
    width, height = figure.get_size_inches()
    dpi = min(DPI, MOST_PIXELS / height, math.sqrt(MOST_AREA / (width * height)))
    fixed: dict[str, Any] = {"metadata": {"CreationDate": None}} if form == "pdf" else {}

    def save(passing: Path) -> None:
        import matplotlib

        with warnings.catch_warnings(record=True) as found, matplotlib.rc_context({"pdf.fonttype": 42}):
            warnings.simplefilter("always")
            figure.savefig(passing, format=form, dpi=dpi, **fixed)
        _report_letters([str(one.message) for one in found])

    write_file(path, save, force, inputs)


def written_figure(
    scene: Scene,
    path: Path | None,
    force: bool,
    inputs: Mapping[str, object],
    width: float | None,
    font_size: float,
    font: str,
) -> matplotlib.figure.Figure:
    """Return a scene as a figure, and write it if there is a path.

    Args:
        scene: the scene.
        path: the file; None to write none.
        force, inputs: as for `write_figure`.
        width, font_size: as for `fitted`.
        font: as for `figure_of`.

    Raises:
        OptionError, OutputError: as for these functions.
    """
    scale, _ = fitted(scene, width, font_size)
    if path is not None:
        write_figure(scene, path, force, inputs, scale=scale, font=font)
    return figure_of(scene, scale=scale, font=font)


def _report_letters(messages: list[str]) -> None:
    """Log a warning with the letters that no installed font has."""
    codes = {int(found[1]) for one in messages if (found := re.match(r"Glyph (\d+) ", one))}
    if codes:
        letters = "".join(map(chr, sorted(codes)))
        logger.warning(
            "no installed font has the letters %s: choose another font, or write SVG", letters[:40]
        )
