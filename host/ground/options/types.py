"""Types of options, the row of a table that describes an option, and options as values.

A table is a subclass of `Values` whose fields have rows. A dataclass, or a NamedTuple with annotations, of as
many fields takes a millisecond to make, at every start of a command.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

__all__ = [
    "ALL_MUTATIONS", "AUTO_DROPOUT", "COUNT", "DEFAULT_CHAINS", "DEFAULT_LEAF_MOVE_PROBABILITIES",
    "DEFAULT_MOVE_PROBABILITIES", "DEFAULT_SEED", "DEFAULT_SUPPORT", "FILE", "FLAG", "LABELS", "LEARN",
    "LIST", "NAMES", "NUMBER", "OUTPUT", "PAIR", "PART", "PERCENT", "PROBABILITY", "RATE", "SHARED_DROPOUT",
    "TEXT", "TREE", "WEIGHTS", "WEIGHTS_GIVEN", "AnyPath", "Names", "Option", "Type", "Values", "number",
    "one_of", "option", "whole",
]  # fmt: skip

AnyPath = str | os.PathLike[str]
"""Path of a file or folder."""

Names = AnyPath | Sequence[str] | None
"""Names: a file with one name per line, or the names themselves; None for no names given."""


class Type(NamedTuple):
    """Type of an option, with its limits.

    Attributes:
        name: flag, whole, number, choice, weights, pair (two whole numbers), text, file (to read), output (a
            file to write), names (a file or, in Python, the names), list (names with commas between, or
            @ and a file of names; in Python also the names), tree (a file or, in Python, a parent vector),
            or labels (a file or, in Python, a table of the cells).
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
        if self.open_low and not self.open_high:
            return f"{kind} above {self.low}, at most {self.high}"
        if self.open_low:
            words = "".join(f", or {word}" for word in self.choices)
            return f"{kind} between {self.low} and {self.high}, both excluded{words}"
        high = "" if self.high is None else f" {'to below' if self.open_high else 'to'} {self.high}"
        return f"{kind} from {self.low}{high}"


def whole(low: int, high: int | None = None) -> Type:
    """Return the type of whole numbers from `low` to `high`, or without an upper limit."""
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
FILE, OUTPUT, NAMES, LIST = Type("file"), Type("output"), Type("names"), Type("list")
TREE, LABELS = Type("tree"), Type("labels")
COUNT, PERCENT, PART = whole(0, 2**31 - 1), number(0, 100), number(0, 1)
PROBABILITY = Type("number", 0, 1, open_low=True, open_high=True)
LEARN = "learn"
RATE = PROBABILITY._replace(choices=(LEARN,))
"""A probability, or that it is learned from the data alone, with a uniform prior."""

PAIR = Type("pair", 0, 10**12)
"""Two counts."""


class Option(NamedTuple):
    """A row of the table of `syclade infer`, or of `syclade call`.

    Attributes:
        type: type and limits.
        help: help text of the command.
        default: default value.
        none: word that users give for None, such as dynamic; empty if there is none.
        decides: whether it determines the result, so that it must match when a run is resumed.
        of: function that has it as an argument; empty if only commands have it.
        metavar: name of the value in the help.
        flag: flag of the command; empty for that of the name.
        letter: short flag; empty without one.
        name: argument in Python, and parameter of the command: the name of the field.
    """

    type: Type
    help: str
    default: Any
    none: str = ""
    decides: bool = False
    of: str = "infer"
    metavar: str | None = None
    flag: str = ""
    letter: str = ""
    name: str = ""


def option(type: Type, *, default: Any, help: str, **more: Any) -> Any:
    """Return the row of a field of `Values`, with the attributes of `Option`."""
    return Option(type, help, default, **more)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
class Values:
    """Options as immutable values. Each field of a subclass has a type, and a row with its default."""

    table: ClassVar[dict[str, Option]] = {}
    """Rows by name, in the order of the fields."""

    def __init_subclass__(cls) -> None:
        rows = {name: row for name, row in vars(cls).items() if isinstance(row, Option)}
        cls.table = cls.table | {name: row._replace(name=name) for name, row in rows.items()}
        for name, row in rows.items():
            setattr(cls, name, row.default)

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - self.table.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        self.__dict__.update(given)
        self.check()

    def check(self) -> None:
        """Raise an OptionError if the values are invalid; `Options` are checked where they are used."""

    def replace(self, **changes: Any) -> Self:
        """Return the same values, except for these."""
        return type(self)(**{**self.__dict__, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return {name: getattr(self, name) for name in self.table}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.to_dict().values()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; use replace({name}=...)")

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({', '.join(given)})"


DEFAULT_CHAINS = 16
DEFAULT_SEED = 1
DEFAULT_SUPPORT = "quick"
DEFAULT_MOVE_PROBABILITIES = (0.55, 0.4, 0.05)
"""Prune and reattach, swap labels, swap subtrees, as in SCITE."""
DEFAULT_LEAF_MOVE_PROBABILITIES = (0.4, 0.6)
"""Prune and reattach, swap leaves, for cell trees, as in SCITE."""

AUTO_DROPOUT, SHARED_DROPOUT = "auto", "shared"
"""Values of `dropout`: rates of false negatives differ if the data show it; or never."""

ALL_MUTATIONS = "all"
"""Value of `recurrent` that tests every mutation."""
