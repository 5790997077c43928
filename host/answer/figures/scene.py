"""Scenes: the shapes of a figure, in px with y downwards, and their SVG.

Every figure is a scene, so that SVG, PDF, PNG and the report show the same drawing. Widths of texts are upper
bounds for common sans-serif fonts: layouts that leave this space cut no label.
"""

from __future__ import annotations

import base64
import html
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FONTS", "INK", "LETTERS", "MUTED", "Box", "Disc", "Group", "Item", "Line", "Picture", "Polygon", "Scene",
    "Text", "data_address", "moved", "png_of", "svg_of", "width_of", "wrapped",
]  # fmt: skip

FONTS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP")
"""Names of fonts, in the order in which they are looked for."""

LETTERS = 12.0
"""Size of letters, px."""

INK, MUTED = "#1a1a1a", "#595959"
"""Colours of texts: their contrast on white is 17:1 and 7:1."""

Point = tuple[float, float]
Colour = str
Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Line:
    """A line through points; dashed where `dashed` is set."""

    points: tuple[Point, ...]
    colour: Colour = "#777777"
    width: float = 1.2
    dashed: bool = False


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: Colour
    edge: Colour = "none"


@dataclass(frozen=True)
class Box:
    """A filled rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour
    edge: Colour = "none"


@dataclass(frozen=True)
class Disc:
    """A filled disc by its centre."""

    x: float
    y: float
    radius: float
    fill: Colour
    edge: Colour = "#ffffff"


@dataclass(frozen=True)
class Text:
    """A line of text.

    Attributes:
        x, y: its start, middle or end (`anchor`), at half the height of its letters.
        text: the text.
        size: size of the letters.
        anchor: start, middle or end.
        bold: whether the letters are bold.
        colour: colour of the letters.
        upright: whether the text runs upwards.
    """

    x: float
    y: float
    text: str
    size: float = LETTERS
    anchor: str = "start"
    bold: bool = False
    colour: Colour = INK
    upright: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels in a rectangle, without smoothing.

    Attributes:
        x, y, width, height: the rectangle.
        pixels: uint8, shape (rows, columns): indices into `palette`.
        palette: RGB colours.
        title: description for readers of screens.
    """

    x: float
    y: float
    width: float
    height: float
    pixels: NDArray[np.uint8]
    palette: Sequence[Rgb]
    title: str = ""


@dataclass(frozen=True)
class Group:
    """Items with a description, which browsers show beside the pointer.

    Attributes:
        items: the items.
        title: the description.
        kind: class of the group in SVG.
        data: attributes of the group in SVG, by name without ``data-``.
    """

    items: tuple[Item, ...]
    title: str
    kind: str = ""
    data: tuple[tuple[str, str], ...] = ()


Item = Line | Polygon | Box | Disc | Text | Picture | Group


@dataclass(frozen=True)
class Scene:
    """A figure.

    Attributes:
        name: name of the figure, unique in a page.
        title: description for readers of screens.
        width, height: size, px.
        items: its items; later ones are above earlier ones.
    """

    name: str
    title: str
    width: float
    height: float
    items: list[Item] = field(default_factory=list)


_NARROW, _WIDE = set("ijl.,:;'|!()[]{}`I /\\tfr-"), set("mwMW@%—…")


def width_of(text: str, size: float = LETTERS, bold: bool = False) -> float:
    """Return an upper bound for the width of a line of text, px."""
    total = 0.0
    for letter in text:
        if letter in _NARROW:
            total += 0.42
        elif letter in _WIDE:
            total += 1.0
        elif "a" <= letter <= "z" or "0" <= letter <= "9":
            total += 0.64
        elif unicodedata.combining(letter):
            continue
        else:
            total += 1.1 if unicodedata.east_asian_width(letter) in "WF" else 0.8
    return total * size * (1.1 if bold else 1.0)


_BREAKS = " /:_-|,;."


def wrapped(names: Iterable[str], room: float, size: float = LETTERS, bold: bool = False) -> list[str]:
    """Return names, separated by commas, as lines of at most a width; long names continue on the next line.

    Args:
        names: the names.
        room: the width, px.
        size, bold: as for `width_of`.
    """
    lines: list[str] = []
    line = ""
    for name in names:
        joined = f"{line}, {name}" if line else name
        if width_of(joined, size, bold) + 0.42 * size <= room:  # and the comma behind it
            line = joined
            continue
        if line:
            lines.append(f"{line},")
        *full, line = _pieces(name, room, size, bold)
        lines += full
    return [*lines, line] if line else lines


def _pieces(name: str, room: float, size: float, bold: bool) -> list[str]:
    """Return a name in pieces of at most a width, broken behind a blank or a sign where there is one."""
    pieces = [""]
    for letter in name:
        if pieces[-1] and width_of(pieces[-1] + letter, size, bold) > room:
            full = pieces[-1]
            end = max(full.rfind(sign) for sign in _BREAKS) + 1
            end = end if 2 * end > len(full) else len(full)
            pieces[-1:] = [full[:end], full[end:]]
        pieces[-1] += letter
    return [piece.strip() for piece in pieces if piece.strip()]


