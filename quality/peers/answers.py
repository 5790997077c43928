"""Answers of other programs: run by a separate Python, stored as text, and read again.

A folder has one subfolder per program, with one file per input, `64x63-1001.txt` for seed 1001, or
`scsim-64x63-1001.txt` for another simulator. It has a line of 0 and 1 for each mutation: the cells that have
it. That of a bootstrap has cell trees in Newick format, one per line, with cells 1 to m. So answers of any
program can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.common.files import write_files
from syclade.host.input.textfile import read_text
from syclade.quality.peers.bootstrap import resampled
from syclade.quality.peers.judged import StudyInput
from syclade.quality.race.peers import PEERS, ask

__all__ = ["BOOTSTRAP", "NO_PROGRAMS", "Answers", "Programs"]

BOOTSTRAP = "ScisTree2 bootstrap"

_BOOTSTRAP_SCRIPT = "scistree2_trees.py"


@dataclass(frozen=True)
class Programs:
    """Programs that may be run.

    Attributes:
        python: an interpreter that can import them; None to use stored answers only.
        names: those of `PEERS` to run.
        replicates: resampled inputs of the bootstrap of ScisTree2; 0 for none.
        seconds: time limit of each for an input.
    """

    python: Path | None = None
    names: tuple[str, ...] = ()
    replicates: int = 0
    seconds: float = 600.0


NO_PROGRAMS = Programs()
"""Stored answers only."""


@dataclass(frozen=True)
class Answers:
    """Answers of programs, stored and new ones.

    Attributes:
        folder: folder of stored answers, which new ones are added to; None for none.
        programs: programs that may be run.
    """

    folder: Path | None
    programs: Programs

    @property
    def names(self) -> list[str]:
        """Names of the programs that are run or have a subfolder, without the bootstrap."""
        stored = [] if self.folder is None or not self.folder.is_dir() else sorted(self.folder.iterdir())
        found = [*self.programs.names, *(one.name for one in stored if one.is_dir())]
        return [name for name in dict.fromkeys(found) if name != BOOTSTRAP]

    def cells_of(self, name: str, one: StudyInput) -> NDArray[np.bool_] | None:
        """Return the cells of each mutation: bool, shape (n, m); None without an answer.

        Raises:
            OptionError: the program fails, or takes too long.
            MatrixError: the answer is not a matrix of this size.
        """

        def run(python: Path) -> list[str]:
            rows = ask(name, PEERS[name], python, self.programs.seconds, _question(one), "cells")
            return ["".join(map(str, row)) for row in rows]

        lines, path = self._lines(name, one, run if name in self.programs.names else None)
        if lines is None:
            return None
        shape = one.simulation.matrix.values.shape
        if len(lines) != shape[0] or any(len(line) != shape[1] or set(line) - set("01") for line in lines):
            raise MatrixError(
                f"{name}: expected {shape[0]} lines of {shape[1]} characters 0 or 1",
                path=path,
                hint="a line for each mutation, a character for each cell",
            )
        return np.array([[mark == "1" for mark in line] for line in lines], dtype=np.bool_)

    def trees_of(self, one: StudyInput) -> list[str] | None:
        """Return the cell trees of the bootstrap, in Newick format; None without an answer.

        Raises:
            OptionError: the program fails, or takes too long.
        """
        count = self.programs.replicates

        def run(python: Path) -> list[str]:
            chosen = resampled(one.given.mutations, count, one.given.seed)
            asked = {**_question(one), "resampled": chosen}
            found = ask(BOOTSTRAP, _BOOTSTRAP_SCRIPT, python, self.programs.seconds, asked, "trees")
            return list(found)

        return self._lines(BOOTSTRAP, one, run if count else None)[0]

    def _lines(
        self, name: str, one: StudyInput, run: Callable[[Path], list[str]] | None
    ) -> tuple[list[str] | None, Path | None]:
        """Return the lines of a stored answer, or of a new one, and the file."""
        path = None
        if self.folder is not None:
            path = self.folder / name / f"{one.name}.txt"
            if path.exists():
                return read_text(path, MatrixError).splitlines(), path
        if run is None or self.programs.python is None:
            return None, path
        lines = run(self.programs.python)
        if path is not None:
            write_files(path.parent, {path.name: "".join(f"{line}\n" for line in lines)}, force=True)
        return lines, path


def _question(one: StudyInput) -> dict[str, object]:
    values = one.simulation.matrix.values.tolist()
    return {"matrix": values, "fp_rate": one.given.fp_rate, "fn_rate": one.given.fn_rate}
