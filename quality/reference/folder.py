"""Reference folder: inputs, and SCITE's results for each.

Layout: ``inputs/NN.csv`` (matrices in SCITE's format), ``scite/NN_ml0.newick`` or ``.gv`` (SCITE's best tree)
and ``scite/NN.log`` (SCITE's standard output). ``reference.json`` has the settings if `syclade quality
reference` made the folder. Other folders may be flat, with all files side by side and trees that are also
called ``NN.newick`` or ``NN.gv``, have no logs at all, and give each input its error rates in ``rates.tsv``.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import SycladeError

__all__ = [
    "RATES_FILE",
    "SETTINGS_FILE",
    "Reference",
    "ReferenceFolderError",
    "ReferenceInput",
    "read_reference",
]

SETTINGS_FILE = "reference.json"
RATES_FILE = "rates.tsv"
"""Error rates of each input: a line of column names (input, fp_rate, fn_rate), then one for each input."""

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
        log: file of SCITE's standard output; None if the folder has no logs.
        rates: error rates of this input; None if all have the same.
    """

    name: str
    matrix: Path
    tree: Path
    log: Path | None
    rates: Rates | None = None


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
    inputs, results = (place / name if (place / "inputs").is_dir() else place for name in ("inputs", "scite"))
    matrices = {path.stem: path for path in sorted(inputs.glob("*.csv"))}
    if not matrices:
        raise ReferenceFolderError(
            f"{place} has no inputs/*.csv", hint="`syclade quality reference` makes a reference folder"
        )
    settings = _read_settings(place / SETTINGS_FILE)
    names = settings.get("inputs", list(matrices))
    if len(names) < 2:
        raise ReferenceFolderError(f"{place} has one input only", hint="a comparison needs two or more")
    logged = bool(settings) or any((results / f"{name}.log").is_file() for name in names)
    rates = _read_rates(place / RATES_FILE, names)
    found = (_find_input(place, inputs, results, name, logged, rates.get(name)) for name in names)
    return Reference(place, tuple(found), settings)


def _find_input(
    place: Path, inputs: Path, results: Path, name: str, logged: bool, rates: Rates | None
) -> ReferenceInput:
    """Return the files of one input; all must exist, the log only if there are logs."""
    matrix, log = inputs / f"{name}.csv", results / f"{name}.log"
    endings = ("_ml0.newick", "_ml0.gv", ".newick", ".gv")
    trees = [results / f"{name}{ending}" for ending in endings]
    tree = next((path for path in trees if path.is_file()), trees[0])
    needed = (matrix, tree, log) if logged else (matrix, tree)
    absent = [str(path.relative_to(place)) for path in needed if not path.is_file()]
    if absent:
        raise ReferenceFolderError(
            f"{place} has no {', '.join(absent)}",
            hint="`syclade quality reference` resumes where it was interrupted",
        )
    return ReferenceInput(name, matrix, tree, log if logged else None, rates)


def _read_rates(path: Path, names: Sequence[str]) -> dict[str, Rates]:
    """Return the error rates of all inputs by name; none if there is no such file."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = {row["input"]: row for row in csv.DictReader(lines, delimiter="\t")}
        found = {name: Rates(float(rows[name]["fp_rate"]), float(rows[name]["fn_rate"])) for name in names}
    except (OSError, UnicodeDecodeError, csv.Error, TypeError, ValueError) as problem:
        raise ReferenceFolderError(f"{path} cannot be read: {problem}") from problem
    except KeyError as problem:
        raise ReferenceFolderError(
            f"{path} has no {problem.args[0]}",
            hint="it needs the columns input, fp_rate and fn_rate, and a line for each input",
        ) from problem
    return found


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
