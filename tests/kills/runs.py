"""Runs to disturb, and the files that they must end with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES = ("--fp-rate", "0.001", "--fn-rate", "0.2", "--quiet")
KINDS = {
    "steps": ("--chains", "6", "--steps", "3000000"),
    "rule": ("--method", "chain", "--chains", "8"),
    "search": ("--method", "search"),
    "samples": ("--chains", "6", "--steps", "2000000", "--samples", "500"),
    "learned": ("--chains", "6", "--steps", "400000", "--samples", "500", "--learn-fn", "0.2"),
    "shares": ("--chains", "6", "--steps", "600000", "--samples", "500", "--score", "shares"),
    "leaf": ("--tree", "leaf", "--chains", "6", "--steps", "1000000", "--samples", "500"),
    "report": ("--chains", "6", "--steps", "2000000", "--max-trees", "20", "--report", "--multiqc"),
}
OWN = ("run.json", "report.html")
"""Files with times, which differ between equal runs."""

PROGRAM = "from syclade.__main__ import main; main()"
WITHOUT_LOCKS = f"import syclade.host.ground.atomic as atomic; atomic.fcntl = None; {PROGRAM}"


def shorter(options: tuple[str, ...], times: int) -> tuple[str, ...]:
    """Return the options with fewer steps, for slow devices."""
    long = {
        option: str(int(option) // times) for option in options if option.isdigit() and int(option) > 1000
    }
    return tuple(long.get(option, option) for option in options)


def begin(
    options: tuple[str, ...], *more: str, seed: int = 4, program: str = PROGRAM
) -> subprocess.Popen[str]:
    """Start a run."""
    given = (*RATES, "--seed", str(seed), *options, *more)
    command = [sys.executable, "-c", program, "infer", str(EXAMPLE), *given]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=subprocess.PIPE, text=True)


def files_of(kind: str, options: tuple[str, ...], out: Path, *more: str) -> dict[str, bytes]:
    """Return the files of a run that runs to its end."""
    process = begin(options, "--out", str(out), *more)
    _, written = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a run of {kind} failed: {' '.join(more)}: {written}")
    return content_of(out)


def content_of(out: Path) -> dict[str, bytes]:
    """Return the files that equal runs share, by name; those with times have no content."""
    return {path.name: b"" if path.name in OWN else path.read_bytes() for path in out.iterdir()}
