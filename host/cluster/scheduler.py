"""Executors by a text such as `local:4`, `tcp://10.0.0.1:8786` or `slurm:jobs=20,cores=4`: those of dask."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import Any

from syclade.host.common.distributions import version_of
from syclade.host.common.errors import OptionError, WorkersError
from syclade.host.common.install import install_command
from syclade.host.common.values import shown
from syclade.host.devices.cores import THREADS_VARIABLE, usable_cores
from syclade.host.options import flag_of

__all__ = ["open_scheduler"]

logger = logging.getLogger("syclade.workers")

CONNECT_SECONDS = 20
"""Longest wait for a scheduler to answer."""

KEEP_SECONDS = 5.0
"""Time between two checks whether all workers are there."""

BUSY_SECONDS = 1.0
"""Time for a worker to end by itself: what it still does after a stop is lost anyway."""

_WITHOUT_PROFILE = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
"""Keeps dask from looking at a worker's Python code a hundred times a second; kernels are not in it."""

SLURM = {
    "jobs": "1", "cores": "1", "memory": "2GB", "walltime": "1:00:00", "queue": "", "account": "",
    "interface": "", "python": "", "log_directory": "",
}  # fmt: skip
"""Options of SLURM, with their defaults; empty for those of dask-jobqueue."""

_PROTOCOLS = ("tcp", "tls", "ucx", "ws", "wss")
_USE = (
    f"use {flag_of('scheduler')} local:N, tcp://HOST:PORT, or slurm:{','.join(f'{key}=…' for key in SLURM)}"
)


@contextmanager
def open_scheduler(text: str) -> Iterator[Executor]:
    """Yield an executor; at the end, stop the workers that were started for it.

    Args:
        text: local:N for N processes of this machine, which share its cores; the address of a dask scheduler,
            whose workers stay; or slurm, with options after a colon, for workers that are jobs of SLURM.

    Raises:
        OptionError: the text is none of these, or the libraries are not installed.
        WorkersError: the scheduler does not answer, or SLURM takes no jobs.
    """
    kind, _, rest = str(text).partition(":")
    if kind == "local":
        connect: Callable[[ExitStack], Any] = _local(rest)
    elif kind == "slurm":
        connect = _slurm(rest)
    elif kind in _PROTOCOLS and len(rest) > 2:
        connect = lambda _: text  # noqa: E731
    else:
        raise OptionError(f"{flag_of('scheduler')} is {shown(text)}", hint=_USE)
    _require_dask()
    with ExitStack() as opened:
        client = _client(opened, connect, text)
        if client.dashboard_link:
            logger.info("dashboard of the workers: %s", client.dashboard_link)
        yield client.get_executor(pure=False)


def _client(opened: ExitStack, connect: Callable[[ExitStack], Any], text: str) -> Any:
    """Return a client of a scheduler, closed by `opened`."""
    from distributed import Client

    try:
        client = Client(connect(opened), timeout=CONNECT_SECONDS, set_as_default=False, name="syclade")
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip() or type(error).__name__
        said = "there is no answer" if "//" in text else "the workers do not start"
        raise WorkersError(f"{flag_of('scheduler')} {text}: {said}: {reason}", hint=_USE) from error
    opened.callback(client.close)
    return client


def _require_dask() -> None:
    """Check that the extra is installed.

    Raises:
        OptionError: it is not.
    """
    missing = [name for name in ("distributed", "dask-jobqueue") if version_of(name) is None]
    if missing:
        raise OptionError(
            f"{flag_of('scheduler')} needs {' and '.join(missing)}",
            hint=f"install the extra: {install_command('cluster')}",
        )


