"""A reference folder: inputs, and what SCITE made of each.

Layout: ``inputs/NN.csv`` (matrices in SCITE's format), ``scite/NN_ml0.newick`` or ``.gv`` (its best tree) and
``scite/NN.log`` (its standard output); ``reference.json`` tells the settings where `syclade quality
reference` made the folder.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from syclade.host.errors import SycladeError

__all__ = ["SETTINGS_FILE", "Reference", "ReferenceFolderError", "ReferenceInput", "read_reference"]

SETTINGS_FILE = "reference.json"

Fallback = TypeVar("Fallback", float, None)


class ReferenceFolderError(SycladeError):
    """A reference folder cannot be used."""


@dataclass(frozen=True)
class ReferenceInput:
    """One input and SCITE's results.

    Attributes:
        name: NN.
        matrix: the file of the observed values.
        tree: the file of SCITE's best tree.
        log: SCITE's standard output.
    """

    name: str
    matrix: Path
    tree: Path
    log: Path


@dataclass(frozen=True)
class Reference:
    """A folder's content.

    Attributes:
        folder: where it is.
        inputs: in the order of their names.
        settings: what reference.json says, empty without one.
    """

    folder: Path
    inputs: tuple[ReferenceInput, ...]
    settings: dict[str, Any]

    def rate(self, name: str, given: float | None, fallback: Fallback) -> float | Fallback:
        """An error rate of SCITE's runs: as reference.json has it, else as given, else the fallback.

        Raises:
            ReferenceFolderError: reference.json and the user say different things.
        """
        recorded = self.settings.get(name)
        if recorded is None:
            return fallback if given is None else given
        if given is not None and given != recorded:
            option = "--" + name.replace("_", "-")
            raise ReferenceFolderError(
                f"{option} is {given}, but {self.folder / SETTINGS_FILE} says {recorded}",
                hint=f"leave {option} away",
            )
        return float(recorded)


def read_reference(folder: str | os.PathLike[str]) -> Reference:
    """Find the files of a reference folder; they are read later.

    Raises:
        ReferenceFolderError: there is no such folder, no input, a file is missing, or reference.json is
            damaged.
    """
    place = Path(folder)
    matrices = {path.stem: path for path in sorted((place / "inputs").glob("*.csv"))}
    if not matrices:
        raise ReferenceFolderError(
            f"{place} has no inputs/*.csv", hint="`syclade quality reference` makes a reference folder"
        )
    settings = _read_settings(place / SETTINGS_FILE)
    names = settings.get("inputs", list(matrices))
    if len(names) < 2:
        raise ReferenceFolderError(f"{place} has one input only", hint="a comparison needs two or more")
    return Reference(place, tuple(_find_input(place, name) for name in names), settings)


def _find_input(place: Path, name: str) -> ReferenceInput:
    """The files of one input; all must be there."""
    matrix, log = place / "inputs" / f"{name}.csv", place / "scite" / f"{name}.log"
    trees = [place / "scite" / f"{name}_ml0.{ending}" for ending in ("newick", "gv")]
    tree = next((path for path in trees if path.is_file()), trees[0])
    absent = [str(path.relative_to(place)) for path in (matrix, tree, log) if not path.is_file()]
    if absent:
        raise ReferenceFolderError(
            f"{place} has no {', '.join(absent)}",
            hint="`syclade quality reference` goes on where it was interrupted",
        )
    return ReferenceInput(name, matrix, tree, log)


def _read_settings(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ReferenceFolderError(f"{path} cannot be read: {problem}") from problem
    if not isinstance(settings, dict):
        raise ReferenceFolderError(f"{path} is no JSON object")
    return settings
