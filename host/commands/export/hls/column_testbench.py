"""Run the column unit on an FPGA or its emulator, and compare the tails with the golden columns.

    python run_columns.py [--trace] [--binary FILE.aocx] [--platform NAME] [--timeout S]

Needs what opencl_device.py needs, which lies beside it. Prints a report as JSON.
Exit status: 0 if all tails have the expected bits, 1 if one differs, 2 for an error, also if a run does not
end.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Any

from syclade.host.commands.export.hls.opencl_device import (
    DEVICE_NAME,
    DRIVER_VERSION,
    Device,
    read_vectors,
    testbench,
)

KERNELS = 4
MOST_LOOPS = 8


def main() -> int:
    """Run with the options of the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the column unit, and compare it with golden columns.")
    parser.add_argument("--trace", action="store_true", help="count iterations of loops (emulator)")
    return testbench("columns", parser, run)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Compute the golden columns, and return the report."""
    sizes = dict(re.findall(r"#define (BLOCK|ELEMENTS) (\d+)", read(options.folder / "parameters.h")))
    arrays = read_vectors(options.folder / "vectors.bin")
    columns = int(arrays["run"][0])
    device = Device(options.platform, options.folder / "columns.cl", KERNELS, options.binary, options.trace)
    count, edges = ctypes.c_ulong(columns), [arrays["edge"], arrays["edge_low"]]
    fetch = [count, arrays["sizes"], arrays["at_least"], arrays["error"], *edges]
    seconds = device.run({"fetch": fetch, "store": [count, *edges, arrays["log_tail"]]}, options.timeout)
    wrong = (arrays["log_tail"] != arrays["expected_log_tail"]).nonzero()[0].tolist()
    return {
        **{name.lower(): int(sizes[name]) for name in ("BLOCK", "ELEMENTS")},
        "columns": columns,
        "sizes": arrays["sizes"].tolist(),
        "at_least": arrays["at_least"].tolist(),
        **(counted(device, options.folder) if options.trace else {}),
        "seconds": seconds,
        "wrong": wrong,
        "as_expected": not wrong,
        "device": device.text(DEVICE_NAME),
        "driver": device.text(DRIVER_VERSION),
    }


def counted(device: Device, folder: Path) -> dict[str, Any]:
    """Return the trials of all blocks, and the iterations of the processing elements' loops."""
    import numpy as np

    out = np.zeros(1 + MOST_LOOPS, dtype=np.uint64)
    device.run({"report": [out]}, 60.0)
    names = re.findall(r"^    ENTRY\((\w+)\)", read(folder / "functions.h"), re.MULTILINE)
    return {"passes": int(out[0]), "iterations": dict(zip(names, out[1:].tolist(), strict=False))}


def read(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # autorun kernels never end
