"""Types of options, and the row of the table that describes an option."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = [
    "COUNT", "FILE", "FLAG", "LEARN", "NAMES", "NUMBER", "OUTPUT", "PAIR", "PERCENT", "PROBABILITY", "RATE",
    "TEXT", "TREE", "WEIGHTS", "WEIGHTS_GIVEN", "AnyPath", "Names", "Option", "Type", "number", "one_of",
    "whole",
]  # fmt: skip

AnyPath = str | os.PathLike[str]
"""Path of a file or folder."""

Names = AnyPath | Sequence[str] | None
"""Names: a file with one name per line, or the names themselves; None for no names given."""


class Type(NamedTuple):
    """Type of an option, with its limits.

    Attributes:
        name: flag, whole, number, choice, weights, pair (two whole numbers), text, file (to read), output (a
            file to write), names (a file or, in Python, the names), or tree (a file or, in Python, a parent
            vector).
        low, high: limits of a number; None for no limit.
        open_low, open_high: whether the limit itself is excluded.
        choices: values of a choice; of a number, words that stand in its place.
    """

    name: str
    low: Any = None
    high: Any = None
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()

    def holds(self, value: float) -> bool:
        """Return whether a number is within the limits; NaN is not, unless there are none."""
        above = self.low is None or (value > self.low if self.open_low else value >= self.low)
        below = self.high is None or (value < self.high if self.open_high else value <= self.high)
        return above and below

    def __str__(self) -> str:
        """Return the values as a phrase, such as `a number from 0 to below 1`."""
        if self.name == "choice":
            return f"one of {', '.join(self.choices)}"
        kind = {"whole": "a whole number", "number": "a number", "pair": "two whole numbers"}.get(
            self.name, self.name
        )
        if self.low is None:
            return kind
        if self.open_low:
            words = "".join(f", or {word}" for word in self.choices)
            return f"{kind} between {self.low} and {self.high}, both excluded{words}"
        high = "" if self.high is None else f" {'to below' if self.open_high else 'to'} {self.high}"
        return f"{kind} from {self.low}{high}"


def whole(low: int, high: int) -> Type:
    """Return the type of whole numbers from `low` to `high`."""
    return Type("whole", low, high)


def number(low: float, high: float | None = None, *, open_high: bool = False) -> Type:
    """Return the type of numbers from `low` to `high`; without `high`, of finite numbers."""
    return Type("number", low, high, open_high=open_high)


def one_of(*choices: str) -> Type:
    """Return the type of a choice."""
    return Type("choice", choices=choices)


WEIGHTS_GIVEN = 3
"""Number of weights that commands take; those of moves that the trees do not have are 0."""

FLAG, NUMBER, TEXT, WEIGHTS = Type("flag"), Type("number"), Type("text"), Type("weights")
FILE, OUTPUT, NAMES, TREE = Type("file"), Type("output"), Type("names"), Type("tree")
COUNT, PERCENT, PART = whole(0, 2**31 - 1), number(0, 100), number(0, 1)
PROBABILITY = Type("number", 0, 1, open_low=True, open_high=True)
LEARN = "learn"
RATE = PROBABILITY._replace(choices=(LEARN,))
"""A probability, or that it is learned from the data alone, with a uniform prior."""

PAIR = Type("pair", 0, 10**12)
"""Two counts."""


class Option(NamedTuple):
    """A row of the table: an option of `syclade infer`.

    Attributes:
        type: type and limits.
        help: help text of the command.
        decides: whether it determines the result, so that it must match when a run is resumed.
        of: function that has it as an argument; empty if only commands have it.
        metavar: name of the value in the help.
        flag: flag of the command; empty for that of the name.
        name: argument in Python, and parameter of the command; here and below, the table fills it in.
        default: default value.
    """

    type: Type
    help: str
    decides: bool = False
    of: str = "infer"
    metavar: str | None = None
    flag: str = ""
    name: str = ""
    default: object = None
