"""Description of the machine for the report of a measurement."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from syclade.host.device.device import usable_cores

__all__ = ["machine"]

CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, str | int]:
    """Return the processor's name, its number of cores, those that this process may use, and the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "system": platform.platform(),
    }


def _processor() -> str:
    """Return the processor's name from Linux, else from Python."""
    try:
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
