"""python -m tests.device.cluster.efficiency: two workers of a thread each, or two threads of one process.

Both do the same chains in turns. The steps per second are those while chains ran; the CPU time is that of all
processes, which other programs on the machine do not change.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
from typing import Any

import numpy as np
import psutil

import syclade
from syclade.host.device.cluster.scheduler import open_scheduler


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those below it."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return float(sum(times.user + times.system for times in (one.cpu_times() for one in processes)))


def measured(matrix: Any, steps: int, chains: int, **where: Any) -> tuple[float, float]:
    """Return million steps per second of a run, and million steps per second of CPU time."""
    before = cpu_seconds()
    result = syclade.infer(
        matrix, fp_rate=0.01, fn_rate=0.2, seed=5, chains=chains, steps=steps, encoding="preorder", **where
    )
    return result.steps_per_second / 1e6, chains * steps / (cpu_seconds() - before) / 1e6


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.device.cluster.efficiency", description=__doc__)
    parser.add_argument("mutations", type=int)
    parser.add_argument("cells", type=int)
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--chains", type=int, default=16)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    os.environ["SYCLADE_THREADS"] = "2"
    matrix = (np.random.default_rng(3).random((options.mutations, options.cells)) < 0.3).astype(np.uint8)
    walls, cpus = [], []
    with open_scheduler("local:2") as executor:
        places: list[dict[str, Any]] = [{"executor": executor}, {"device": "native"}]
        for place in places:  # loads the kernels
            measured(matrix, options.steps // 20, options.chains, **place)
        for turn in range(options.turns):
            found = [measured(matrix, options.steps, options.chains, **place) for place in places]
            (wall, cpu), (wall_alone, cpu_alone) = found
            walls.append(wall / wall_alone)
            cpus.append(cpu / cpu_alone)
            print(
                f"turn {turn}: workers {wall:.3f} Msteps/s, {cpu:.3f} per CPU s; threads {wall_alone:.3f}, "
                f"{cpu_alone:.3f}; ratios {walls[-1]:.3f}, {cpus[-1]:.3f}",
                flush=True,
            )
    geometric = [math.exp(statistics.fmean(map(math.log, ratios))) for ratios in (walls, cpus)]
    print(f"mean ratios: wall {geometric[0]:.3f}, CPU {geometric[1]:.3f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
