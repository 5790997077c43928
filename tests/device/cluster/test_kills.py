"""Workers killed with SIGKILL at random moments, and drivers that are resumed: the same bits."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from syclade.host.answer.batch.folder import Batch, read_batch, run_batch
from syclade.host.answer.batch.run_task import Place
from syclade.host.answer.batch.task import Task
from syclade.host.device.cluster.workers import RetryingExecutor
from syclade.host.ground.signals import Stop
from tests.answer.batch.cohort import batch, content_of, write_cohort
from tests.device.cluster.test_bits import assert_same, dask, infer, pool, whole
from tests.kills.runs import KINDS, begin, files_of
from tests.support.killed_workers import Killer, gone, workers_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's"),
]

ALL = ("samples", "shares", "search", "learned", "rule", "anneal", "leaf")


SECONDS = {pool: 8.0, dask: 3.0}
"""Longest time between kills. After each, a pool starts all of its processes anew, in some 2 s."""


def _run_with_kills(workers: Callable[[], AbstractContextManager[Executor]], kills: int, seed: int) -> int:
    """Do runs until there were enough kills; return the number of runs."""
    seconds = SECONDS[workers] if kills > 3 else 1.5
    for kind in ALL:
        whole(kind)
    runs = 0
    with workers() as executor, Killer(os.getpid(), kills, seed, seconds) as killer:
        while not killer.done or runs < 2:
            kind = ALL[runs % len(ALL)]
            assert_same(infer(kind, executor=executor), kind)
            runs += 1
    assert killer.kills == kills
    return runs


@pytest.mark.parametrize("workers", [pool, dask])
def test_killed_workers(workers: Callable[[], AbstractContextManager[Executor]]) -> None:
    _run_with_kills(workers, 2, seed=1)


@pytest.mark.verification
@pytest.mark.parametrize("workers", [pool, dask])
def test_workers_killed_30_times(workers: Callable[[], AbstractContextManager[Executor]]) -> None:
    _run_with_kills(workers, 30, seed=2)


def _batches_with_kills(
    workers: Callable[[], AbstractContextManager[Executor]], kills: int, matrices: int, folder: Path
) -> None:
    """Do batches until there were enough kills, and compare all files with those of one process."""
    paths = write_cohort(folder / "in", matrices, cells=60, mutations=50)
    assert batch(*paths, "--out", folder / "whole").status == 0
    whole = content_of(folder / "whole")
    options = read_batch(folder / "whole").tasks[0].options
    tasks = tuple(Task(path.stem, str(path), options) for path in paths)
    batches = 0
    with workers() as executor, Killer(os.getpid(), kills, 3, SECONDS[workers]) as killer:
        while not killer.done:
            batches += 1
            one = Batch(folder / f"out-{batches}", tasks)
            with RetryingExecutor(executor) as lasting:
                lines = run_batch(one, lasting, Place(one.folder, False, Stop()), lambda _: None)
            assert [line["state"] for line in lines] == ["done"] * matrices
            assert content_of(one.folder) == whole
    assert killer.kills == kills


@pytest.mark.verification
@pytest.mark.parametrize("workers", [pool, dask])
def test_workers_of_batches_killed_30_times(
    workers: Callable[[], AbstractContextManager[Executor]], tmp_path: Path
) -> None:
    _batches_with_kills(workers, 30, 40, tmp_path)


def _kill_driver(kind: str, seed: int, folder: Path, scheduler: str) -> bool:
    """Kill a run with its checkpoint, and resume it; return whether there was something to resume."""
    generator = random.Random(seed)
    kept = folder / f"kept-{seed}"
    more = ("--checkpoint", str(kept), "--checkpoint-every", "0", "--scheduler", scheduler)
    process = begin(KINDS[kind], *more)
    deadline = time.monotonic() + 60
    while len(workers := workers_of(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(generator.uniform(1.0, 8.0))
    workers = workers_of(process.pid)
    process.kill()
    process.communicate()
    assert gone(workers, 30), "workers outlive their driver"
    again = ("--resume", str(kept)) if kept.exists() else ()
    elsewhere: Any = ("--scheduler", scheduler) if generator.random() < 0.5 else ("--device", "native")
    found = files_of(kind, KINDS[kind], folder / f"end-{seed}", *again, *elsewhere)
    expected = files_of(kind, KINDS[kind], folder / f"whole-{seed}", "--device", "native")
    assert found == expected
    return kept.exists()


def test_a_killed_driver_is_resumed(tmp_path: Path) -> None:
    _kill_driver("samples", 1, tmp_path, "local:2")


@pytest.mark.verification
def test_drivers_killed_10_times(tmp_path: Path) -> None:
    kinds = ("samples", "search", "steps", "learned", "rule", "shares")
    resumed = [_kill_driver(kinds[seed % len(kinds)], seed, tmp_path, "local:2") for seed in range(10)]
    assert sum(resumed) >= 3
