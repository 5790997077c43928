"""Runs that are killed at random moments, and resumed elsewhere."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.kills.runs import begin, files_of

__all__ = ["Whole", "kill_runs"]


class Whole:
    """Files of runs that nothing disturbs, the same on every device, and the seconds that they take.

    Args:
        kinds: options by kind of run.
        devices: the devices.
        folder: folder for the files.
    """

    def __init__(self, kinds: Mapping[str, tuple[str, ...]], devices: Sequence[str], folder: Path) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.seconds: dict[tuple[str, str], float] = {}
        for kind, device in itertools.product(kinds, devices):
            begun = time.perf_counter()
            found = files_of(kind, kinds[kind], folder / f"{kind}-{device}" / "out", "--device", device)
            self.seconds[kind, device] = time.perf_counter() - begun
            if self.files.setdefault(kind, found) != found:
                raise SystemExit(f"{kind}: {device} and {devices[0]} differ, without a kill")


def kill_runs(
    kinds: Mapping[str, tuple[str, ...]], devices: Sequence[str], count: int, seed: int, folder: Path
) -> int:
    """Kill runs and compare their files once they have been resumed; return the number that differ."""
    generator, equal, resumed = random.Random(seed), 0, 0
    whole = Whole(kinds, devices, folder)
    for number in range(count):
        kind, device = generator.choice(list(kinds)), generator.choice(devices)
        kept = folder / f"kept-{number}"
        _kill_one(kept, kinds[kind], device, generator.uniform(0.2, whole.seconds[kind, device]))
        more = ("--resume", str(kept)) if kept.exists() else ()
        resumed += bool(more)
        elsewhere = ("--device", generator.choice(devices), "--slots", generator.choice("248"))
        found = files_of(kind, kinds[kind], folder / f"end-{number}" / "out", *more, *elsewhere)
        if found == whole.files[kind]:
            equal += 1
        else:
            other = [name for name in found if found[name] != whole.files[kind].get(name)]
            print(f"kill {number} of {kind}: {', '.join(other)} differ", flush=True)
    print(f"{count} kills, {resumed} with a file to go on with: {equal} ended with equal files")
    return count - equal


def _kill_one(kept: Path, options: tuple[str, ...], device: str, wait: float) -> None:
    """Start a run with a checkpoint, and kill it; the checkpoint may not exist yet."""
    process = begin(options, "--checkpoint", str(kept), "--checkpoint-every", "0", "--device", device)
    time.sleep(wait)
    process.kill()
    process.communicate()
