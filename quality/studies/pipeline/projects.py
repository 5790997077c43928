"""Export a project of the pipeline into an empty folder, build it, and run its testbench."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import syclade
from syclade.host.ground.errors import OptionError

__all__ = ["FLAVOURS", "ROOT", "Project", "break_stage"]

FLAVOURS = ("opencl", "vitis", "oneapi")

ROOT = Path(__file__).resolve().parents[3]
_STAND_INS = ROOT / "tests" / "commands" / "export" / "hls" / "stubs"

_ACCEPT, _ACCEPT_WRONGLY = "proposed - current + own_threshold >= 0", "proposed - current >= 0"


@dataclass(frozen=True)
class Project:
    """A project in a folder.

    Attributes:
        flavour: opencl runs on the FPGA emulator, vitis and oneapi as threads, compiled by g++.
        folder: the folder that `syclade export` wrote.
        headers: headers for g++: AMD's or stand-ins for vitis, stand-ins for oneapi; None for opencl.
    """

    flavour: str
    folder: Path
    headers: Path | None

    @classmethod
    def exported(cls, flavour: str, folder: Path, headers: Path | None = None, **options: Any) -> Project:
        """Export a project.

        Args:
            flavour: one of FLAVOURS.
            folder: an empty folder, or none yet.
            headers: folder with AMD's headers, for vitis; None for the stand-ins of the tests.
            options: as for `syclade.export`.

        Raises:
            OptionError: the stand-ins are missing, as this is no clone; or as for `syclade.export`.
        """
        if flavour == "opencl":
            own = None
        else:
            own = headers if flavour == "vitis" and headers is not None else _STAND_INS / flavour
            if not own.is_dir():
                raise OptionError(f"there are no headers in {own}", hint="run this from a clone")
        syclade.export(folder, hls=flavour, **options)
        return cls(flavour, folder, own)

    def build(self, *, optimised: bool = True) -> float:
        """Compile the project and return the seconds; the driver compiles opencl when it runs.

        Args:
            optimised: whether its speed matters; without, g++ takes half as long.

        Raises:
            OptionError: it does not compile; the message has the compiler's first lines.
        """
        if self.headers is None:
            return 0.0
        began = time.perf_counter()
        flags = [
            "-std=c++17",
            "-O2" if optimised else "-O0",
            "-pthread",
            "-Wno-unknown-pragmas",
            "-Wno-attributes",
            "-DCOUNT",
        ]
        command = ["g++", *flags, f"-I{self.headers}", "pipeline.cpp", "-o", "simulation"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OptionError(f"{self.folder}: g++ fails", hint=done.stderr[:1000])
        return time.perf_counter() - began

    def run(self, states: Sequence[int], *, trace: bool = False, timeout: float = 600.0) -> dict[str, Any]:
        """Run the testbench with these numbers of states in flight, one after another; return its report.

        Args:
            states: numbers of states.
            trace: count stages at once on the emulator, too, which makes it slower; threads always count.
            timeout: seconds for each run.

        Raises:
            OptionError: a run does not end in time, or ends without a report.
        """
        numbers = [str(one) for one in states]
        if self.flavour == "opencl":
            given = [word for one in numbers for word in ("--states", one)]
            script = [sys.executable, "run_pipeline.py", "--timeout", str(timeout)]
            command = [*script, *given, *(["--trace"] if trace else [])]
        else:
            command = ["./simulation", *numbers]
        # The emulator needs a thread for each kernel, whatever a variable of its driver says.
        environment = {**os.environ, "DPCPP_CPU_NUM_CUS": "1"}
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                timeout=60 + timeout * len(numbers),
            )
        except subprocess.TimeoutExpired as error:
            raise OptionError(f"{self.folder}: the testbench does not end with {numbers} states") from error
        if done.returncode not in (0, 1) or not done.stdout:
            raise OptionError(f"{self.folder}: the testbench fails", hint=done.stderr[-1000:])
        report: dict[str, Any] = json.loads(done.stdout)
        assert report["as_expected"] == (done.returncode == 0)
        return report


def break_stage(project: Project) -> None:
    """Change the acceptance test in a project's sources: it compares scores, without the random threshold."""
    path = project.folder / "stages.h"
    text = path.read_text(encoding="utf-8")
    assert text.count(_ACCEPT) == 1
    path.write_text(text.replace(_ACCEPT, _ACCEPT_WRONGLY), encoding="utf-8")
