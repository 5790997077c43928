"""Values of options as texts in a table: converted to the types of `host/ground/options/table.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import OPTIONS, checked, flag_of
from syclade.host.ground.options.types import WEIGHTS_GIVEN
from syclade.host.ground.values import shown

__all__ = ["value_of"]

_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def value_of(name: str, text: str, folder: Path) -> Any:
    """Return the value of an option.

    Args:
        name: an option of the table of options.
        text: the value as users write it; several numbers are separated by blanks.
        folder: folder from which the paths of files are relative.

    Raises:
        OptionError: the text is no value of this option.
    """
    kind = OPTIONS[name].type
    if kind.name == "flag":
        if text.lower() not in _FLAGS:
            raise OptionError(f"{flag_of(name)} is {shown(text)}", hint="use yes or no")
        return _FLAGS[text.lower()]
    if kind.name in ("file", "names", "tree"):
        return str(folder / text)
    if kind.name in ("weights", "pair"):
        numbers = [_number(name, one, kind.name == "pair") for one in text.split()]
        if kind.name == "weights" and len(numbers) != WEIGHTS_GIVEN:
            raise OptionError(f"{flag_of(name)} is {shown(text)}", hint=f"give {WEIGHTS_GIVEN} numbers")
        return list(checked(name, numbers))
    if kind.name == "whole" or (kind.name == "number" and text not in kind.choices):
        return checked(name, _number(name, text, kind.name == "whole"))
    return checked(name, text)


def _number(name: str, text: str, whole: bool) -> float:
    """Return a number.

    Raises:
        OptionError: the text is none.
    """
    try:
        return int(text) if whole else float(text)
    except ValueError:
        what = "a whole number" if whole else "a number"
        raise OptionError(f"{flag_of(name)} is {shown(text)}, which is not {what}") from None
