"""Strict reader of TOML tables: every error names the file and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from syclade.host.ground.errors import OptionError

__all__ = ["DesignFileError", "Table", "parse_toml"]


class DesignFileError(OptionError):
    """A design file cannot be used.

    Attributes:
        path: path of the file.
        key: dotted key in the file, or None.
    """

    def __init__(
        self, message: str, *, path: str = "", key: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.key = key

    def location(self) -> str:
        """Return ``path: key``, as far as they are known."""
        return self.path if self.key is None else f"{self.path}: {self.key}"


OF_PRESETS = "presets in quality/design/presets show every key"
"""Hint where a key of a design's file is missing."""


class Table:
    """One table of a TOML file; `finish` rejects the keys that were never read.

    Args:
        data: its content.
        path: the file, for messages.
        where: dotted key of the table in the file.
        hint: what to do if a key is missing.
    """

    def __init__(self, data: Mapping[str, Any], path: str, where: str = "", hint: str = OF_PRESETS) -> None:
        self._hint = hint
        self._data = dict(data)
        self._path = path
        self._where = where
        self._taken: set[str] = set()

    def refuse(self, key: str, message: str, hint: str | None = None) -> NoReturn:
        """Raise a `DesignFileError` about one key."""
        full = f"{self._where}.{key}" if self._where else key
        raise DesignFileError(message, path=self._path, key=full, hint=hint)

    def has(self, key: str) -> bool:
        """Return whether the key exists."""
        return key in self._data

    def names(self) -> tuple[str, ...]:
        """Return all keys, in the order of the file."""
        return tuple(self._data)

    def take(self, key: str, default: object = None) -> Any:
        """Return the value unchecked; without a default the key must exist."""
        self._taken.add(key)
        if key not in self._data:
            if default is None:
                self.refuse(key, "this key is missing", self._hint)
            return default
        return self._data[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string."""
        value = self.take(key, default)
        if not isinstance(value, str):
            self.refuse(key, f"expected a text, found {value!r}")
        return value

    def choice(self, key: str, choices: Collection[str], default: str | None = None) -> str:
        """Return a string that is one of the choices."""
        value = self.text(key, default)
        if value not in choices:
            self.refuse(key, f"{value!r} is not one of {', '.join(sorted(choices))}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the strings of a list; none if the key is absent."""
        values = self.take(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.refuse(key, f"expected a list of texts, found {values!r}")
        return tuple(values)

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number, at least 0."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            self.refuse(key, f"expected a number of at least 0, found {value!r}")
        return float(value)

    def count(self, key: str) -> int:
        """Return a whole number, at least 1."""
        value = self.number(key)
        if value < 1 or value != int(value):
            self.refuse(key, f"expected a whole number of at least 1, found {value:g}")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"expected true or false, found {value!r}")
        return value

    def number_or_name(self, key: str, default: float | str) -> float | str:
        """Return a number, or the name of a parameter."""
        return self.text(key) if isinstance(self._data.get(key), str) else self.number(key, _number(default))

    def table(self, key: str, *, optional: bool = False) -> Table:
        """Return a table inside this one; empty if it is optional and absent."""
        value = self.take(key, {} if optional else None)
        if not isinstance(value, dict):
            self.refuse(key, f"expected a table, found {value!r}")
        return Table(value, self._path, f"{self._where}.{key}" if self._where else key, self._hint)

    def tables(self, key: str, *, optional: bool = False) -> list[Table]:
        """Return a list of tables, ``[[key]]`` in the file, named ``key[0]``, ``key[1]``, …"""
        values = self.take(key, [] if optional else None)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.refuse(key, "expected a list of tables")
        if not values and not optional:
            self.refuse(key, "expected at least one table")
        return [Table(value, self._path, f"{key}[{index}]", self._hint) for index, value in enumerate(values)]

    def finish(self) -> None:
        """Reject keys that were never read: a misspelt key must not go unnoticed."""
        for key in self._data:
            if key not in self._taken:
                known = ", ".join(sorted(self._taken))
                self.refuse(key, "unknown key", f"known here: {known}")


def parse_toml(text: str, path: str) -> Table:
    """Parse a TOML text and return its top table.

    Raises:
        DesignFileError: the text is not TOML; the message names line and column.
    """
    try:
        return Table(tomllib.loads(text), path)
    except tomllib.TOMLDecodeError as error:
        raise DesignFileError(f"this is not TOML: {error}", path=path) from error


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else value
