"""Pairs of runs that write to one folder at the same time: no result may be lost."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from pathlib import Path

from tests.kills.runs import PROGRAM, WITHOUT_LOCKS, begin

__all__ = ["race_runs"]

OPTIONS = ("--chains", "2", "--steps", "40", "--device", "numpy")
REFUSED = re.compile(r"error: (another run is writing to|\S+ already has)")
RESCUED = re.compile(r"^hint: the result is not lost: it is in (.*)$", re.MULTILINE)


def race_runs(count: int, seed: int, folder: Path) -> int:
    """Race pairs of runs, half of them as on a file system without locks; return how many lost a result."""
    generator, ends, wrong = random.Random(seed), Counter[str](), 0
    for number in range(count):
        locks = number % 2 == 0
        try:
            end = _race(folder / f"pair-{number}", PROGRAM if locks else WITHOUT_LOCKS, generator)
            ends[f"{end} {'with' if locks else 'without'} locks"] += 1
        except AssertionError as error:
            wrong += 1
            print(f"pair {number}: {error}", flush=True)
    found = ", ".join(f"{times} {end}" for end, times in sorted(ends.items()))
    print(f"{count} pairs of runs for one folder: {found}; {wrong} lost a result", flush=True)
    return wrong


def _race(out: Path, program: str, generator: random.Random) -> str:
    """Let two runs race; return what became of the second.

    Raises:
        AssertionError: a result is lost or mixed with the other.
    """
    seeds = (1, 2)
    processes = []
    for seed in seeds:
        processes.append(begin(OPTIONS, "--out", str(out), seed=seed, program=program))
        time.sleep(generator.choice((0.0, generator.uniform(0.0, 0.3))))
    results, end = dict[int, Path](), ""
    for seed, process in zip(seeds, processes, strict=True):
        _, report = process.communicate()
        assert "Traceback" not in report, report
        if process.returncode == 0:
            assert out not in results.values(), "two runs wrote to the folder"
            results[seed] = out
        elif (found := RESCUED.search(report)) is not None:
            results[seed], end = Path(found[1]), "rescued"
        else:
            assert REFUSED.search(report), report
            end = "refused at the start"
    assert out in results.values(), "no run wrote to the folder"
    for seed, place in results.items():
        files = {path.name for path in place.iterdir()}
        run = json.loads((place / "run.json").read_text())
        assert set(run["files"]) == files, f"{place} has {files}"
        assert json.loads((place / "summary.json").read_text())["seed"] == run["options"]["seed"] == seed
    return end
