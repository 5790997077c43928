"""Run the pipeline on an FPGA or its emulator, and compare the states with the golden vectors.

    python run_pipeline.py [--states C]... [--trace] [--binary FILE.aocx] [--platform NAME] [--timeout S]
                           [--newick FILE]

Needs what opencl_device.py needs, which lies beside it. Prints a report as JSON.
Exit status: 0 if all states are as expected, 1 if one differs, 2 for an error, also if a run does not end.
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
    lines_of_loops,
    read_vectors,
    testbench,
)

STAGES = ("propose", "find_parent", "tree_update", "score_mapping", "reduction")
KERNELS = 1 + len(STAGES)
MOST_EVENTS, MOST_LOOPS = 1 << 16, 64


def main() -> int:
    """Run with the options of the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the pipeline, and compare it with the golden vectors.")
    parser.add_argument("--states", type=int, action="append", help="chain states in flight; may be repeated")
    parser.add_argument(
        "--trace", action="store_true", help="count trips of loops, and stages at once (emulator)"
    )
    parser.add_argument("--newick", type=Path, help="write the best tree of the last run to this file")
    return testbench("pipeline", parser, run)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run the golden inference for each number of states in flight, and return the report."""
    sizes = dict(re.findall(r"#define (\w+) (\d+)", (options.folder / "parameters.h").read_text("utf-8")))
    most = int(sizes["STATES"])
    counts = options.states or [1, most]
    if not all(1 <= count <= most for count in counts):
        raise ValueError(f"STATES in parameters.h allows 1 to {most} states in flight")
    vectors = read_vectors(options.folder / "vectors.bin")
    chains, steps = vectors.pop("run").tolist()
    expected = {name[9:]: vectors.pop(name) for name in list(vectors) if name.startswith("expected_")}
    device = Pipeline(options.platform, options.folder, options.binary, options.trace)
    runs, found = [], vectors
    for count in counts:
        found = {name: array.copy() for name, array in vectors.items()}
        seconds = device.run_io(chains, count, found, options.timeout)
        wrong = [name for name, array in expected.items() if (found[name] != array).any()]
        runs.append(
            {
                "states": count,
                "as_expected": not wrong,
                "wrong": wrong,
                "seconds": seconds,
                "steps_per_second": chains * steps / seconds,
                **(device.traced(count) if options.trace else {}),
            }
        )
    if options.newick:
        options.newick.write_text(best_tree(found, int(sizes["NODES"])), encoding="utf-8")
    return {
        "lines": lines_of_loops(options.folder),
        **{name.lower(): int(sizes[name]) for name in ("NODES", "WORDS", "CELLS", "UNROLL")},
        "as_expected": all(one["as_expected"] for one in runs),
        "chains": chains,
        "steps": steps,
        "runs": runs,
        "device": device.text(DEVICE_NAME),
        "driver": device.text(DRIVER_VERSION),
    }


def best_tree(states: dict[str, Any], nodes: int) -> str:
    """Return the best tree of all chains in Newick format; mutations are 1, 2, … in the order of the matrix.

    Of equal scores, the lowest chain counts. Row y of an ancestor matrix has the ancestors of y, y included:
    the row of its parent is row y without bit y.
    """
    scores = states["best_score"].tolist()
    root = int(states["parameters"][0])
    words = states["best_ancestors"].reshape(len(scores), -1, nodes)[scores.index(max(scores))]
    rows = [
        sum(int(word) << (64 * at) for at, word in enumerate(words[:, node].view("u8")))
        for node in range(root + 1)
    ]
    node_of = {row: node for node, row in enumerate(rows)}
    children: dict[int, list[int]] = {}
    for node in range(root):
        children.setdefault(node_of[rows[node] & ~(1 << node)], []).append(node)

    texts: dict[int, str] = {}
    for node in sorted(range(root + 1), key=lambda node: -rows[node].bit_count()):  # the deepest first
        below = ",".join(texts[child] for child in children.get(node, ()))
        texts[node] = (f"({below})" if below else "") + (str(node + 1) if node < root else "root")
    return texts[root] + ";\n"


class Pipeline(Device):
    """The pipeline on a device; arguments as for `Device`, with the folder in place of the source."""

    def __init__(self, platform: str, folder: Path, binary: Path | None, trace: bool) -> None:
        super().__init__(platform, folder / "pipeline.cl", KERNELS, binary, trace)
        self.loops = list(lines_of_loops(folder))

    def run_io(self, chains: int, states: int, arrays: dict[str, Any], timeout: float) -> float:
        """Run all chains, copy the arrays back, and return the seconds of the run."""
        numbers = [ctypes.c_ulong(chains), ctypes.c_ulong(states)]
        return self.run({"io_process": [*numbers, *arrays.values()]}, timeout)

    def traced(self, states: int) -> dict[str, Any]:
        """Return trips and iterations in a step (for one state in flight), and stages at once."""
        import numpy as np

        out = np.zeros(9 + MOST_EVENTS + 8 * (MOST_LOOPS + 4), dtype=np.uint64)
        self.run({"report": [out]}, 60.0)
        events = out[9 : 9 + int(out[0])].tolist()
        at_once, seen = 0, []
        for event in events:
            at_once += -1 if event % 2 else 1
            seen += [] if event % 2 else [at_once]
        trips = dict(zip(STAGES, out[2:7].tolist(), strict=True)) if states == 1 else None
        counted = self._iterations(out[9 + MOST_EVENTS :].tolist()) if states == 1 else {}
        mean, most = sum(seen) / max(1, len(seen)), max(seen, default=0)
        return {"trips": trips, **counted, "stages_at_once": mean, "most_stages_at_once": most}

    def _iterations(self, counts: list[int]) -> dict[str, dict[str, dict[str, int]]]:
        """Return the iterations of each process's loops in its last step, in their order."""
        loops, longest = {}, {}
        for number, process in enumerate(("io", *STAGES)):
            own = counts[number * MOST_LOOPS : (number + 1) * MOST_LOOPS]
            of_stage = {name: count for name, count in zip(self.loops, own, strict=False) if count}
            received, sent, *most = counts[8 * MOST_LOOPS + 4 * number :][:4]
            loops[process] = {"receive": received, **of_stage, "send": sent}
            longest[process] = dict(zip(("receive", "send"), most, strict=True))
        return {"loops": loops, "longest_transfer": longest}


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # autorun kernels never end
