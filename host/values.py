"""Values that users give from Python, which may be of any type: taken, or refused in words."""

from __future__ import annotations

import math
import numbers
import operator
import reprlib
from pathlib import Path
from typing import Any

from syclade.host.errors import OptionError

__all__ = ["path_of", "real", "shown", "whole"]


def whole(name: str, value: Any, low: int, high: int) -> int:
    """The value as an int of Python's, if it is a whole number from `low` to `high`.

    Args:
        name: what the user calls it.
        value: of any type.
        low, high: both allowed.

    Raises:
        OptionError: it is no such number.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise OptionError(f"{name} is {shown(value)}, which is no whole number") from None
    if not low <= number <= high:
        raise OptionError(f"{name} is {shown(number)}", hint=f"use a whole number from {low} to {high}")
    return number


def real(name: str, value: Any, error: type[OptionError] = OptionError) -> float:
    """The value as a float of Python's, if it is a number; a truth value is none.

    Args:
        name: what the user calls it.
        value: of any type.
        error: what to raise.

    Returns:
        The number, which may be infinite or no number (NaN).
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise error(f"{name} is {shown(value)}, which is no number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def path_of(name: str, value: Any, error: type[Exception] = OptionError) -> Path:
    """The value as a path.

    Args:
        name: what it is the path of.
        value: of any type.
        error: what to raise if it is no text and no path, or empty, which would mean the current folder.
    """
    if isinstance(value, str) and not value:
        raise error(f"{name} has an empty name")
    try:
        return Path(value)
    except TypeError:
        raise error(f"{name} is {shown(value)}, which is no path") from None


def shown(value: object) -> str:
    """A value in a message: what Python shows, shortened."""
    try:
        return reprlib.repr(value)
    except Exception:  # an int of thousands of digits, or whatever a class of the user's raises
        return f"of type {type(value).__name__}"
