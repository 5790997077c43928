"""Batches that are killed at random moments, and run again, whole or in parts."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.answer.batch.cohort import OPTIONS, content_of, write_cohort
from tests.kills.runs import PROGRAM

__all__ = ["kill_batches"]


def kill_batches(count: int, seed: int, folder: Path, *, matrices: int = 6, parts: int = 1) -> int:
    """Kill batches at random moments and run them again; return the number whose files differ.

    Args:
        count: number of batches.
        seed: of the moments.
        folder: folder for the files.
        matrices: matrices of a batch.
        parts: parts that run at the same time, all of which are killed; 1 for the whole batch.
    """
    generator = random.Random(seed)
    paths = write_cohort(folder / "in", matrices)
    begun = time.perf_counter()
    _run(folder / "whole", paths, 1)
    seconds = time.perf_counter() - begun
    whole, equal = content_of(folder / "whole"), 0
    for number in range(count):
        out = folder / f"killed-{number}"
        if parts > 1:
            _wait([_begin("batch", *paths, "--out", out, "--prepare", *OPTIONS)])
        running = _processes(out, paths, parts)
        time.sleep(generator.uniform(0.2, seconds))
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        _run(out, paths, parts)
        found = content_of(out)
        if found == whole:
            equal += 1
        else:
            names = sorted(name for name in {*found, *whole} if found.get(name) != whole.get(name))
            print(f"kill {number}: {', '.join(names)} differ", flush=True)
    print(f"{count} kills of batches of {matrices} in {parts} parts: {equal} ended with equal files")
    return count - equal


def _run(out: Path, paths: Sequence[Path], parts: int) -> None:
    """Run a batch to its end."""
    _wait(_processes(out, paths, parts))
    if parts > 1:
        _wait([_begin("gather", out)])


def _processes(out: Path, paths: Sequence[Path], parts: int) -> list[subprocess.Popen[str]]:
    if parts == 1:
        return [_begin("batch", *paths, "--out", out, *OPTIONS)]
    return [_begin("run", out, "--part", f"{part}/{parts}") for part in range(1, parts + 1)]


def _begin(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, *map(str, words), "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _wait(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, report = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"a batch failed: {report}")
