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
    asked = parser.parse_args()
    if not asked.kills + asked.signals + asked.races:
        asked.kills, asked.signals, asked.races = 30, 100, 200
    kinds = {kind: shorter(options, asked.shorter) for kind, options in KINDS.items()}
    wrong = 0
    with tempfile.TemporaryDirectory() as made:
        folders = {name: Path(made) / name for name in ("kills", "signals", "races", "state")}
        os.environ["XDG_STATE_HOME"] = str(folders["state"])
        for folder in folders.values():
            folder.mkdir()
        if asked.kills:
            wrong += kill_runs(kinds, asked.devices, asked.kills, asked.seed, folders["kills"])
        if asked.signals:
            chosen = {kind: kinds[kind] for kind in asked.kinds}
            wrong += signal_runs(chosen, asked.devices[-1], asked.signals, asked.seed, folders["signals"])
        if asked.races:
            wrong += race_runs(asked.races, asked.seed, folders["races"])
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
