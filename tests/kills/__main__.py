"""Disturb runs at random moments, and check that no result is lost and every file is right."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.kills.killed import kill_runs
from tests.kills.races import race_runs
from tests.kills.runs import KINDS, shorter
from tests.kills.signalled import signal_runs

SIGNALLED = ("search", "samples", "learned", "leaf", "report")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=0, metavar="N", help="kill N runs, and resume them")
    parser.add_argument("--signals", type=int, default=0, metavar="N", help="signal N runs of each kind")
    parser.add_argument("--races", type=int, default=0, metavar="N", help="race N pairs of runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", nargs="+", default=["cpu", "native"])
    parser.add_argument(
        "--kinds", nargs="+", default=[*SIGNALLED], choices=[*KINDS], help="of signalled runs"
    )
    parser.add_argument("--shorter", type=int, default=1, help="divides the steps, for numpy")
    arguments = parser.parse_args()
    if not arguments.kills + arguments.signals + arguments.races:
        arguments.kills, arguments.signals, arguments.races = 30, 100, 200
    kinds = {kind: shorter(options, arguments.shorter) for kind, options in KINDS.items()}
    wrong = 0
    with tempfile.TemporaryDirectory() as made:
        folders = {name: Path(made) / name for name in ("kills", "signals", "races", "state")}
        os.environ["XDG_STATE_HOME"] = str(folders["state"])
        for folder in folders.values():
            folder.mkdir()
        if arguments.kills:
            wrong += kill_runs(kinds, arguments.devices, arguments.kills, arguments.seed, folders["kills"])
        if arguments.signals:
            chosen = {kind: kinds[kind] for kind in arguments.kinds}
            wrong += signal_runs(
                chosen, arguments.devices[-1], arguments.signals, arguments.seed, folders["signals"]
            )
        if arguments.races:
            wrong += race_runs(arguments.races, arguments.seed, folders["races"])
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
