"""Reference folder: inputs, and SCITE's results for each.

Layout: ``inputs/NN.csv`` (matrices in SCITE's format), ``scite/NN_ml0.newick`` or ``.gv`` (SCITE's best tree)
and ``scite/NN.log`` (SCITE's standard output). ``reference.json`` has the settings if `syclade quality
reference` made the folder.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from syclade.host.ground.errors import SycladeError

__all__ = ["SETTINGS_FILE", "Reference", "ReferenceFolderError", "ReferenceInput", "read_reference"]

SETTINGS_FILE = "reference.json"

Fallback = TypeVar("Fallback", float, None)


class ReferenceFolderError(SycladeError):
    """A reference folder cannot be used."""


@dataclass(frozen=True)
class ReferenceInput:
    """One input and SCITE's results.

    Attributes:
        name: NN, the stem of the file names.
        matrix: file of the observed values.
        tree: file of SCITE's best tree.
        log: file of SCITE's standard output.
    """

    name: str
    matrix: Path
    tree: Path
    log: Path


@dataclass(frozen=True)
class Reference:
    """Content of a reference folder.

    Attributes:
        folder: path of the folder.
        inputs: the inputs, in the order of reference.json, else sorted by name.
        settings: content of reference.json; empty without that file.
    """

    folder: Path
    inputs: tuple[ReferenceInput, ...]
    settings: dict[str, Any]

    def rate(self, name: str, given: float | None, fallback: Fallback) -> float | Fallback:
        """Return an error rate of SCITE's runs: from reference.json, else as given, else the fallback.

        Raises:
            ReferenceFolderError: reference.json and `given` differ.
        """
        recorded = self.settings.get(name)
        if recorded is None:
            return fallback if given is None else given
        if given is not None and given != recorded:
            option = "--" + name.replace("_", "-")
            raise ReferenceFolderError(
                f"{option} is {given}, but {self.folder / SETTINGS_FILE} has {recorded}",
                hint=f"leave {option} out",
            )
        return float(recorded)


def read_reference(folder: str | os.PathLike[str]) -> Reference:
    """Find the files of a reference folder; their content is read later.

    Raises:
        ReferenceFolderError: there is no such folder, it has fewer than two inputs, a file is missing, or
            reference.json is damaged.
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
    """Return the files of one input; all must exist."""
    matrix, log = place / "inputs" / f"{name}.csv", place / "scite" / f"{name}.log"
    trees = [place / "scite" / f"{name}_ml0.{ending}" for ending in ("newick", "gv")]
    tree = next((path for path in trees if path.is_file()), trees[0])
    absent = [str(path.relative_to(place)) for path in (matrix, tree, log) if not path.is_file()]
    if absent:
        raise ReferenceFolderError(
            f"{place} has no {', '.join(absent)}",
            hint="`syclade quality reference` resumes where it was interrupted",
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
        raise ReferenceFolderError(f"{path} is not a JSON object")
    return settings
