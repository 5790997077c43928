"""Matrices of the golden runs: simulated at run time, bundled with the package, or real data in ../shared."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT, SHARED
from tests.golden.commands import call
from tests.support.formats import write_forms

__all__ = ["INPUTS", "REAL", "Input", "Inputs"]


@dataclass(frozen=True)
class Input:
    """A matrix and the error rates that runs use for it.

    Attributes:
        rates: options of `syclade infer`, `score` and `simulate`.
        simulated: further options of `syclade simulate`; empty for a file that exists already.
        path: the existing file.
    """

    rates: str
    simulated: str = ""
    path: Path | None = None


USUAL = "--fp-rate 0.01 --fn-rate 0.2"
ZYGOSITY = "--fp-rate 0.005 --fn-rate 0.15 --fn-rate-hom 0.1 --hom-rate 0.002"
HOU = "--fp-rate 6.04e-5 --fn-rate 0.21545 --fn-rate-hom 0.21545 --hom-rate 1.299164e-5"

INPUTS = {
    "one": Input(USUAL, "--mutations 1 --cells 5 --seed 1"),
    "tiny": Input(USUAL, "--mutations 6 --cells 9 --missing 0.1 --seed 11"),
    "small": Input(USUAL, "--mutations 12 --cells 20 --missing 0.1 --seed 3"),
    "noisy": Input("--fp-rate 0.05 --fn-rate 0.4", "--mutations 14 --cells 25 --missing 0.3 --seed 5"),
    "clean": Input("--fp-rate 0.001 --fn-rate 0.05", "--mutations 20 --cells 30 --seed 6"),
    "few-cells": Input(USUAL, "--mutations 24 --cells 5 --missing 0.1 --seed 7"),
    "many-cells": Input(USUAL, "--mutations 10 --cells 300 --missing 0.1 --seed 8"),
    "n63": Input(USUAL, "--mutations 63 --cells 64 --missing 0.1 --seed 9"),
    "n64": Input(USUAL, "--mutations 64 --cells 40 --missing 0.1 --seed 10"),
    "n127": Input(USUAL, "--mutations 127 --cells 128 --missing 0.1 --seed 12"),
    "n150": Input(USUAL, "--mutations 150 --cells 70 --missing 0.1 --seed 13"),
    "twos": Input(ZYGOSITY, "--mutations 11 --cells 24 --missing 0.1 --seed 14"),
    "many-twos": Input(ZYGOSITY, "--mutations 30 --cells 40 --missing 0.05 --seed 15"),
    "reads": Input("", "--reads --depth 6 --mutations 10 --cells 24 --seed 21"),
    "specimens": Input(USUAL, "--samples 15,25 --shares 0.5 --mutations 8 --seed 22"),
    "example": Input("--fp-rate 0.001 --fn-rate 0.2", path=ROOT / "host" / "data" / "example" / "matrix.csv"),
    "navin": Input("--fp-rate 1.24e-6 --fn-rate 0.0973", path=SHARED / "data" / "dataNavin.csv"),
    "pat": Input("--fp-rate 3.45e-3 --fn-rate 0.146", path=SHARED / "data" / "pat_2.csv"),
    "hou": Input(HOU, path=SHARED / "data" / "dataHou18.csv"),
}

REAL = frozenset({"navin", "pat", "hou"})
"""Inputs that need ../shared."""

NAMES = [f"gene {number}" for number in range(1, 12)] + ['a "quoted" one']
"""Names of the mutations of `small`, with blanks and quotes."""


class Inputs:
    """Files of inputs, made on first use.

    Args:
        folder: an empty folder for them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, name: str) -> Path:
        """Return the folder of an input: matrix.csv, matrix.geneNames, true_tree.newick."""
        given = INPUTS[name].path
        if given is not None:
            return given.parent
        folder = self._folder / name
        if not folder.exists():
            words = f"simulate {INPUTS[name].rates} {INPUTS[name].simulated} --out".split()
            made = call([*words, str(folder)])
            assert made.status == 0, f"{name}: simulate ended with status {made.status}"
        return folder

    def matrix(self, name: str) -> Path:
        """Return the file of a matrix, in a folder without files of names, which commands would use."""
        alone = self._folder / "alone" / f"{name}.csv"
        if not alone.exists():
            alone.parent.mkdir(exist_ok=True)
            shutil.copy(INPUTS[name].path or self.folder(name) / "matrix.csv", alone)
        return alone

    def forms(self) -> Path:
        """Return a folder with one matrix in every format that syclade reads."""
        folder = self._folder / "forms"
        if not folder.exists():
            folder.mkdir()
            write_forms(folder)
        return folder

    def names(self) -> Path:
        """Return a folder with names of the mutations and cells of `small`."""
        folder = self._folder / "names"
        if not folder.exists():
            folder.mkdir()
            (folder / "mutations").write_text("\n".join(NAMES) + "\n")
            (folder / "cells").write_text("".join(f"cell {number}\n" for number in range(20, 0, -1)))
        return folder
