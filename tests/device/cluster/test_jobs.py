"""Jobs: what processes keep open, and what happens when workers are lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from syclade.host.device.choice import Devices, first_of, split_devices
from syclade.host.device.cluster import jobs
from syclade.host.device.cluster.job_pool import JobPool, Place
from syclade.host.device.cluster.jobs import Job, JobRunner, NotOpen, always, run_job
from syclade.host.device.cluster.workers import MOST_ATTEMPTS, Workers, is_loss
from syclade.host.ground.errors import DeviceError, OptionError, WorkersError

CLOSED: list[Any] = []


class Closable:
    """A value that is kept open."""

    def __init__(self, value: Any, device: str) -> None:
        self.value, self.device = value, device

    def close(self) -> None:
        CLOSED.append(self.value)


def add(kept: Closable, argument: int, _is_wanted: Any) -> int:
    return int(kept.value + argument)


def device_of(kept: Closable, _argument: int, _is_wanted: Any) -> str:
    return kept.device


def refuse(_kept: Closable, _argument: int, _is_wanted: Any) -> None:
    raise DeviceError("no such device", hint="use another")


class Inline(Executor):
    """An executor that does jobs at once, after the errors of `errors`."""

    def __init__(self, *errors: BaseException, workers: int = 2) -> None:
        self.errors = list(errors)
        self.jobs: list[Job[Any]] = []
        self._max_workers = workers

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.jobs.append(args[0])
        try:
            if self.errors:
                raise self.errors.pop(0)
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


class KilledWorker(Exception):
    """Stands for dask's."""


KilledWorker.__module__ = "distributed.scheduler"


@pytest.fixture(autouse=True)
def _own_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_RUNNER", JobRunner())
    CLOSED.clear()


def answer_of(job_pool: JobPool[Any, Any]) -> Any:
    for _ in range(2 * MOST_ATTEMPTS):
        found = job_pool.collect(1.0)
        if found:
            return found[0].answer
    raise AssertionError("no answer")


def test_a_holder_keeps_the_most_recent() -> None:
    holder = JobRunner(2)

    def run(value: int) -> Any:
        return holder.run(Job(str(value), partial(Closable, value), "numpy", add, 1))

    assert [run(value) for value in (1, 2, 1, 3)] == [2, 3, 2, 4]
    assert CLOSED == [2]
    assert holder.run(Job("1", None, "numpy", add, 5)) == 6
    assert isinstance(holder.run(Job("2", None, "numpy", add, 5)), NotOpen)
    assert isinstance(holder.run(Job("1", None, "native", add, 5)), NotOpen)  # open on another device
    holder.close()
    assert sorted(CLOSED) == [1, 2, 3]


def test_the_problem_is_sent_until_there_was_an_answer_and_then_only_where_it_is_missing() -> None:
    executor = Inline()
    job_pool = JobPool[Any, Any](Workers(executor, "numpy"), partial(Closable, 10))
    first, second = job_pool.idle()
    job_pool.submit(first, add, 1, None)
    job_pool.submit(second, add, 2, None)
    assert sorted(one.answer for one in job_pool.collect(1)) == [11, 12]
    job_pool.submit(first, add, 3, None)
    assert answer_of(job_pool) == 13
    assert [job.opening is None for job in executor.jobs] == [False, False, True]
    jobs._RUNNER.close()  # a new worker
    job_pool.submit(first, add, 4, None)
    assert answer_of(job_pool) == 14
    assert [job.opening is None for job in executor.jobs[3:]] == [True, False]


@pytest.mark.parametrize("error", [BrokenExecutor("killed"), KilledWorker("killed")], ids=["pool", "dask"])
def test_jobs_of_lost_workers_are_repeated(error: Exception) -> None:
    executor = Inline(error, error)
    executor._broken = False  # type: ignore[attr-defined]
    job_pool = JobPool[Any, Any](Workers(executor, "numpy"), partial(Closable, 10))
    job_pool.submit(job_pool.idle()[0], add, 1, "tag")
    assert answer_of(job_pool) == 11
    assert len(executor.jobs) == 3
    assert [job.attempt for job in executor.jobs] == [0, 1, 2]  # dask merges equal jobs


def test_a_job_that_kills_its_workers_is_given_up() -> None:
    job_pool = JobPool[Any, Any](
        Workers(Inline(*[KilledWorker("killed")] * 100), "numpy"), partial(Closable, 10)
    )
    job_pool.submit(job_pool.idle()[0], add, 1, None)
    with pytest.raises(WorkersError, match=f"lost {MOST_ATTEMPTS} times"):
        answer_of(job_pool)


def test_a_broken_executor_that_cannot_be_replaced() -> None:
    job_pool = JobPool[Any, Any](Workers(Inline(BrokenExecutor("gone")), "numpy"), partial(Closable, 10))
    job_pool.submit(job_pool.idle()[0], add, 1, None)
    with pytest.raises(WorkersError, match="the executor is broken: gone"):
        answer_of(job_pool)


def test_errors_of_jobs_are_raised_and_not_repeated() -> None:
    executor = Inline()
    job_pool = JobPool[Any, Any](Workers(executor, "numpy"), partial(Closable, 10))
    job_pool.submit(job_pool.idle()[0], refuse, 1, None)
    with pytest.raises(DeviceError, match="no such device"):
        answer_of(job_pool)
    assert len(executor.jobs) == 1
    assert not is_loss(DeviceError("x"))
    assert not is_loss(OSError("no space left"))


def test_a_closed_executor_is_an_error() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(WorkersError, match="takes no jobs"):
        Workers(executor).submit(Job("a", None, "numpy", add, 1))


def test_workers_of_another_version_are_refused() -> None:
    job = Job("a", partial(Closable, 1), "numpy", add, 1, version="0.0.1")
    with pytest.raises(WorkersError, match="and the run has"):
        run_job(job)


def test_no_executor() -> None:
    with pytest.raises(OptionError, match="the executor is 3"):
        Workers(3)  # type: ignore[arg-type]


def test_devices_of_this_machine_have_a_thread_each() -> None:
    job_pool = JobPool[Any, Any](Devices(["numpy", "native"]), partial(Closable, 10))
    for place in job_pool.idle():
        job_pool.submit(place, device_of, 1, None)
    found: set[str] = set()
    while len(found) < 2:
        found |= {one.answer for one in job_pool.collect(1)}
    assert found == {"numpy", "native"}
    job_pool.close()
    assert CLOSED == [10, 10]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("syclade-n")]


def test_a_place_whose_answer_is_not_wanted_ends_early() -> None:
    place = Place(0, "numpy", None)
    started = threading.Event()

    def wait(_kept: Closable, _argument: int, is_wanted: Callable[[], bool]) -> str:
        started.set()
        while is_wanted():
            pass
        return "ended"

    future = place.submit(Job("a", partial(Closable, 1), "numpy", wait, 1))
    assert started.wait(10)
    place.wanted = False
    assert future.result(10) == "ended"
    place.close()
    assert always()


def test_where() -> None:
    several = split_devices("cpu, fpga-emu")
    assert isinstance(several, Devices)
    assert several.names == ("cpu", "fpga-emu")
    assert (first_of("cpu,native"), first_of("auto"), first_of(Workers(Inline()))) == ("cpu", "auto", "auto")
    assert split_devices("native") == "native"
    for bad in ("cpu,", "cpu,cpu", "auto,cpu", ","):
        with pytest.raises(OptionError, match="different devices"):
            split_devices(bad)
