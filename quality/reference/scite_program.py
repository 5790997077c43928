"""Runs a user's own SCITE binary on one input, as a process of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from syclade.host.errors import SycladeError
from syclade.host.model.rates import Rates
from syclade.quality.reference.folder import ReferenceFolderError
from syclade.quality.reference.scite_log import logged_score

__all__ = ["Scite", "SciteError", "SciteSettings", "find_scite"]

MOVE_PROBABILITIES = ("0.55", "0.4", "0.05")
TAIL_LINES = 5
"""Lines of standard error that an error shows."""


class SciteError(SycladeError):
    """SCITE cannot be run, or fails."""


@dataclass(frozen=True)
class SciteSettings:
    """What all runs have in common.

    Attributes:
        rates: the error rates.
        chains, steps: SCITE's repetitions, and the length of each.
    """

    rates: Rates
    chains: int
    steps: int


@dataclass(frozen=True)
class Scite:
    """A SCITE binary.

    Attributes:
        path: where it is, absolute.
        digest: SHA-256 of the file, in hexadecimal: SCITE tells no version.
    """

    path: Path
    digest: str

    def arguments(
        self, settings: SciteSettings, matrix: Path, size: tuple[int, int], seed: int, prefix: Path
    ) -> list[str]:
        """The command line for a matrix of `size` (mutations, cells); its files are named after `prefix`."""
        rates = settings.rates
        return [
            *(str(self.path), "-i", str(matrix), "-n", str(size[0]), "-m", str(size[1])),
            *("-r", str(settings.chains), "-l", str(settings.steps)),
            *("-fd", repr(rates.fp_rate), "-ad", repr(rates.fn_rate), *_zygosity(rates), "-e", "0"),
            *("-move_probs", *MOVE_PROBABILITIES, "-max_treelist_size", "1"),
            *("-seed", str(seed), "-o", str(prefix)),
        ]

    def run(self, arguments: list[str], log: Path, tree: Path, stop: threading.Event) -> None:
        """Run it and keep its standard output as `log`, once all is well; nothing there means not done.

        Args:
            arguments: see `arguments`.
            log: where standard output goes.
            tree: file that it must have written.
            stop: ends the run early when set; then nothing is kept.

        Raises:
            SciteError: it cannot be started, fails, or leaves no tree or score.
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
        """The exit status; the process is ended when `stop` is set."""
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
        """What to say of a run that failed: its status, and the end of its standard error."""
        if status < 0:
            what = f"was ended by signal {-status}"
        elif status:
            what = f"failed with exit status {status}"
        else:
            what = f"wrote no {tree.name}"
        tail = complaints.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-TAIL_LINES:]
        said = "; it said:\n  " + "\n  ".join(tail) if tail else ", saying nothing on standard error"
        return SciteError(
            f"SCITE {what} ({' '.join(arguments)}){said}", hint="the runs that are done are kept; try again"
        )


def _zygosity(rates: Rates) -> tuple[str, ...]:
    """The second value of ``-ad``, and ``-cc``, where there are rates for zygosity."""
    if rates.fn_rate_hom is None:
        return ()
    return (repr(rates.fn_rate_hom), "-cc", repr(rates.hom_rate))


def find_scite(path: str | os.PathLike[str]) -> Scite:
    """The binary at a path, or with a name on the search path.

    Raises:
        SciteError: there is none, or it is not executable.
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
