"""Failing runtimes: scripts that replace the Python that probes the devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["BOTH_WORK", "CPU", "CPU_STARTS", "CPU_WORKS", "GPU", "GPU_WORKS", "LISTING", "FakeProbe"]

CPU: dict[str, Any] = {"filter": "opencl:cpu:0", "name": "Some CPU", "kind": "cpu", "driver": "1", "units": 2}
GPU: dict[str, Any] = {**CPU, "filter": "opencl:gpu:0", "name": "Some GPU", "kind": "gpu"}
LISTING = f"echo '{json.dumps({'devices': [CPU, GPU]})}'\n"
CPU_STARTS = """echo '{"trying": "opencl:cpu:0"}'\n"""
CPU_WORKS = CPU_STARTS + """echo '{"tried": "opencl:cpu:0", "reason": null}'\n"""
GPU_WORKS = """echo '{"trying": "opencl:gpu:0"}'; echo '{"tried": "opencl:gpu:0", "reason": null}'\n"""
BOTH_WORK = LISTING + CPU_WORKS + GPU_WORKS


class FakeProbe:
    """Replacement of the Python that probes; the script's arguments are the filters."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "python"
        self.count = folder / "count"

    def does(self, body: str) -> None:
        self.script.write_text(f'#!/bin/sh\necho "$*" >> {self.count}\nshift 3\n{body}')
        self.script.chmod(0o755)

    @property
    def calls(self) -> list[list[str]]:
        """Return the filters of every call."""
        if not self.count.exists():
            return []
        return [line.split()[3:] for line in self.count.read_text().splitlines()]
