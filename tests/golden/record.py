"""File of digests, written by one version of syclade and compared with by all later ones."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.golden.digests import differences, digest_of
from tests.golden.inputs import Inputs
from tests.golden.outcome import carry_out
from tests.golden.run import Run

__all__ = ["DIGESTS", "compare", "read_digests", "record", "versions", "write_digests"]

DIGESTS = Path(__file__).with_name("digests.json")

PACKAGES = ("syclade", "numpy", "numba", "numba-dpex", "dpctl", "scipy")


def record(run: Run, folder: Path, inputs: Inputs) -> dict[str, Any]:
    """Return the digest of a run on native, without a stop.

    Args:
        run: the run.
        folder: a folder that is created for it.
        inputs: the matrices.
    """
    folder.mkdir()
    return digest_of(carry_out(run, "native", folder, inputs, whole=True), run.rounded)


def compare(
    run: Run, device: str, folder: Path, inputs: Inputs, known: dict[str, Any], *, more: str = ""
) -> list[str]:
    """Return how a run differs from the recorded one: a line per file, and per key of JSON, that differs.

    Args:
        run: the run.
        device: the device.
        folder: a folder that is created for it.
        inputs: the matrices.
        known: result of `read_digests`.
        more: further options of the run's last command, for controls.
    """
    if run.name not in known["runs"]:
        return ["not recorded"]
    folder.mkdir()
    found = digest_of(carry_out(run, device, folder, inputs, more=more), run.rounded)
    return list(differences(known["runs"][run.name], found))


def read_digests() -> dict[str, Any]:
    """Return the recorded digests; without the file, no runs."""
    if not DIGESTS.exists():
        return {"recorded_with": {}, "recorded_later": {}, "runs": {}}
    known: dict[str, Any] = json.loads(DIGESTS.read_text())
    return known


def write_digests(known: dict[str, Any]) -> None:
    """Write the file, with one line per file of a run.

    Args:
        known: `recorded_with` (from `versions`), `recorded_later` (names of runs that were recorded after the
            others, each with its commit), `runs` (from `record`, by name).
    """
    runs = []
    for name, files in sorted(known["runs"].items()):
        lines = ",\n".join(f"   {json.dumps(file)}: {json.dumps(report)}" for file, report in files.items())
        runs.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    heads = ("recorded_with", "recorded_later")
    about = [f' "{head}": ' + json.dumps(known[head], indent=1).replace("\n", "\n ") for head in heads]
    DIGESTS.write_text("{\n" + ",\n".join([*about, ' "runs": {\n' + ",\n".join(runs)]) + "\n }\n}\n")


def versions() -> dict[str, Any]:
    """Return the versions in use: the last commit that changed the package, its date, package versions."""
    sources = ("host", "kernels", "fallback", "src")
    report = subprocess.run(
        ["git", "log", "-1", "--format=%h %cs %s", "--", *sources],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"commit": report.stdout.strip(), "python": platform.python_version(), **packages}
