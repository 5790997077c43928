"""Arrays of values that nobody may change."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["freeze_arrays"]


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
