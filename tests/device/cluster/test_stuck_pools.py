"""Process pools whose worker is killed halfway through an answer: calls are repeated, and nothing hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, wait
from pathlib import Path

import pytest

from syclade.host.device.cluster import workers as workers_module
from syclade.host.device.cluster.workers import RetryingExecutor, break_pool, dead_workers, end_pool

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


def answer_once_halfway(done: Path) -> str:
    """Return a word; the first time, kill this process in the midst of sending it."""
    if not done.exists():
        done.touch()
        from multiprocessing.connection import Connection

        def send(self: Connection, _content: bytes) -> None:
            os.write(self.fileno(), struct.pack("!i", 1000) + b"half")
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send_bytes = send  # type: ignore[attr-defined]
    return "answer"


@pytest.fixture
def pool() -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of two processes, which is broken at the end if it is stuck."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as found:
        yield found
        if dead_workers(found):
            break_pool(found)


def test_a_pool_does_not_notice(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    """Where this fails, CPython has no need of the workaround any more."""
    future = pool.submit(answer_once_halfway, tmp_path / "done")
    assert not wait([future], 3).done
    assert dead_workers(pool)
    break_pool(pool)
    assert isinstance(future.exception(10), BrokenExecutor)


def test_calls_are_repeated(
    pool: ProcessPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "NOTICE_SECONDS", 0.5)
    with RetryingExecutor(pool) as lasting:
        assert lasting.submit(answer_once_halfway, tmp_path / "done").result(60) == "answer"


def test_living_pools_are_left_alone(pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "NOTICE_SECONDS", 0.1)
    with RetryingExecutor(pool) as lasting:
        assert list(lasting.map(abs, range(-40, 0))) == list(range(40, 0, -1))
        assert lasting.workers.pool is pool


@pytest.mark.parametrize("victim", [0, 1])
def test_a_worker_killed_at_the_end(
    pool: ProcessPoolExecutor, victim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two idle workers holds the lock of the queue, for which the other one then waits."""
    monkeypatch.setattr(workers_module, "NOTICE_SECONDS", 0.2)
    assert list(pool.map(abs, range(4))) == [0, 1, 2, 3]
    numbers = list(pool._processes)
    for number in numbers:
        os.kill(number, signal.SIGSTOP)
    ending = threading.Thread(target=end_pool, args=(pool,), daemon=True)
    ending.start()
    time.sleep(0.3)
    os.kill(numbers[victim], signal.SIGKILL)
    os.kill(numbers[1 - victim], signal.SIGCONT)
    ending.join(20)
    assert not ending.is_alive()
