"""Plugin of pytest that measures tests: `-p tests.support.usage` prints a table at the end.

For each file: tests, seconds, seconds of processor time (including child processes), and the worker's highest
memory use during one of its tests.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support.compilers import MADE, running_seconds

_LONGEST = 40


def _processor() -> float:
    """Return the processor seconds of this process, its finished children, and its compiler."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both) + running_seconds()


def _peak() -> float:
    """Return the most memory of this process since `_forget_peak`, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _forget_peak() -> None:
    """Let the peak start anew from the present memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure a test, with its fixtures."""
    _forget_peak()
    item.stash[_BEGAN] = (time.monotonic(), _processor())
    return (yield)


_BEGAN = pytest.StashKey[tuple[float, float]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Add the measurements to the last report of a test."""
    report = yield
    if call.when == "teardown":
        wall, processor = item.stash[_BEGAN]
        usage = (time.monotonic() - wall, _processor() - processor, _peak(), MADE.copy())
        MADE.clear()
        report.user_properties = [("usage", usage)]
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the files and the tests, most expensive first."""
    files: dict[str, list[Any]] = defaultdict(lambda: [0, 0.0, 0.0, 0.0])
    tests: list[tuple[float, float, float, str]] = []
    kernels: list[tuple[float, str]] = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "usage" and report.when == "teardown":
                    wall, processor, peak, made = value
                    kernels += [(seconds, kernel) for kernel, seconds in made]
                    of = files[report.nodeid.partition("::")[0]]
                    of[0] += 1
                    of[1] += wall
                    of[2] += processor
                    of[3] = max(of[3], peak)
                    tests.append((processor, wall, peak, report.nodeid))
    write = terminalreporter.write_line
    terminalreporter.section("usage")
    write("tests  seconds  processor     MB")
    for file, (count, wall, processor, peak) in sorted(files.items(), key=lambda one: -one[1][2]):
        write(f"{count:5} {wall:8.1f} {processor:10.1f} {peak:6.0f}  {file}")
    write("  seconds  processor")
    for processor, wall, _, name in sorted(tests, reverse=True)[:_LONGEST]:
        write(f"{wall:9.1f} {processor:10.1f}  {name}")
    write("       MB")
    for _, _, peak, name in sorted(tests, key=lambda one: -one[2])[:_LONGEST]:
        write(f"{peak:9.0f}  {name}")
    write(f"{len(kernels)} kernels compiled, {sum(seconds for seconds, _ in kernels):.1f} s")
    for seconds, kernel in sorted(kernels, reverse=True)[:_LONGEST]:
        write(f"{seconds:9.1f}  {kernel}")
