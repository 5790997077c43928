"""Compute exported tails on a SYCL device. Needs only dpctl, numpy, the Intel runtimes, and load_design.py.

    python load_tails.py [--device cpu|fpga-emu|FILTER] [--kernel grouped|tilted|blocked]

Reads manifest.json, problem.npz and the SPIR-V beside it, computes ln P(X >= K) of every column, one column
in each slot, and prints the results as JSON. Exit status: 0 if they have the bits that manifest.json expects,
1 if they differ, 2 for an error.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from pathlib import Path

from load_design import KINDS, Design, Entry, checked, start  # type: ignore[import-not-found] # beside it


def main() -> int:
    """Compute the tails with the options of the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Compute the exported tails on a SYCL device.")
    parser.add_argument("--device", default="cpu", help="cpu, fpga-emu or a dpctl filter string")
    parser.add_argument("--kernel", default="grouped", choices=("grouped", "tilted", "blocked"))
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="the exported folder")
    options = parser.parse_args()
    try:
        report = run(options.folder, KINDS.get(options.device, options.device), options.kernel)
    except Exception as error:
        print(f"load_tails: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2))
    return 0 if report["as_expected"] else 1


def run(folder: Path, device: str, kernel: str) -> Entry:
    """Compute all tails, and return the report."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    problem = manifest["problem"]
    dpctl = start()
    import numpy as np

    with np.load(io.BytesIO(checked(folder, problem)), allow_pickle=False) as file:
        names = [name for name in file.files if name.startswith(f"{kernel}.")]
        arrays = {name.removeprefix(f"{kernel}."): file[name] for name in names}
    described = [one for one in manifest["kernels"] if one["name"] == f"tails_{kernel}"]
    symbols = problem["sizes"][kernel]
    design = Design(folder, described, dpctl.SyclQueue(device), problem["columns"], arrays, symbols)
    loaded = design.load(f"tails_{kernel}")
    started = time.perf_counter()
    design.launch(*loaded)
    ended = time.perf_counter()
    found = design.read("log_tail").tolist()
    return {
        "as_expected": found == problem["expected"][kernel],
        "log_tails": found,
        "kernel": kernel,
        "columns": problem["columns"],
        "seconds": ended - started,
        "device": design.queue.sycl_device.name.strip(),
        "driver": design.queue.sycl_device.driver_version,
        "dpctl": dpctl.__version__,
        "numpy": np.__version__,
    }


if __name__ == "__main__":
    sys.exit(main())
