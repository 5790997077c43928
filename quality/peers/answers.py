"""Answers of other programs: run by a separate Python, stored as text, and read again.

A folder has one subfolder per program, with one file per input, `64x63-1001.txt` for seed 1001, or
`scsim-64x63-1001.txt` for another simulator. It has a line of 0 and 1 for each mutation: the cells that have
it. That of a bootstrap has cell trees in Newick format, one per line, with cells 1 to m. So answers of any
program can be compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.source import read_text
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.files import write_files
from syclade.quality.peers.bootstrap import resampled
from syclade.quality.peers.judged import StudyInput
from syclade.quality.race.peers import PEERS, ask

__all__ = ["BOOTSTRAP", "COMPASS", "NO_PROGRAMS", "Answers", "Programs"]

BOOTSTRAP = "ScisTree2 bootstrap"

COMPASS = "COMPASS"

_BOOTSTRAP_SCRIPT = "scistree2_trees.py"

_COMPASS_CHAINS, _COMPASS_STEPS = 4, 5000
"""As in its documentation."""


@dataclass(frozen=True)
class Programs:
    """Programs that may be run.

    Attributes:
        python: an interpreter that can import them; None to use stored answers only.
        names: those of `PEERS` to run.
        replicates: resampled inputs of the bootstrap of ScisTree2; 0 for none.
        compass: the program COMPASS, which is given numbers of reads; None not to run it.
        seconds: time limit of each for an input.
    """

    python: Path | None = None
    names: tuple[str, ...] = ()
    replicates: int = 0
    compass: Path | None = None
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
        own = () if self.programs.compass is None else (COMPASS,)
        found = [*self.programs.names, *own, *(one.name for one in stored if one.is_dir())]
        return [name for name in dict.fromkeys(found) if name != BOOTSTRAP]

    def cells_of(self, name: str, one: StudyInput) -> NDArray[np.bool_] | None:
        """Return the cells of each mutation: bool, shape (n, m); None without an answer.

        Raises:
            OptionError: the program fails, takes too long, or needs reads that the input does not have.
            MatrixError: the answer is not a matrix of this size.
        """
        lines, path = self._lines(name, one, self._program_named(name, one))
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
        count, python = self.programs.replicates, self.programs.python

        def run() -> list[str]:
            assert python is not None
            chosen = resampled(one.given.mutations, count, one.given.seed)
            options = {**_question(one), "resampled": chosen}
            found = ask(BOOTSTRAP, _BOOTSTRAP_SCRIPT, python, self.programs.seconds, options, "trees")
            return list(found)

        return self._lines(BOOTSTRAP, one, run if count and python is not None else None)[0]

    def _program_named(self, name: str, one: StudyInput) -> Callable[[], list[str]] | None:
        """Return the function that runs a program on an input; None if it may not be run."""
        programs = self.programs
        if name == COMPASS and programs.compass is not None:
            script, python, question = "compass.py", Path(sys.executable), _reads_of(one, programs.compass)
        elif name in programs.names and programs.python is not None:
            script, python, question = PEERS[name], programs.python, _question(one)
        else:
            return None

        def run() -> list[str]:
            rows = ask(name, script, python, programs.seconds, question, "cells")
            return ["".join(map(str, row)) for row in rows]

        return run

    def _lines(
        self, name: str, one: StudyInput, run: Callable[[], list[str]] | None
    ) -> tuple[list[str] | None, Path | None]:
        """Return the lines of a stored answer, or of a new one, and the file."""
        path = None
        if self.folder is not None:
            path = self.folder / name / f"{one.name}.txt"
            if path.exists():
                return read_text(path, MatrixError).splitlines(), path
        if run is None:
            return None, path
        lines = run()
        if path is not None:
            write_files(path.parent, {path.name: "".join(f"{line}\n" for line in lines)}, force=True)
        return lines, path


def _question(one: StudyInput) -> dict[str, object]:
    values = one.simulation.matrix.values.tolist()
    return {"matrix": values, "fp_rate": one.given.fp_rate, "fn_rate": one.given.fn_rate}


def _reads_of(one: StudyInput, program: Path) -> dict[str, object]:
    """Return what COMPASS is given: numbers of reads, and the rate with which an allele drops out.

    A heterozygous mutation is missed if only its allele drops out: β = d (1 - d) / (1 - d²).

    Raises:
        OptionError: the input has no reads.
    """
    if one.reads is None:
        raise OptionError("COMPASS needs numbers of reads", hint="give --simulator reads, or scsim")
    return {
        "reads": one.reads.tolist(),
        "dropout": round(one.given.fn_rate / (1 - one.given.fn_rate), 4),
        "chains": _COMPASS_CHAINS,
        "steps": _COMPASS_STEPS,
        "program": str(program.resolve()),
    }
