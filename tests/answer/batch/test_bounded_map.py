"""Calls on executors: order, number at a time, stop requests."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from syclade.host.answer.batch.many import bounded_map, jobs_for, own_threads
from syclade.host.device.device import cores_of_process, usable_cores
from syclade.host.ground.errors import OptionError
from syclade.host.ground.signals import Stop


def test_in_order_or_as_they_finish() -> None:
    first = threading.Event()

    def call(number: int) -> int:
        if number == 0:
            first.wait()
        return -number

    with ThreadPoolExecutor(2) as pool:
        found = []
        for number, future in bounded_map(call, range(4), pool):
            found.append((number, future.result()))
            if len(found) == 3:
                first.set()
        assert found == [(1, -1), (2, -2), (3, -3), (0, 0)]
        ordered = [future.result() for _, future in bounded_map(call, range(4), pool, ordered=True)]
    assert ordered == [0, -1, -2, -3]


@pytest.mark.parametrize("ordered", [True, False])
def test_endless_items(ordered: bool) -> None:
    taken = itertools.count()
    with ThreadPoolExecutor(2) as pool:
        calls = bounded_map(str, (next(taken) for _ in itertools.count()), pool, ordered=ordered, at_a_time=5)
        for _ in range(20):
            next(calls)
        del calls
    assert 20 <= next(taken) <= 25


def test_a_stop_request_awaits_only_what_runs() -> None:
    stop = Stop()

    def call(number: int) -> int:
        stop.wanted = True
        time.sleep(0.5)
        return number

    with ThreadPoolExecutor(1) as pool:
        found = [
            future.result() for _, future in bounded_map(call, range(100), pool, at_a_time=10, stop=stop)
        ]
    assert found in ([0], [0, 1])


def test_a_stop_request_is_seen_while_nothing_runs() -> None:
    """As with a scheduler without workers."""

    class Waiting(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            return Future()

    stop = Stop()
    threading.Timer(0.1, lambda: setattr(stop, "wanted", True)).start()
    assert list(bounded_map(str, range(100), Waiting(), at_a_time=10, stop=stop)) == []


def test_threads_share_the_cores() -> None:
    cores = cores_of_process()
    with own_threads(cores) as pool:
        assert {future.result() for future in [pool.submit(usable_cores) for _ in range(8)]} == {1}
    with own_threads(1) as pool:
        assert pool.submit(usable_cores).result() == cores
    assert usable_cores() == cores


def test_number_of_jobs() -> None:
    assert jobs_for(1) == 1
    assert jobs_for(0) == 1
    assert jobs_for(10**6) == jobs_for(None) == cores_of_process()
    assert jobs_for(10**6, 300) == 300
    with pytest.raises(OptionError, match="jobs is 0"):
        jobs_for(5, 0)
