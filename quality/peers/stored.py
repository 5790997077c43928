"""Outcomes of our methods for each input, stored so that an interrupted study continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from syclade.host.ground.files import write_files
from syclade.quality.peers.result import Found, found_of

__all__ = ["stored_or_new"]


def stored_or_new(
    folder: Path | None, name: str, key: Mapping[str, Any], run: Callable[[], Iterable[Found]]
) -> list[Found]:
    """Return the stored outcomes of an input, or new ones, which are stored.

    Args:
        folder: a folder with files of each input; None to store nothing.
        name: name of the file.
        key: plain values that decide the outcomes. Outcomes with another key, and files that are damaged, are
            replaced.
        run: computes the outcomes.

    Raises:
        OutputError: the file cannot be written.
    """
    if folder is None:
        return list(run())
    path = folder / name
    try:
        record = json.loads(path.read_text())
        if record["key"] == key:
            return [found_of(one) for one in record["found"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = list(run())
    text = json.dumps({"key": key, "found": [one.to_dict() for one in found]})
    write_files(folder, {name: text + "\n"}, force=True)
    return found
