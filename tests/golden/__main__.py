"""Record the golden runs, or compare runs with the recorded ones."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.golden.inputs import Inputs
from tests.golden.record import DIGESTS, compare, read_digests, record, versions, write_digests
from tests.golden.run import DEVICES
from tests.golden.tables import RUNS


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--record", action="store_true", help=f"run on native, and write {DIGESTS.name}")
    task.add_argument("--compare", action="store_true", help="run, and compare with the digests")
    task.add_argument("--list", action="store_true", help="print names, devices and command lines")
    parser.add_argument("--device", choices=DEVICES, default="native", help="for --compare")
    parser.add_argument("--only", metavar="NAME", action="append", help="runs whose name begins so")
    options = parser.parse_args()
    wanted = tuple(options.only or [""])
    chosen = [run for run in RUNS.values() if run.name.startswith(wanted)]
    if not chosen:
        parser.error(f"no run begins with {' or '.join(wanted)}")
    if options.list:
        for run in chosen:
            print(f"{run.name} ({', '.join(run.devices)})", *run.commands, sep="\n    ")
        return
    known = read_digests()
    differ = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        inputs = Inputs(folder)
        for run in chosen:
            device = "native" if options.record else options.device
            if device not in run.devices:
                continue
            begun = time.perf_counter()
            if options.record:
                known["runs"][run.name] = record(run, folder / f"run {run.name}", inputs)
                found = []
            else:
                found = compare(run, device, folder / f"run {run.name}", inputs, known)
            differ += bool(found)
            ended = "differs" if found else "recorded" if options.record else "equal"
            print(
                f"{run.name}: {ended}, {time.perf_counter() - begun:.1f} s", *found, sep="\n    ", flush=True
            )
    if options.record:
        report = versions()
        if options.only:
            known["recorded_later"] |= {run.name: report["commit"] for run in chosen}
        else:
            known |= {"recorded_with": report, "recorded_later": {}}
            known["runs"] = {name: known["runs"][name] for name in RUNS}
        write_digests(known)
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
