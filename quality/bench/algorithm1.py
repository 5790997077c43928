"""Algorithm 1 in C, compiled here if there is a compiler, to measure in turns with the kernels."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["STORED", "CRun", "has_c_compiler", "run_in_c"]

STORED = {(10_000, 100): 0.0136, (100_000, 300): 0.364, (300_000, 700): 2.341, (1_000_000, 1100): 11.409}
"""Seconds of LoFreq 2.1.5's own C for a column, by (N, K), measured once on a core of another machine."""

FLAGS = ("-O3", "-lm")


@dataclass(frozen=True)
class CRun:
    """Timed run of the C program.

    Attributes:
        seconds: of each repeat.
        log_tail: ln P(X ≥ K).
        compiler: first line of the compiler's version.
    """

    seconds: list[float]
    log_tail: float
    compiler: str


def has_c_compiler() -> bool:
    """Return whether `run_in_c` can run: there is a command `cc`."""
    return shutil.which("cc") is not None


def run_in_c(error: NDArray[np.float64], at_least: int, repeats: int) -> CRun:
    """Compile the program with FLAGS, and run it.

    Args:
        error: float64 (trials,).
        at_least: K.
        repeats: timed runs.

    Raises:
        subprocess.CalledProcessError: the program cannot be compiled, or fails.
    """
    with tempfile.TemporaryDirectory() as folder, as_file(files("syclade.quality") / "data") as data:
        program, numbers = Path(folder) / "algorithm1", Path(folder) / "error"
        source = data / "algorithm1.c"
        subprocess.run(["cc", str(source), "-o", str(program), *FLAGS], check=True, capture_output=True)
        error.tofile(numbers)
        *seconds, log_tail = _output([str(program), str(numbers), str(at_least), str(repeats)]).split()
    return CRun(
        [float(one) for one in seconds], float(log_tail), _output(["cc", "--version"]).splitlines()[0]
    )


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
