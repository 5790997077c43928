"""Messages during a run, and the estimate of the remaining time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rich.progress
from hypothesis import given
from hypothesis import strategies as st

import syclade
from syclade.host.answer.inference import InferenceProgress
from syclade.host.chains.convergence import StoppingRule
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.encodings.preorder import GeneralPreorderEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.chains.runs import clock
from syclade.host.chains.runs.clock import Progress
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.runs.long_run import run_long
from syclade.host.commands import progress
from syclade.host.commands.progress import Log, now_and_then, progress_bar, time_left
from syclade.host.data.model.simulate import simulate
from syclade.host.device.compile import machine_code, program
from syclade.host.device.device import Device
from syclade.host.device.engines import sycl
from syclade.host.device.engines.sycl import ParallelTranslation
from syclade.host.ground.cache import cache_folder
from syclade.host.ground.errors import DeviceError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.conftest import ROOT
from tests.support.backends import NUMPY, Case

CASE = Case(21, 30)
CPU = Device("opencl:cpu:0", "A device", "cpu", 2)
MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
RUN = [sys.executable, "-m", "syclade", "infer", str(MATRIX), "--fp-rate", "0.001", "--fn-rate", "0.2"]
UNPLACED = r"syclade: warning: 3 mutations seen in no cell[^━]*tree[^━]*out\)"
DOUBT = r"syclade: warning: the chains do not agree[^━]*"
"""Warning at the end of a run of two short chains, also with --quiet."""


@pytest.mark.parametrize(
    ("done", "total", "expected", "words"),
    [
        (0, 6000, 6000, "1:00 left"),
        (5950, 6000, 6000, "0:00 left"),
        (0, None, 6000, "at least 1:00 left"),
        (100, None, 366_200, "at least 1:01:01 left"),
        (700, None, 600, ""),
        (600, None, 600, ""),
    ],
)
def test_time_left(done: int, total: int | None, expected: int, words: str) -> None:
    assert time_left(InferenceProgress(done, total, expected, -1.0, 100.0)) == words


def test_no_time_left_without_a_speed() -> None:
    assert time_left(InferenceProgress(50, 100, 100, -1.0, 0.0)) == ""


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 70), st.integers(1, 30))
def test_no_run_ends_before_the_time_that_is_told(steps: int, since: int, most: int, least: int) -> None:
    rule = StoppingRule(round_steps=5, least_steps=5 * least, most_steps=5 * max(most, least))
    steps, since = 5 * steps, 5 * min(since, steps)
    end = rule.earliest_end(steps, since)
    agreed = np.zeros(4, np.int64)
    later = range(steps + 5, rule.most_steps + 1, 5)
    assert end == next((one for one in later if rule.satisfied(one, agreed, since)), rule.most_steps)


def test_progress_without_a_number_of_steps() -> None:
    seen: list[Progress] = []
    rule = StoppingRule(round_steps=100, least_steps=300, most_steps=2000)
    with NUMPY.runner(CASE.plan(), 3, 1) as runner:
        run_long(runner, chains=3, until=rule, context=RunContext(seen.append))
    assert seen[0].steps_total is None
    assert seen[0].steps_expected == 3 * rule.least_steps
    assert all(state.steps_done <= state.steps_expected for state in seen)
    assert seen[-1].steps_done == seen[-1].steps_expected


def test_what_a_kernel_is_for_is_not_part_of_its_name() -> None:
    """Describe sizes in the user's terms, without the kernel's constants."""
    plan = CASE.plan()
    kernel = chain_kernel(plan, AncestorEncoding(plan.problem, TRAITS))
    assert kernel.size == "up to 31 mutations × 32 distinct cells"
    assert chain_kernel(plan, GeneralPreorderEncoding(plan.problem, TRAITS)).size == "matrices of many sizes"
    assert replace(kernel, size="another").key([]) == kernel.key([])


def summary(*options: str) -> str:
    command = [*RUN, "--chains", "2", "--steps", "50", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def test_compiling_is_told_in_words(own_cache: Path) -> None:
    """Report what happens and its duration, once; add the constants with --verbose, nothing with --quiet."""
    ancestor = ["--device", "native", "--encoding", "ancestor"]
    words = "syclade: compiling the kernel for up to 31 mutations × 48 distinct cells: about 10 s, only once"
    first = summary(*ancestor, "--verbose")
    assert first.splitlines().count(words) == 1
    assert "'nodes': " in first
    assert "compiling" not in summary(*ancestor), "the kernel is cached"
    assert re.fullmatch(rf"{UNPLACED}\n{DOUBT}", summary(*ancestor, "--quiet").rstrip("\n"))
    assert "compiling" not in summary("--device", "native"), "there is a kernel at once"


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Say so, instead of "only once" in every run; no other process compiles what this one cannot read."""
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "cache"
    monkeypatch.setenv("SYCLADE_CACHE", str(place))
    monkeypatch.setattr(program, "_announced", set())
    monkeypatch.setattr(sycl, "is_translated", lambda *_: False)
    monkeypatch.setattr(sycl, "is_compiled", lambda _: True)
    monkeypatch.setattr(sycl, "Translator", lambda *_: pytest.fail("another process compiles"))
    cache_folder.cache_clear()
    queue: Any = SimpleNamespace(sycl_device=SimpleNamespace(name="A device"))
    with caplog.at_level("INFO", logger="syclade"):
        ParallelTranslation(CPU, queue, list[Any]("abc"))
    cache_folder.cache_clear()
    (message,) = caplog.messages
    assert message == (
        "the driver of A device translates the kernels: about 4 s, in every run, since the cache "
        f"{place} cannot be written (Not a directory): set SYCLADE_CACHE to another folder"
    )


