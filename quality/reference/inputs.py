"""The inputs of a new reference folder: simulated, or matrices of the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from syclade.host.errors import OutputError
from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Matrix, format_matrix
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate
from syclade.host.output.files import write_files
from syclade.quality.reference.folder import ReferenceFolderError

__all__ = ["NamedInput", "Recipe", "read_inputs", "simulate_inputs", "write_inputs"]


@dataclass(frozen=True)
class Recipe:
    """How to simulate inputs.

    Attributes:
        count: how many.
        cells, mutations: their size.
        missing: probability that a value is missing.
        seed: of the first; each further one has the next.
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
        name: NN, its files' name.
        seed: SCITE's seed: the name where it is a number, else its place in the list, from 1.
        matrix: the observed values.
    """

    name: str
    seed: int
    matrix: Matrix


def simulate_inputs(recipe: Recipe, rates: Rates) -> list[NamedInput]:
    """Inputs 01, 02, … as the recipe says.

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
    return simulate(recipe.cells, recipe.mutations, missing=recipe.missing, seed=seed, **rates.told()).matrix


def read_inputs(folder: Path) -> list[NamedInput]:
    """All ``*.csv`` of a folder, by name.

    Raises:
        ReferenceFolderError: there is none.
        MatrixError: one cannot be used.
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
    """Write each matrix as NAME.csv, unless it is there already; names of the inputs that are new.

    Raises:
        OutputError: another matrix is there and `force` is not given, or it cannot be written.
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
