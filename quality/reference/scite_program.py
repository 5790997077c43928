"""Run a user's own SCITE binary on one input, in a subprocess."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import SycladeError
from syclade.quality.reference.folder import ReferenceFolderError
from syclade.quality.reference.scite_log import logged_score

__all__ = ["Scite", "SciteError", "SciteSettings", "find_scite"]

MOVE_PROBABILITIES = ("0.55", "0.4", "0.05")
TAIL_LINES = 5
"""Number of lines of standard error in an error message."""


class SciteError(SycladeError):
    """SCITE cannot be run or fails."""


@dataclass(frozen=True)
class SciteSettings:
    """Settings common to all runs.

    Attributes:
        rates: the error rates.
        chains, steps: number of SCITE's repetitions, and steps of each.
    """

    rates: Rates
    chains: int
    steps: int


@dataclass(frozen=True)
class Scite:
    """A SCITE binary.

    Attributes:
        path: absolute path of the binary.
        digest: SHA-256 of the file, in hexadecimal, because SCITE reports no version.
    """

    path: Path
    digest: str

    def arguments(
        self, settings: SciteSettings, matrix: Path, size: tuple[int, int], seed: int, prefix: Path
    ) -> list[str]:
        """Return the command line for a matrix of `size` (mutations, cells); `prefix` names the output."""
        rates = settings.rates
        return [
            *(str(self.path), "-i", str(matrix), "-n", str(size[0]), "-m", str(size[1])),
            *("-r", str(settings.chains), "-l", str(settings.steps)),
            *("-fd", repr(rates.fp_rate), "-ad", repr(rates.fn_rate), *_zygosity(rates), "-e", "0"),
            *("-move_probs", *MOVE_PROBABILITIES, "-max_treelist_size", "1"),
            *("-seed", str(seed), "-o", str(prefix)),
        ]

    def run(self, arguments: list[str], log: Path, tree: Path, stop: threading.Event) -> None:
        """Run SCITE and store its standard output as `log` after success; without that file it is not done.

        Args:
            arguments: the command line, from `arguments`.
            log: path for the standard output.
            tree: file that SCITE must have written.
            stop: ends the run early when set; then no log is stored.

        Raises:
            SciteError: SCITE cannot be started, fails, or writes no tree or score.
        """
        passing, complaints = log.with_name(f".{log.name}.tmp"), log.with_name(f".{log.name}.stderr")
        try:
            with passing.open("wb") as output, complaints.open("wb") as errors:
                status = self._wait(arguments, output.fileno(), errors.fileno(), stop)
            if stop.is_set():
                return
            if status != 0 or not tree.is_file():
                raise self._failure(arguments, status, tree, complaints)
            try:
                logged_score(passing)
            except ReferenceFolderError as problem:
                raise SciteError(
                    f"SCITE ended well but printed no score ({' '.join(arguments)})",
                    hint="is this SCITE? its standard output ends with 'best log score for tree:'",
                ) from problem
            passing.replace(log)
        finally:
            passing.unlink(missing_ok=True)
            complaints.unlink(missing_ok=True)

    def _wait(self, arguments: list[str], output: int, errors: int, stop: threading.Event) -> int:
        """Run the command and return its exit status; kill the process when `stop` is set."""
        try:
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        except OSError as problem:
            raise SciteError(
                f"{self.path} does not start: {problem.strerror or problem}",
                hint="give --scite a SCITE binary that was built for this machine",
            ) from problem
        with process:
            while True:
                try:
                    return process.wait(timeout=0.1)
                except subprocess.TimeoutExpired:
                    if stop.is_set():
                        process.kill()

    def _failure(self, arguments: list[str], status: int, tree: Path, complaints: Path) -> SciteError:
        """Return the error for a failed run, with its status and the end of its standard error."""
        if status < 0:
            what = f"was ended by signal {-status}"
        elif status:
            what = f"failed with exit status {status}"
        else:
            what = f"wrote no {tree.name}"
        tail = complaints.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-TAIL_LINES:]
        said = "; its last lines:\n  " + "\n  ".join(tail) if tail else ", with nothing on standard error"
        return SciteError(
            f"SCITE {what} ({' '.join(arguments)}){said}", hint="finished runs are stored; try again"
        )


def _zygosity(rates: Rates) -> tuple[str, ...]:
    """Return the second value of ``-ad``, and ``-cc``, if there are rates for zygosity."""
    if rates.fn_rate_hom is None:
        return ()
    return (repr(rates.fn_rate_hom), "-cc", repr(rates.hom_rate))


def find_scite(path: str | os.PathLike[str]) -> Scite:
    """Find the binary at a path, or by name on the search path.

    Raises:
        SciteError: there is no such program, or it is not executable.
    """
    found = shutil.which(os.fspath(path))
    if found is None:
        there = Path(path).is_file()
        raise SciteError(
            f"{path} is not executable" if there else f"there is no program {path}",
            hint="build SCITE (https://github.com/cbg-ethz/SCITE) and give the binary's path with --scite",
        )
    binary = Path(found).resolve()
    return Scite(binary, hashlib.sha256(binary.read_bytes()).hexdigest())
