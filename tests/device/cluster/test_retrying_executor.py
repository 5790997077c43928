"""An executor whose calls survive lost workers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from syclade.host.device.cluster import workers as lasting_module
from syclade.host.device.cluster.workers import MOST_ATTEMPTS, RetryingExecutor
from syclade.host.ground.errors import OptionError, WorkersError


class Losing(Executor):
    """An executor that loses the first calls."""

    def __init__(self, losses: int) -> None:
        self.losses, self.calls = losses, 0
        self._broken = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls += 1
        if self.calls <= self.losses:
            future.set_exception(BrokenExecutor("killed"))
            return future
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def once_killed(place: Path, number: int) -> int:
    """Kill this process at the first call for a number."""
    try:
        (place / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return number * number
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_lost_calls_are_repeated() -> None:
    executor = Losing(3)
    with RetryingExecutor(executor) as lasting:
        assert lasting.submit(divmod, 17, 5).result(10) == (3, 2)
    assert executor.calls == 4


def test_a_call_that_kills_its_workers_is_given_up() -> None:
    with (
        RetryingExecutor(Losing(1000)) as lasting,
        pytest.raises(WorkersError, match=f"lost {MOST_ATTEMPTS} times"),
    ):
        lasting.submit(divmod, 1, 1).result(10)


def test_errors_are_not_repeated() -> None:
    executor = Losing(0)
    with RetryingExecutor(executor) as lasting, pytest.raises(ZeroDivisionError):
        lasting.submit(divmod, 1, 0).result(10)
    assert executor.calls == 1


def test_only_executors() -> None:
    with pytest.raises(OptionError, match="the executor is 3"):
        RetryingExecutor(3)  # type: ignore[arg-type]


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_processes_that_are_killed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor, RetryingExecutor(executor) as lasting:
        found = [lasting.submit(once_killed, tmp_path, number) for number in range(3)]
        assert [one.result(120) for one in found] == [0, 1, 4]


def killed_at_once(place: Path) -> None:
    """Kill this process, and count the calls."""
    (place / f"{os.getpid()}").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def squared(number: int) -> int:
    time.sleep(0.1)
    return number * number


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_a_call_that_kills_its_workers_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool loses all its calls with each process."""
    monkeypatch.setattr(lasting_module, "MOST_ATTEMPTS", 5)
    monkeypatch.setattr(lasting_module, "ALONE", 2)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor, RetryingExecutor(executor) as lasting:
        deadly = lasting.submit(killed_at_once, tmp_path)
        others = [lasting.submit(squared, number) for number in range(12)]
        with pytest.raises(WorkersError, match="lost 5 times"):
            deadly.result(120)
        assert [one.result(120) for one in others] == [number * number for number in range(12)]
    assert len([*tmp_path.iterdir()]) == 5


@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_without_calls_alone_others_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control for the test before."""
    monkeypatch.setattr(lasting_module, "MOST_ATTEMPTS", 3)
    monkeypatch.setattr(lasting_module, "ALONE", 3)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor, RetryingExecutor(executor) as lasting:
        deadly = lasting.submit(killed_at_once, tmp_path)
        other = lasting.submit(squared, 1)
        for one in (deadly, other):
            with pytest.raises(WorkersError, match="lost 3 times"):
                one.result(120)


def test_an_executor_that_takes_no_calls_fails_them() -> None:
    with ThreadPoolExecutor(1) as executor:
        lasting = RetryingExecutor(executor)
    with pytest.raises(WorkersError, match="takes no jobs"):
        lasting.submit(divmod, 1, 1).result(10)
    lasting.shutdown()


def test_calls_that_have_not_begun_are_cancelled() -> None:
    going, begun = threading.Event(), threading.Event()

    def first() -> str:
        begun.set()
        going.wait()
        return "done"

    with ThreadPoolExecutor(1) as executor, RetryingExecutor(executor) as lasting:
        running, waiting = lasting.submit(first), lasting.submit(divmod, 1, 1)
        assert begun.wait(10)
        assert not running.cancel()
        assert waiting.cancel()
        going.set()
        assert running.result(10) == "done"
        assert waiting.cancelled()
