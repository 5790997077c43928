"""Runs that get SIGINT or SIGTERM at random moments, the writing of the result included."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.kills.killed import Whole
from tests.kills.runs import begin, content_of, files_of

__all__ = ["signal_runs"]

LATE, EARLY = "ended before the signal", "were still starting Python"
NOT_COUNTED = (LATE, EARLY)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def signal_runs(
    kinds: Mapping[str, tuple[str, ...]], device: str, count: int, seed: int, folder: Path
) -> int:
    """Signal runs of each kind, check what they leave, and resume those that were stopped early.

    Args:
        kinds: options by kind of run.
        device: the device.
        count: number of signalled runs of each kind, without those that had ended, or had not begun.
        seed: of the moments.
        folder: folder for the files.

    Returns:
        The number of runs that left something else than they should.
    """
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background job ignores it, and so do its runs
    generator, whole, wrong = random.Random(seed), Whole(kinds, [device], folder), 0
    for kind, options in kinds.items():
        ends: Counter[str] = Counter()
        for number in itertools.count():
            place = folder / f"{kind}-{number}"
            place.mkdir()
            seconds, expected = whole.seconds[kind, device], whole.files[kind]
            try:
                ends[_one(place, options, device, seconds, expected, generator)] += 1
            except AssertionError as error:
                ends["wrong"] += 1
                print(f"signal {number} of {kind}: {error}", flush=True)
            signalled = ends.total() - sum(ends[end] for end in NOT_COUNTED)
            if signalled == count or ends.total() == 5 * count:
                break
        wrong += ends["wrong"]
        found = ", ".join(f"{times} {end}" for end, times in sorted(ends.items()))
        print(f"{signalled} signals during {kind}: {found}", flush=True)
    return wrong


def _one(
    place: Path,
    options: tuple[str, ...],
    device: str,
    seconds: float,
    whole: Mapping[str, bytes],
    generator: random.Random,
) -> str:
    """Signal one run at a random moment; return how it ended.

    Raises:
        AssertionError: it left something else than a complete result, or nothing.
    """
    out, kept, number = place / "out", place / "kept", generator.choice(SIGNALS)
    more = ("--device", device, "--checkpoint", str(kept), "--checkpoint-every", "0")
    process = begin(options, *more, "--out", str(out))
    writing = generator.random() < 0.5
    if writing:
        _wait_for_writing(out, process)
    time.sleep(generator.uniform(0.0, 0.05 if writing else seconds))
    late = process.poll() is not None
    for _ in range(generator.choice((1, 2))):  # GNU timeout may send its signal twice
        process.send_signal(number)
    _, report = process.communicate()
    if "Fatal Python error: init_import_site" in report and not out.exists():
        return EARLY
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    assert status in (0, 128 + number), f"status {status}: {report}"
    too_early = report.count("  File") == 1 and not out.exists()  # before the program's first line
    assert "Traceback" not in report or too_early, report
    hidden = [str(path) for path in place.rglob(".*")]
    assert not hidden, f"temporary files are left: {hidden}"
    if not out.exists():
        assert status != 0, "there is no result"
        _resume(place, kept, options, device, whole)
        return "before the first step"
    found = content_of(out)
    assert "run.json" in found, f"status {status}, files {set(found)}: {report}"
    assert set(found) == {*json.loads((out / "run.json").read_text())["files"]}, f"files {set(found)}"
    if json.loads(found["summary.json"])["interrupted"]:
        assert status != 0, "the status is 0"
        _resume(place, kept, options, device, whole)
        return "resumed to equal files"
    assert found == whole, "a result differs"
    if late:
        return LATE
    return "complete" if status == 0 else f"complete, with status {128 + number}"


def _wait_for_writing(out: Path, process: subprocess.Popen[str]) -> None:
    """Wait for the first temporary file of the result, which is not the lock."""
    while process.poll() is None and not any(out.glob(".*.tmp")):
        time.sleep(0.002)


def _resume(
    place: Path, kept: Path, options: tuple[str, ...], device: str, whole: Mapping[str, bytes]
) -> None:
    """Run to the end, from the checkpoint if there is one, and compare the files."""
    more = ("--resume", str(kept)) if kept.exists() else ()
    found = files_of("a signalled run", options, place / "resumed" / "out", "--device", device, *more)
    assert found == whole, "the resumed run differs"