def moved(scene: Scene, x: float, y: float) -> list[Item]:
    """Return the items of a scene, moved."""
    return [_moved(item, x, y) for item in scene.items]


def _moved(item: Item, x: float, y: float) -> Item:
    if isinstance(item, Group):
        return replace(item, items=tuple(_moved(one, x, y) for one in item.items))
    if isinstance(item, (Line, Polygon)):
        return replace(item, points=tuple((a + x, b + y) for a, b in item.points))
    return replace(item, x=item.x + x, y=item.y + y)


def png_of(indices: NDArray[np.uint8], palette: Sequence[Rgb]) -> bytes:
    """Return an indexed PNG (RFC 2083) with one pixel per entry.

    Args:
        indices: uint8, shape (rows, columns): indices into `palette`.
        palette: at most 256 RGB colours; those above the largest index are left out.
    """
    rows, columns = indices.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    used = b"".join(bytes(colour) for colour in palette[: int(indices.max(initial=0)) + 1])
    lines = np.full((rows, columns + 1), 2, dtype=np.uint8)  # filter 2: difference from the row above
    lines[0, 1:] = indices[0]
    lines[1:, 1:] = indices[1:] - indices[:-1]
    parts = (
        (b"IHDR", header),
        (b"PLTE", used),
        (b"IDAT", zlib.compress(lines.tobytes(), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escaped(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def svg_of(scene: Scene, *, scale: float = 1.0, font: str = "", alone: bool = False) -> str:
    """Return a scene as SVG.

    Args:
        scene: the scene.
        scale: px of the SVG for each px of the scene.
        font: name of the font that is looked for first.
        alone: whether the SVG is a file of its own, not an element of a page.
    """
    fonts = ", ".join(f"'{name}'" for name in ((font,) if font else ()) + FONTS)
    title = f"syclade-{scene.name}"
    size = f'viewBox="0 0 {_number(scene.width)} {_number(scene.height)}"'
    head = (
        f'<svg class="syclade-figure" role="img" aria-labelledby="{title}" '
        f'width="{scene.width * scale:.0f}" height="{scene.height * scale:.0f}" {size} '
        f'style="font: {LETTERS:.0f}px {_escaped(fonts)}, sans-serif; background: #fff"'
    )
    if alone:
        head = '<?xml version="1.0" encoding="UTF-8"?>\n' + head + ' xmlns="http://www.w3.org/2000/svg"'
    body = [f'<title id="{title}">{_escaped(scene.title)}</title>']
    if alone:
        body.append(_item(Box(0.0, 0.0, scene.width, scene.height, "#ffffff")))
    body += map(_item, scene.items)
    return head + ">\n" + "\n".join(body) + "\n</svg>\n"


def _item(item: Item) -> str:
    """Return the element of an item."""
    match item:
        case Line(points, colour, width, dashed):
            places = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
            dashes = ' stroke-dasharray="4 3"' if dashed else ""
            return f'<path fill="none" stroke="{colour}" stroke-width="{width}"{dashes} d="M{places}"/>'
        case Polygon(points, fill, edge):
            places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
            return f'<polygon fill="{fill}" stroke="{edge}" points="{places}"/>'
        case Box(x, y, width, height, fill, edge):
            place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
            return f'<rect fill="{fill}" stroke="{edge}" {place}/>'
        case Disc(x, y, radius, fill, edge):
            place = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
            return f'<circle fill="{fill}" stroke="{edge}" {place}/>'
        case Text():
            return _text(item)
        case Picture():
            address = data_address(png_of(item.pixels, item.palette))
            place = f'x="{_number(item.x)}" y="{_number(item.y)}" width="{_number(item.width)}" '
            place += f'height="{_number(item.height)}"'
            return (
                f'<image href="{address}" {place} preserveAspectRatio="none" '
                f'style="image-rendering: pixelated"><title>{_escaped(item.title)}</title></image>'
            )
        case Group(items, title, kind, data):
            more = "".join(f' data-{name}="{_escaped(value)}"' for name, value in data)
            inner = "".join(map(_item, items))
            return f'<g class="{kind}"{more}><title>{_escaped(title)}</title>{inner}</g>'


def _text(item: Text) -> str:
    """Return the element of a text; its baseline is below its middle."""
    below = 0.35 * item.size
    x, y = (item.x + below, item.y) if item.upright else (item.x, item.y + below)
    more = "" if item.size == LETTERS else f' font-size="{_number(item.size)}"'
    more += ' font-weight="bold"' if item.bold else ""
    more += "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    more += f' transform="rotate(-90 {_number(x)} {_number(y)})"' if item.upright else ""
    return f'<text fill="{item.colour}" x="{_number(x)}" y="{_number(y)}"{more}>{_escaped(item.text)}</text>'


def data_address(content: bytes, kind: str = "image/png") -> str:
    """Return a data URL, which embeds the content in an <img> element."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
