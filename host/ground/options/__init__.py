"""Options of an inference: their flags, checks and defaults, all from one table (`table.py`)."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.table import GROUPS, Options
from syclade.host.ground.options.types import (
    DEFAULT_LEAF_MOVE_PROBABILITIES,
    DEFAULT_MOVE_PROBABILITIES,
    WEIGHTS,
    WEIGHTS_GIVEN,
    Names,
    Type,
)
from syclade.host.ground.values import device_name, path_of, real, shown, whole

__all__ = [
    "CODING",
    "DECIDE",
    "FLAG",
    "LEAVES_OUT",
    "OPTIONS",
    "Options",
    "Plain",
    "Reading",
    "checked",
    "command_of",
    "flag_of",
    "given_of",
    "in_python",
    "is_given",
    "options_of",
    "options_with",
    "plain_of",
    "quoted_names",
]

Plain = bool | int | float | str | list[int] | list[float] | list[str] | None
"""Value of an option as JSON has it."""

OPTIONS = {option.name: option for options in GROUPS.values() for option in options}
"""Options by name, in the order of the help."""

CODING = tuple(option.name for option in OPTIONS.values() if option.of == "read_matrix")
"""Options of `read_matrix`."""

LEAVES_OUT = tuple(option.name for option in GROUPS["Mutations and cells to leave out"])
"""Those of them that leave out mutations and cells."""

DECIDE = tuple(option.name for option in OPTIONS.values() if option.decides)
"""Options that determine the result."""


def flag_of(name: str, value: object = None) -> str:
    """Return an option as users type it, such as `--steps`; with a value, such as `--method chain`."""
    flag = OPTIONS[name].flag or "--" + name.replace("_", "-")
    return flag if value is None else f"{flag} {value}"


FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
"""A flag in a text, such as a message."""

_OF_COMMANDS = ("out", "json", "quiet", "verbose")


def in_python(text: str) -> list[str]:
    """Return the arguments in Python for the flags in a text, such as `fp_rate=` or `force=True`."""
    from syclade.host.ground.options.calls import CallOptions, call_flag

    names = {call_flag(name): (name, row) for name, row in CallOptions.table.items()}
    names |= {flag_of(name): (name, row) for name, row in OPTIONS.items() if name not in _OF_COMMANDS}
    found = (names[flag] for flag in dict.fromkeys(FLAG.findall(text)) if flag in names)
    return [f"{name}={'True' if row.type.name == 'flag' else ''}" for name, row in found]


def checked(name: str, value: Any, error: type[OptionError] = OptionError) -> Any:
    """Return the value of an option, converted to its type.

    Args:
        name: an option of the table.
        value: of any type; None for an option that was not given.
        error: the exception to raise.

    Raises:
        OptionError: the value has another type, or is outside the limits.
    """
    option, flag = OPTIONS[name], flag_of(name)
    if value is None and option.default is None:
        return None
    kind = option.type
    if kind.name == "whole":
        return whole(flag, value, kind.low, kind.high)
    if kind.name == "pair":
        return _pair(flag, value, kind, error)
    if kind.name == "number" and isinstance(value, str) and value in kind.choices:
        return value
    if kind.name == "number":
        value = real(flag, value, error)
        if not (kind.holds(value) and (kind.high is not None or math.isfinite(value))):
            raise error(f"{flag} is {value:g}", hint=f"give {kind}")
    if kind.name == "choice" and not (isinstance(value, str) and value in kind.choices):
        raise error(f"{flag} is {shown(value)}", hint=f"use {kind}")
    return path_of(flag, value, error) if kind.name in ("file", "output") else value


def _pair(flag: str, value: Any, kind: Type, error: type[OptionError]) -> tuple[int, int]:
    """Return two whole numbers within the limits."""
    values = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(values) != 2:
        raise error(f"{flag} is {shown(value)}", hint="give two whole numbers")
    first, second = (whole(flag, one, kind.low, kind.high) for one in values)
    return first, second


def options_of(values: Mapping[str, Any]) -> Options:
    """Return the options among values by name; all others, such as a matrix, are left out.

    A device of dpctl, or a queue, counts by its name, as in files and commands that repeat a run.
    """
    options = {name: value for name, value in values.items() if name in OPTIONS}
    return Options(**{name: device_name(one) if name == "device" else one for name, one in options.items()})


def is_given(options: Options, name: str) -> bool:
    """Return whether an option has another value than its default."""
    value, default = getattr(options, name), OPTIONS[name].default
    return value is not None and (value != default if isinstance(value, (bool, int, float, str)) else True)


def given_of(options: Options) -> dict[str, Plain]:
    """Return the options that do not have their default, as plain values."""
    return {name: plain_of(options, name) for name in OPTIONS if is_given(options, name)}


def plain_of(options: Options, name: str) -> Plain:
    """Return the value of an option as JSON has it; None for an object, such as a tree that is no file."""
    value, kind = getattr(options, name), OPTIONS[name].type.name
    if value is None or isinstance(value, (str, os.PathLike)):
        return None if value is None else str(os.fspath(value))
    if kind == "flag":
        return bool(value)
    if kind == "number":
        return float(value)
    if kind == "weights":
        return [float(weight) for weight in value]
    if kind == "list":
        return quoted_names(value)
    if kind == "pair" or (kind == "names" and isinstance(value, Sequence)):
        return list(value)
    return int(value) if kind == "whole" else None


def quoted_names(names: Sequence[str]) -> str:
    """Return names with commas between; one with a comma or a quote is in double quotes, as in CSV."""
    doubled = [name.replace('"', '""') for name in names]
    return ",".join(
        f'"{double}"' if "," in name or double != name else name
        for name, double in zip(names, doubled, strict=True)
    )


def command_of(matrix: str, options: Mapping[str, Any]) -> str:
    """Return the command line that repeats a run.

    Args:
        matrix: path of the matrix.
        options: plain values by the names of the options; None, False and defaults are left out.
    """
    words = ["syclade", "infer", matrix]
    usual = DEFAULT_LEAF_MOVE_PROBABILITIES if options.get("tree") == "leaf" else DEFAULT_MOVE_PROBABILITIES
    for name, value in options.items():
        if value is None or value is False or value == OPTIONS[name].default:
            continue
        if name == "move_probabilities" and tuple(value) == usual:
            continue
        words.append(flag_of(name))
        if value is not True:
            values = value if isinstance(value, list) else [value]
            words += map(str, values)
            if OPTIONS[name].type == WEIGHTS:
                words += ["0"] * (WEIGHTS_GIVEN - len(values))
    return shlex.join(words)


class Reading(TypedDict, total=False):
    """Options of `read_matrix`, which describes them; tests/test_options.py compares them with the table."""

    format: str
    two: str | None
    rows: str | None
    evidence: str
    min_depth: int | None
    min_vaf: float | None
    min_gq: int | None
    vaf_ref: float | None
    vaf_het: float | None
    vaf_hom: float | None
    total_reads: object
    ref_reads: object
    absent: object
    columns: str | None
    name_by: str | None
    layer: str | None
    total_layer: str | None
    absent_layer: str | None
    coding: str | None
    filter: str | None
    drop_filtered: bool
    obs_mask: str | None
    var_mask: str | None
    exclude_mutations: Names
    max_missing_mutation: float | None
    max_missing_cell: float | None
    min_cells: int | None


def options_with(values: Mapping[str, Any], reading: Reading, function: str) -> Options:
    """Return the options among the arguments of a function.

    Args:
        values: its named arguments; those that are no options are left out.
        reading: its other arguments.
        function: its name, for messages.

    Raises:
        TypeError: an argument is no option of `read_matrix`, as Python says of any function.
    """
    for name in reading:
        if name not in CODING:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return options_of({**values, **reading})