def _slurm_cluster() -> Any:
    """Return dask-jobqueue's class; its version 0.9 replaces the handler of SIGINT when it is imported."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        from dask_jobqueue import SLURMCluster
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
    return SLURMCluster


def _keep_number(
    opened: ExitStack, cluster: Any, workers: int, lost: Callable[[Mapping[str, Any]], list[str]]
) -> None:
    """Start workers, and replace those that end: jobs at their time limit, or that die while they start.

    dask notices neither that a worker ended before it had connected, nor that it has too few, unless it is
    asked for a number of them.

    Args:
        opened: ends this.
        cluster: a cluster of dask.
        workers: number of workers.
        lost: (what dask has started, by name) -> names of those that have ended.

    Raises:
        RuntimeError: they cannot be started.
    """
    over = threading.Event()

    def forget(names: list[str]) -> None:
        for name in names:
            cluster.workers.pop(name, None)

    def keep() -> None:
        while not over.wait(KEEP_SECONDS):
            ended = lost(dict(cluster.workers))
            if ended:
                cluster.loop.add_callback(forget, ended)
            cluster.scale(workers)

    cluster.scale(workers)
    cluster.sync(cluster._correct_state)
    thread = threading.Thread(target=keep, name="syclade-workers", daemon=True)
    thread.start()
    opened.callback(thread.join)
    opened.callback(over.set)  # callbacks are called in reverse


def _end_of(cluster: Any) -> Callable[..., None]:
    """Return the exit callback that ends a cluster of this machine: at once if the program is interrupted.

    Then its workers end with this process, and dask would wait 10 s for them.
    """

    async def end_workers() -> None:
        await asyncio.gather(*(one.close(timeout=BUSY_SECONDS) for one in cluster.workers.values()))

    def end(kind: type[BaseException] | None, *_: object) -> None:
        cluster.shutdown_on_close = False
        if kind is not KeyboardInterrupt:
            cluster.sync(end_workers)
            cluster.close()

    return end


def _closed(nannies: Mapping[str, Any]) -> list[str]:
    """Return the processes of this machine that have ended for good."""
    return [name for name, one in nannies.items() if one.status.name in ("closed", "failed")]


def _not_queued(jobs: Mapping[str, Any]) -> list[str]:
    """Return the jobs that are no longer in SLURM's queue; none if it does not answer."""
    command = ["squeue", "-h", "-o", "%i", "-u", str(os.getuid())]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []
    return [name for name, job in jobs.items() if job.job_id is not None and str(job.job_id) not in told]


def _local(rest: str) -> Callable[[ExitStack], Any]:
    """Return the function that starts workers on this machine, for the text after `local:`."""
    if not rest.isdecimal() or not 1 <= int(rest) <= 4096:
        raise OptionError(f"{flag_of('scheduler')} local:{rest} has no number of workers", hint=_USE)
    workers = int(rest)

    def start(opened: ExitStack) -> Any:
        from distributed import LocalCluster

        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,  # a worker does one job at a time, on all of its cores
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            env={THREADS_VARIABLE: str(max(1, usable_cores() // workers)), **_WITHOUT_PROFILE},
        )
        opened.push(_end_of(cluster))
        _keep_number(opened, cluster, workers, _closed)
        return cluster

    return start


def _slurm(rest: str) -> Callable[[ExitStack], Any]:
    """Return the function that submits workers to SLURM, for the text after `slurm:`."""
    given = dict(SLURM)
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in SLURM or not value:
            raise OptionError(f"{flag_of('scheduler')} slurm: {shown(part)} is no option", hint=_USE)
        given[key] = value
    for key in ("jobs", "cores"):
        if not given[key].isdecimal() or int(given[key]) < 1:
            raise OptionError(f"{flag_of('scheduler')} slurm: {key} is {shown(given[key])}", hint=_USE)
    jobs, cores = int(given.pop("jobs")), int(given.pop("cores"))

    def start(opened: ExitStack) -> Any:
        cluster = _slurm_cluster()(
            cores=1,  # threads of a worker: one, as for local workers
            processes=1,
            job_cpu=cores,
            job_script_prologue=[
                f"export {name}={value}"
                for name, value in {THREADS_VARIABLE: str(cores), **_WITHOUT_PROFILE}.items()
            ],
            scheduler_options={"dashboard_address": ":0"},
            **{key: value for key, value in given.items() if value},
        )
        opened.callback(cluster.close)
        _keep_number(opened, cluster, jobs, _not_queued)
        return cluster

    return start