def test_what_was_told_is_not_told_again() -> None:
    """Searches, and the chains that start from them, choose the same device."""
    assert summary("--device", "native", "--start", "search").count("syclade: device native") == 1


def test_compiling_in_this_process_is_told(
    own_cache: Path, compile_here: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Tell it before the compiler begins, which here refuses the kernel to save seconds."""
    from numba.core.errors import NumbaError

    def refuse(*_given: object) -> None:
        raise NumbaError("no")

    monkeypatch.setattr(machine_code, "_loaded", {})
    monkeypatch.setattr("syclade.kernels.target.native.compiler.compile_kernel", refuse)
    plan = CASE.plan()
    with caplog.at_level("INFO", logger="syclade"), pytest.raises(DeviceError, match="numba cannot compile"):
        machine_code.load_machine_code(chain_kernel(plan, AncestorEncoding(plan.problem, TRAITS)))
    assert caplog.messages == [
        "compiling the kernel for up to 31 mutations × 32 distinct cells: about 10 s, only once"
    ]


def test_quiet_and_verbose_exclude_each_other() -> None:
    done = subprocess.run([*RUN, "--quiet", "-v"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--verbose does not go with --quiet" in done.stderr


def on_a_terminal(*options: str) -> list[str]:
    """Return all lines shown on a terminal, including those that the progress bar has overwritten."""
    import pty

    controller, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    command: list[Any] = [*RUN, *options]
    process = subprocess.Popen(command, stderr=terminal, stdout=subprocess.PIPE, env=environment)
    os.close(terminal)
    pieces = []
    while True:
        try:
            piece = os.read(controller, 4096)
        except OSError:  # Linux's way to report that the terminal has no writer left
            break
        if not piece:
            break
        pieces.append(piece)
    process.communicate(timeout=60)
    os.close(controller)
    assert process.returncode == 0
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", b"".join(pieces)).decode()
    return re.split(r"[\r\n]+", text)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal")
@pytest.mark.sycl
def test_log_and_bar_have_lines_of_their_own() -> None:
    lines = on_a_terminal("--device", "auto", "--chains", "2", "--steps", "20000000")
    logged = [line for line in lines if "syclade:" in line]
    assert any("the best usable kind is cpu" in line for line in logged)
    known = rf"syclade: (device|compiling|names of|the driver|the kernel|[\d.]+ s: )[^━]*|{UNPLACED}|{DOUBT}"
    assert all(re.fullmatch(known, line.rstrip()) for line in logged)
    assert any(re.search(r"━.*Msteps, \d+ ksteps/s, best -[\d.]+, \d+:\d\d left", line) for line in lines)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal")
def test_quiet_says_no_more_than_doubt_on_a_terminal() -> None:
    lines = on_a_terminal("--device", "numpy", "--chains", "2", "--steps", "50", "--quiet")
    assert re.fullmatch(UNPLACED + DOUBT, "".join(lines))


def test_the_clock_of_a_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search has no steps ahead: the bar has no end then, at which its clock would stop."""
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for rich
    bars: list[rich.progress.Progress] = []

    class Recorded(rich.progress.Progress):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            bars.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Recorded)
    begun = InferenceProgress(0, None, 0, -12.5, 0.0)
    with progress_bar(quiet=False, log=Log()) as show:
        assert show is not None
        (task,) = bars[0].tasks
        for state in (begun, replace(begun, steps_done=700, steps_expected=700)):
            show(state)
            assert task.total is None
            assert not task.finished
            assert task.description.startswith("best -12.5000"), "0.0 million steps say nothing"
        show(replace(begun, steps_done=700, steps_total=10**6, steps_expected=10**6, steps_per_second=1e5))
        assert task.total == 10**6


def test_a_log_gets_a_line_now_and_then() -> None:
    summary: list[str] = []
    state = InferenceProgress(2_000_000, 4_000_000, 4_000_000, -12.5, 1e6)
    for _ in range(3):
        now_and_then(summary.append)(state)
    assert summary == []
    show = now_and_then(summary.append, every=0)
    show(state)
    show(replace(state, steps_done=4_000_000, steps_per_second=0.0))
    show(replace(state, steps_total=None, steps_done=4_000_000))
    assert summary == [
        "syclade: 2.0 Msteps, 1000 ksteps/s, best -12.5000, 0:02 left",
        "syclade: 4.0 Msteps, best -12.5000, 0:00 left",
        "syclade: 4.0 Msteps, 1000 ksteps/s, best -12.5000",
    ]


@pytest.mark.parametrize("slots", [2, 5])
def test_acceptance_is_that_of_the_chains(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "ACCEPTANCE_SECONDS", 0.0)
    seen: list[InferenceProgress] = []
    matrix = simulate(12, 6, 0.01, 0.2, 0.1, 3).matrix
    result = syclade.infer(
        matrix,
        fp_rate=0.01,
        fn_rate=0.2,
        chains=5,
        steps=3000,
        device="native",
        slots=slots,
        progress=seen.append,
    )
    assert set(seen[-1].acceptance) <= set(result.moves)
    assert all(0 < share <= 1 for one in seen for share in one.acceptance.values())
    if slots == 5:  # all chains keep their slots until the end
        summary = {kind: taken / tried for kind, (tried, taken) in result.moves.items() if taken}
        assert seen[-1].acceptance == summary
    lines: list[str] = []
    show = now_and_then(lines.append, every=0)
    show(seen[-1])
    show(replace(seen[-1], acceptance={}))
    assert re.search(r" left; accepted: .*prune and reattach \d+%", lines[0])
    assert "accepted" not in lines[1]
