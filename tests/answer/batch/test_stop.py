"""Signals during a batch: only the matrices in progress are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from syclade.host.answer.batch.many import infer_task
from syclade.host.answer.batch.run_task import Place, known_line, run_task
from syclade.host.answer.batch.task import Task
from syclade.host.answer.output.result import Result
from syclade.host.answer.run import best_tree_of
from syclade.host.findings.finding import BestTree
from syclade.host.ground.options import Options
from syclade.host.ground.signals import Stop
from tests.answer.batch.cohort import OPTIONS, batch, content_of, lines_of, write_cohort
from tests.commands.test_signals import interrupted
from tests.golden.commands import PROGRAM

LISTENING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""Background jobs of shells ignore SIGINT."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.verification)]
)
def test_a_signal_loses_only_what_is_in_progress(tmp_path: Path, number: signal.Signals) -> None:
    paths, out = write_cohort(tmp_path / "in", 16), tmp_path / "out"
    words = ["batch", *map(str, paths), "--out", str(out), *OPTIONS]
    command = [sys.executable, "-c", f"{LISTENING}; {PROGRAM[2]}", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and len(list(out.glob("*/summary.json"))) < 3:
            time.sleep(0.02)
        process.send_signal(number)
        _, messages = process.communicate(timeout=300)
    assert process.returncode == 128 + number, messages
    assert "stopping without the matrices in progress" in messages
    states = [line["state"] for line in lines_of(out)]
    assert 3 <= states.count("done") < 16
    assert set(states) == {"done", "waiting"}
    for line in lines_of(out):
        assert (out / line["name"] / "summary.json").exists() == (line["state"] == "done")
    assert batch(*paths, "--out", out).status == 0
    assert batch(*paths, "--out", tmp_path / "whole").status == 0
    assert content_of(out) == content_of(tmp_path / "whole")


def test_a_stop_while_a_file_is_added_keeps_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    options = Options(fp_rate=0.02, fn_rate=0.2, support="none", device="native")
    task, out = Task("m0", str(path), options), tmp_path / "out"
    assert run_task(Place(out, False, Stop()), task)["state"] == "done"
    more, stop = task._replace(options=options.replace(report=True)), Stop()

    def stopped(task: Task, stop: Stop) -> Result:
        stop.wanted = True
        return infer_task(task, stop)

    monkeypatch.setattr("syclade.host.answer.batch.run_task.infer_task", stopped)
    assert run_task(Place(out, False, stop), more)["state"] == "waiting"
    assert known_line(out, more)["state"] == "waiting"
    assert known_line(out, task)["state"] == "done"


def test_a_second_process_on_the_same_batch_is_refused(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 40), tmp_path / "out"
    command = [*PROGRAM, "batch", *map(str, paths), "--out", str(out), *OPTIONS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (out / "results.tsv").exists():
            time.sleep(0.02)
        called = batch(*paths, "--out", out)
        process.kill()
    assert called.status == 2
    assert "another process runs the batch" in called.messages


def words_of(command: str, paths: Sequence[Path], out: Path) -> list[str]:
    """Return the words of a command that runs a batch, which is prepared if it is `run`."""
    if command == "run":
        assert batch(*paths, "--out", out, "--prepare").status == 0
        return ["run", str(out)]
    return ["batch", *map(str, paths), "--out", str(out), *OPTIONS]


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("batch", "syclade.host.commands.process:stopped_by_signals"),
        ("batch", "syclade.host.commands.progress:_progress"),
        ("batch", "syclade.host.answer.batch.many:own_threads"),
        ("batch", "syclade.host.device.cluster.scheduler:open_scheduler"),
        ("run", "syclade.host.answer.batch.many:own_threads"),
    ],
)
def test_a_signal_while_the_run_is_opened_ends_the_program(tmp_path: Path, command: str, place: str) -> None:
    out = tmp_path / "out"
    words = words_of(command, write_cohort(tmp_path / "in", 2), out)
    if "scheduler" in place:
        words += ["--scheduler", "local:1"]
    done = interrupted(place, "15/0", words)
    assert done.returncode == 143, done.stderr
    assert done.stderr.strip() == "syclade: interrupted"
    assert out.exists() == (command == "run")
    assert not (out / "m0").exists()


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("syclade.host.answer.batch.folder:run_batch", "batch"),
        ("syclade.host.answer.batch.folder:_write_tasks", "batch"),
        ("syclade.host.answer.batch.folder:run_tasks", "run"),
    ],
)
def test_a_signal_once_the_run_is_open_is_a_stop(tmp_path: Path, place: str, command: str) -> None:
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    words = words_of(command, paths, out)
    done = interrupted(place, "15/0", words)
    assert done.returncode == 143, done.stderr
    assert done.stderr == "syclade: stopping without the matrices in progress; once more stops at once\n"
    assert not (out / "m0").exists()
    if command == "batch":
        assert [line["state"] for line in lines_of(out)] == ["waiting", "waiting"]
    assert batch(*paths, "--out", out).status == 0


@pytest.mark.parametrize("support", ["quick", "none"])
def test_a_stop_after_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, support: str) -> None:
    """The result is written only if nothing else was to follow."""
    (path,) = write_cohort(tmp_path / "in", 1)
    options = Options(fp_rate=0.02, fn_rate=0.2, support=support, device="native")
    task, stop = Task("m0", str(path), options), Stop()

    def stopped_late(*given: Any, **named: Any) -> BestTree:
        stop.wanted = True
        return best_tree_of(*given, **named)

    monkeypatch.setattr("syclade.host.answer.run.best_tree_of", stopped_late)
    if support == "none":
        assert run_task(Place(tmp_path / "out", False, stop), task)["state"] == "done"
        assert known_line(tmp_path / "out", task)["state"] == "done"
        return
    assert run_task(Place(tmp_path / "out", False, stop), task)["state"] == "waiting"
    assert known_line(tmp_path / "out", task)["state"] == "waiting"
    assert [one.name for one in (tmp_path / "out" / "m0").iterdir()] == ["task.json"]
    monkeypatch.undo()
    assert run_task(Place(tmp_path / "out", False, Stop()), task)["state"] == "done"
