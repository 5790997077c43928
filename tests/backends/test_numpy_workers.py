"""The numpy fallback on several cores: the same chains, and no process that stays behind."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.backends import numpy_runner, numpy_workers
from syclade.host.backends.numpy_runner import NumpyRunner
from syclade.host.devices.cores import usable_cores
from syclade.host.errors import DeviceError
from tests.support.backends import Case, assert_equal_chains, seen
from tests.support.numpy_chains import runner_of

CASE = Case(12, 9)


@pytest.fixture
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers from the first launch on, three of them."""
    monkeypatch.setattr(numpy_runner, "WORKERS_AFTER", 0.0)
    monkeypatch.setattr(numpy_runner, "usable_cores", lambda: 3)


@pytest.fixture
def runner(many_cores: None) -> Iterator[NumpyRunner]:
    runner = runner_of(CASE, 5)
    yield runner
    runner.close()


def alone(*targets: list[int]) -> NumpyRunner:
    """The same launches in this process only."""
    runner = runner_of(CASE, len(targets[0]))
    runner._seconds = float("-inf")
    for target in targets:
        runner.advance(np.array(target))
    return runner


def processes(runner: NumpyRunner) -> list[Any]:
    assert runner._workers is not None
    return list(runner._workers._processes)


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize("slots", [1, 2, 5])
def test_chains_are_those_of_one_process(slots: int) -> None:
    targets = [
        [30 + 7 * slot for slot in range(slots)],
        [80] * slots,
        [80 + 50 * (slot % 2) for slot in range(slots)],
    ]
    runner = runner_of(CASE, slots)
    for target in targets:
        runner.advance(np.array(target))
    assert (runner._workers is None) == (slots == 1)
    other = alone(*targets)
    for slot in range(slots):
        assert_equal_chains(seen(runner, slot), seen(other, slot))
    runner.close()


def test_a_state_may_be_replaced_between_launches(runner: NumpyRunner) -> None:
    runner.advance(np.full(5, 40))
    runner.put(3, CASE.start(7))
    runner.advance(np.full(5, 60))
    other = alone([0] * 5)
    other.put(0, CASE.start(7))
    other.advance(np.array([60, 60, 60, 0, 60]))
    assert_equal_chains(seen(runner, 3), seen(other, 0))
    for slot in (1, 2, 4):
        assert_equal_chains(seen(runner, slot), seen(other, slot))


def test_what_is_interrupted_has_not_happened(runner: NumpyRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.advance(np.full(5, 40))
    before = [seen(runner, slot) for slot in range(5)]
    old = processes(runner)
    with monkeypatch.context() as patch:

        def interrupted(_: Any) -> Any:
            raise KeyboardInterrupt

        patch.setattr(numpy_workers, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runner.advance(np.full(5, 90))
    assert all(process.returncode is not None for process in old)
    for slot, chain in enumerate(before):
        assert_equal_chains(seen(runner, slot), chain)
    runner.advance(np.full(5, 90))
    other = alone([90] * 5)
    for slot in range(5):
        assert_equal_chains(seen(runner, slot), seen(other, slot))


def test_a_worker_that_dies_is_an_error(runner: NumpyRunner) -> None:
    runner.advance(np.full(5, 40))
    victim = processes(runner)[1]
    victim.kill()
    victim.wait()
    with pytest.raises(DeviceError, match="worker process of the numpy fallback has ended") as caught:
        runner.advance(np.full(5, 90))
    assert "fewer --slots" in str(caught.value.hint)
    assert runner.read_all("step").tolist() == [40] * 5


def test_a_worker_that_fails_says_why(runner: NumpyRunner) -> None:
    runner.advance(np.full(5, 40))
    del runner._numpy.named["score"]
    with pytest.raises(DeviceError, match="numpy fallback failed: KeyError: 'score'"):
        runner.advance(np.full(5, 90))


def test_no_process_stays_behind(runner: NumpyRunner) -> None:
    runner.advance(np.full(5, 40))
    started = processes(runner)
    assert len(started) == 3
    assert all(process.poll() is None for process in started)
    runner.close()
    assert all(process.returncode is not None for process in started)


def test_time_and_memory_of_the_workers_count(runner: NumpyRunner) -> None:
    before = runner.cpu_seconds() - time.process_time()
    state = runner.memory_bytes
    runner.advance(np.full(5, 400))
    assert before == pytest.approx(0.0, abs=1e-3)
    assert runner.cpu_seconds() - time.process_time() > 1e-3
    rows = 4 * CASE.problem().columns * CASE.n
    assert runner.memory_bytes > state + 5 * rows


def test_where_no_process_starts_one_goes_on(
    runner: NumpyRunner, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with caplog.at_level(logging.WARNING, logger="syclade"):
        runner.advance(np.full(5, 40))
        runner.advance(np.full(5, 90))
    assert caplog.text.count("goes on in one process, for no other starts: no more processes") == 1
    other = alone([90] * 5)
    for slot in range(5):
        assert_equal_chains(seen(runner, slot), seen(other, slot))


def test_the_others_end_where_one_does_not_start(
    runner: NumpyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    start = numpy_workers._start

    def second_refused() -> Any:
        if started:
            raise OSError("no more processes")
        started.append(start())
        return started[0]

    monkeypatch.setattr(numpy_workers, "_start", second_refused)
    runner.advance(np.full(5, 40))
    assert runner._workers is None
    assert started[0].returncode is not None


SCRIPT = """\
import numpy
import syclade
from syclade.host.backends import numpy_runner
numpy_runner.WORKERS_AFTER = 0.0
numpy_runner.usable_cores = lambda: 2
values = numpy.random.default_rng(1).choice([0, 1, 3], (10, 12)).astype(numpy.uint8)
print("started once")
result = syclade.infer(values, fp_rate=0.01, fn_rate=0.2, chains=4, steps=300, device="numpy")
print(result.log_likelihood)
"""


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    """Workers run neither the script of the process that starts them, nor what its current folder has."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "script.py").write_text(SCRIPT)
    (tmp_path / "pickle.py").write_text("raise SystemExit('the wrong module')")
    ended = subprocess.run(
        [sys.executable, "scripts/script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout.count("started once") == 1
    assert ended.stderr == ""
    assert float(ended.stdout.split()[-1]) < 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    script = SCRIPT.replace("steps=300", "steps=10**9").replace(
        'print("started once")',
        "from syclade.host.backends import numpy_workers\n"
        "real = numpy_workers._start\n"
        "def start():\n"
        "    process = real()\n"
        "    print(process.pid, flush=True)\n"
        "    return process\n"
        "numpy_workers._start = start\n",
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + 20
    while any(_alive(worker) for worker in workers):
        assert time.monotonic() < until, "a worker is still there"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text() if Path("/proc").is_dir() else ""
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return False
    return status.rpartition(")")[2].split()[:1] != ["Z"]


def test_cores_are_those_allowed() -> None:
    assert usable_cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        assert usable_cores() == len(os.sched_getaffinity(0))
