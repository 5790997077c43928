"""Values that users pass from Python, of any type: converted, or refused with a message; read-only arrays."""

from __future__ import annotations

import importlib
import math
import numbers
import operator
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from syclade.host.ground.errors import OptionError, SycladeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Array",
    "Json",
    "JsonObject",
    "ParsedJson",
    "counted",
    "device_name",
    "excerpt",
    "freeze_arrays",
    "listed",
    "on_host",
    "path_of",
    "real",
    "short_repr",
    "shown",
    "whole",
]


Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Value that `json.dumps` writes."""

JsonObject: TypeAlias = "dict[str, Json]"
"""Object of JSON: values by name."""

ParsedJson: TypeAlias = Any
"""Value of a JSON file, of any type until it is checked."""

Array: TypeAlias = "NDArray[Any]"
"""Array whose type depends on its name, such as the argument of a kernel."""


MOST_ITEMS = 4
"""Most items of a collection that a short representation shows."""


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return the value as a Python int, if it is a whole number from `low` to `high`; a bool is not.

    Args:
        name: the user's name for the value.
        value: of any type.
        low, high: the bounds, both inclusive.

    Raises:
        OptionError: the value is not such a number.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise OptionError(f"{name} is {shown(value)}, which is not a whole number")
    if not low <= number <= high:
        raise OptionError(f"{name} is {shown(number)}", hint=f"use a whole number from {low} to {high}")
    return number


def real(name: str, value: Any, error: type[OptionError] = OptionError) -> float:
    """Return the value as a Python float, if it is a number; a bool is not.

    Args:
        name: the user's name for the value.
        value: of any type.
        error: the exception to raise if it is not a number.

    Returns:
        The number, which may be infinite or NaN.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise error(f"{name} is {shown(value)}, which is not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


DOWNLOAD = "only paths of this machine can be read and written: download the file first"
"""Advice where an address takes the place of a path."""

_ADDRESS = re.compile(r"(?:https?|ftps?|sftp|s3|gs|az|file)://", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Return whether a text is an address on the network, such as https://…, and no path."""
    return _ADDRESS.match(text) is not None


def at_home(text: str) -> Path:
    """Return a path in which `~/` is the user's home: shells leave it as it is in quotes, and after `=`."""
    path = Path(text)
    if text != "~" and not text.startswith("~/"):
        return path
    try:
        return path.expanduser()
    except RuntimeError:  # no home is known
        return path


def path_of(name: str, value: Any, error: type[SycladeError] = OptionError) -> Path:
    """Return the value as a path.

    Args:
        name: what the path is for.
        value: of any type.
        error: the exception to raise if the value is neither text nor path, an address, or empty, which would
            mean the current folder.
    """
    if isinstance(value, str) and not value:
        raise error(f"{name} has an empty name")
    if isinstance(value, str) and is_address(value):
        raise error(f"{name} is {value}, an address", hint=DOWNLOAD)
    try:
        return Path(value)
    except TypeError:
        raise error(f"{name} is {shown(value)}, which is not a path") from None


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun, such as 1 matrix or 2 matrices.

    Args:
        number: the number.
        one, many: the noun in the singular and in the plural.
    """
    return f"{number} {one if number == 1 else many}"


def part_of(part: int, number: int, one: str, many: str) -> str:
    """Return a part of a number with the noun of that number, such as 1 of 1 cell or 0 of 2 cells."""
    return f"{part} of {counted(number, one, many)}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return up to `most` names with commas between, and the number of the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def shown(value: object) -> str:
    """Return a value for a message: its shortened repr."""
    try:
        return reprlib.repr(value)
    except Exception:  # an int of thousands of digits, or any error from a user's class
        return f"of type {type(value).__name__}"


def excerpt(text: str, most: int = 60) -> str:
    """Quote a piece of a file for a message, shortened if it is long.

    Args:
        text: the piece.
        most: number of characters to show; half of them from each end of a longer text.
    """
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-(most // 2) :]}"
    return repr(text)


def short_repr(value: Any) -> str:
    """Return a dataclass or named tuple as one line: arrays by their shapes, other values by their types.

    Args:
        value: the dataclass or named tuple.
    """
    names = getattr(value, "_fields", None) or [one.name for one in fields(value)]
    parts = (f"{name}={_brief(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    """Return a field as a few words."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"<{value.dtype} of shape {value.shape}>" if value.shape else repr(value)
    if value is None or isinstance(value, (str, int, float)):
        return reprlib.repr(value)
    plain = isinstance(value, (tuple, list, dict)) and not hasattr(value, "_fields")
    if plain and len(value) <= MOST_ITEMS and all(isinstance(one, (str, int, float)) for one in value):
        return reprlib.repr(value)
    return f"<{type(value).__name__}{f' of {len(value)}' if plain else ''}>"


def freeze_arrays(value: object, names: Iterable[str]) -> None:
    """Replace arrays of a frozen dataclass by read-only copies; those that are None stay.

    Args:
        value: the dataclass.
        names: names of its fields.
    """
    for name in names:
        array = getattr(value, name)
        if array is not None:
            own = array.copy()
            own.flags.writeable = False
            object.__setattr__(value, name, own)


def device_name(device: Any) -> Any:
    """Return the filter string of dpctl's device, or of a queue's device; all else as it is.

    Raises:
        OptionError: it is a part of a device, which no filter string names.
    """
    owner = getattr(device, "sycl_device", device)
    if not type(owner).__module__.startswith("dpctl"):
        return device
    try:
        return str(owner.filter_string)
    except Exception as error:  # dpctl's exceptions differ between versions
        raise OptionError(
            f"{shown(device)} has no filter string: {error}", hint="give a whole device, not a part of one"
        ) from error


def on_host(array: Any) -> Any:
    """Return an array of dpnp, dpctl or another library as numpy reads it; all else as it is."""
    if callable(getattr(array, "asnumpy", None)):  # dpnp
        return array.asnumpy()
    if hasattr(array, "__sycl_usm_array_interface__"):  # dpctl up to 0.21, dpnp from 0.20
        library = "dpnp" if type(array).__module__.startswith("dpnp.") else "dpctl"
        return importlib.import_module(f"{library}.tensor").asnumpy(array)
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return importlib.import_module("numpy").from_dlpack(array)
    return array
