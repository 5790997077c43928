"""Inputs of a new reference folder: simulated, or the user's own matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from syclade.host.data.input.matrix import Matrix, format_matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import write_files
from syclade.quality.reference.folder import ReferenceFolderError

__all__ = ["NamedInput", "Recipe", "read_inputs", "simulate_inputs", "write_inputs"]


@dataclass(frozen=True)
class Recipe:
    """Parameters of simulated inputs.

    Attributes:
        count: number of inputs.
        cells, mutations: size of each input.
        missing: probability that a value is missing.
        seed: seed of the first input; each further input has the next seed.
    """

    count: int
    cells: int
    mutations: int
    missing: float
    seed: int


@dataclass(frozen=True)
class NamedInput:
    """One input.

    Attributes:
        name: NN, the stem of its file names.
        seed: SCITE's seed: the name if it is a number, else its position in the list, from 1.
        matrix: the observed values.
    """

    name: str
    seed: int
    matrix: Matrix


def simulate_inputs(recipe: Recipe, rates: Rates) -> list[NamedInput]:
    """Simulate the inputs 01, 02, … of the recipe.

    Raises:
        OptionError: see `simulate`.
    """
    width = max(2, len(str(recipe.count)))
    return [
        NamedInput(f"{number:0{width}}", number, _simulated(recipe, rates, number))
        for number in range(1, recipe.count + 1)
    ]


def _simulated(recipe: Recipe, rates: Rates, number: int) -> Matrix:
    seed = recipe.seed + number - 1
    return simulate(
        recipe.cells, recipe.mutations, missing=recipe.missing, seed=seed, **rates.to_dict()
    ).matrix


def read_inputs(folder: Path) -> list[NamedInput]:
    """Read all ``*.csv`` files of a folder, sorted by name.

    Raises:
        ReferenceFolderError: there is no such file.
        MatrixError: a file cannot be used.
    """
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        raise ReferenceFolderError(
            f"{folder} has no *.csv", hint="give --inputs a folder of matrices in SCITE's format"
        )
    return [
        NamedInput(path.stem, int(path.stem) if _is_number(path.stem) else place, read_matrix(path))
        for place, path in enumerate(paths, 1)
    ]


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and 0 < int(name) < 2**31


def write_inputs(inputs: Iterable[NamedInput], folder: Path, force: bool) -> list[str]:
    """Write each matrix as NAME.csv, unless the same file exists, and return the names of the new inputs.

    Raises:
        OutputError: a file has another matrix and `force` is not set, or it cannot be written.
    """
    written = []
    for each in inputs:
        place, text = folder / f"{each.name}.csv", format_matrix(each.matrix.values)
        if place.is_file() and place.read_bytes() == text.encode("ascii"):
            continue
        if place.exists() and not force:
            raise OutputError(
                f"{place} is another matrix", hint="choose another directory, or replace it with --force"
            )
        write_files(folder, {place.name: text}, force)
        written.append(each.name)
    return written
