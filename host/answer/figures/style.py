"""Style of figures: colours of clones, names, and what is shown; the same in every figure of a result."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, replace

from syclade.host.data.input.names import chosen_mutations, near_names
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import listed

__all__ = ["CLONE_COLOURS", "ROOM", "Style", "hex_of", "ink_on", "mixed"]

Rgb = tuple[int, int, int]

ROOM = 1000.0
"""Width of a figure, px, where none is given."""

OKABE_ITO = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442",
    "#332288", "#882255", "#117733", "#999933", "#aa4499", "#661100", "#888888",
)  # fmt: skip
"""Okabe and Ito's colours, which colour-blind readers can tell apart, then colours of Tol's muted set."""

TOL = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright colours, likewise."""

GREYS = ("#d9d9d9", "#737373", "#bdbdbd", "#525252", "#969696", "#f0f0f0")

CLONE_COLOURS = {"okabe-ito": OKABE_ITO, "tol": TOL, "grey": GREYS}
"""Colours of clones by the name of their set: clone 1 has the first, and later rounds are darker or paler."""

ROOT, PLAIN = "#ffffff", "#0072b2"


@dataclass(frozen=True)
class Style:
    """Style of a figure.

    Attributes:
        title: title above the figure; empty for none.
        names: most names of mutations that a clone shows; None for all, 0 for none.
        highlight: names of mutations that are named first, in bold letters.
        colours: name of a set of `CLONE_COLOURS`.
        room: width that the figure may take, px, with letters of 12 px.
    """

    title: str = ""
    names: int | None = None
    highlight: tuple[str, ...] = ()
    colours: str = "okabe-ito"
    room: float = ROOM

    def checked(self, mutations: tuple[str, ...]) -> Style:
        """Return the style with the mutations for the genes to highlight: names that begin with these words.

        Raises:
            OptionError: a name is not among the mutations, or there is no such set of colours.
        """
        if self.colours not in CLONE_COLOURS:
            raise OptionError(
                f"there are no colours {self.colours!r}", hint=f"use {', '.join(CLONE_COLOURS)}"
            )
        names, unknown = chosen_mutations(self.highlight, mutations)
        if unknown:
            near = near_names(unknown[0], mutations) or list(mutations)
            raise OptionError(
                f"there is no mutation {unknown[0]!r} to highlight",
                hint=f"the result has {listed(near, 12)}",
            )
        return replace(self, highlight=tuple(names))

    def colour(self, number: int | None) -> str:
        """Return the colour of a clone; the root is white, and clones without a number share one colour."""
        if number is None:
            return PLAIN
        if number == 0:
            return ROOT
        colours = CLONE_COLOURS[self.colours]
        turn, place = divmod(number - 1, len(colours))
        return _shaded(colours[place], turn)


def _shaded(colour: str, turn: int) -> str:
    """Return a colour of a later round of the set: darker in the first, paler in the second, and so on."""
    if turn == 0:
        return colour
    hue, light, full = colorsys.rgb_to_hls(*(value / 255 for value in _parts(colour)))
    part = 1.0 - 1.0 / (1.0 + (turn + 1) // 2)
    light += part * ((0.15 if turn % 2 else 0.92) - light)
    return "#" + "".join(f"{round(255 * value):02x}" for value in colorsys.hls_to_rgb(hue, light, full))


def mixed(light: int, first: Rgb, part: float, second: Rgb = (255, 255, 255), other: float = 0.0) -> Rgb:
    """Return a grey with parts of one or two colours in it.

    Args:
        light: the three parts of the grey.
        first, second: the colours.
        part, other: how much of each there is, from 0 to 1; at most 1 together.
    """
    red, green, blue = (
        round(light - part * (light - one) - other * (light - two))
        for one, two in zip(first, second, strict=True)
    )
    return red, green, blue


def hex_of(colour: Rgb) -> str:
    """Return an RGB colour as CSS has it."""
    return "#" + "".join(f"{part:02x}" for part in colour)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ink_on(colour: str) -> str:
    """Return black or white, whichever has the greater contrast on a colour (WCAG's relative luminance)."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (part / 255 for part in _parts(colour))
    ]
    luminance = sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if luminance > 0.179 else "#ffffff"
