"""Executors by a text such as `local:4`, `tcp://10.0.0.1:8786` or `slurm:jobs=20,cores=4`: those of dask.

Dask runs whatever it receives. So workers that are started here take connections only from who has the
certificate of this run, which is made at its start and known to its own processes alone.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.device.device import THREADS_VARIABLE, usable_cores
from syclade.host.ground.errors import OptionError, WorkersError
from syclade.host.ground.limits import ONE_BLAS_THREAD
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import install_command, version_of
from syclade.host.ground.values import shown

if TYPE_CHECKING:
    from distributed import Client, LocalCluster, Security, SpecCluster
    from distributed.deploy.spec import ProcessInterface

    Jobs = Mapping[str, ProcessInterface]

__all__ = ["open_scheduler"]

logger = logging.getLogger("syclade.workers")

Connect = Callable[[ExitStack], object]
"""Returns what a client of dask connects to: an address, or a cluster that the stack closes."""

CONNECT_SECONDS = 20
"""Longest wait for a scheduler to answer."""

KEEP_SECONDS = 5.0
"""Time between two checks whether all workers are there."""

BUSY_SECONDS = 1.0
"""Time for a worker to end by itself: what it still does after a stop is lost anyway."""

_OF_WORKERS = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
} | ONE_BLAS_THREAD
"""Settings of workers: dask looks at their Python code not a hundred times a second, since kernels are not in
it, and publishes nothing about them."""

LOCAL = {"dashboard": ""}
"""Options of workers on this machine, with their defaults."""

SLURM = {
    "jobs": "1", "cores": "1", "memory": "2GB", "walltime": "1:00:00", "queue": "", "account": "",
    "interface": "", "python": "", "log_directory": "", "dashboard": "",
}  # fmt: skip
"""Options of SLURM, with their defaults; empty for those of dask-jobqueue."""

_PROTOCOLS = ("tcp", "tls", "ucx", "ws", "wss")
_USE = (
    f"use {flag_of('scheduler')} local:N, tcp://HOST:PORT, or slurm:{','.join(f'{key}=…' for key in SLURM)}"
)
_ADDRESS = re.compile(r"[\w.-]*:\d{1,5}")
_PLAIN = re.compile(r"[\w/.+@%=-]+")
"""Paths that a shell takes as they are: dask-jobqueue does not quote those of certificates."""


@contextmanager
def open_scheduler(text: str) -> Iterator[Executor]:
    """Yield an executor; at the end, stop the workers that were started for it.

    Args:
        text: local:N for N processes of this machine, which share its cores; the address of a dask scheduler,
            whose workers stay; or slurm, with options after a colon, for workers that are jobs of SLURM.
            Who can connect to a scheduler at a given address runs code as its workers do, and its answers run
            code here.

    Raises:
        OptionError: the text is none of these, or the libraries are not installed.
        WorkersError: the scheduler does not answer, or there is no SLURM, or it takes no jobs.
    """
    kind, _, rest = str(text).partition(":")
    own = kind in ("local", "slurm")
    if own:
        started = _local(rest) if kind == "local" else _slurm(rest)
        connect, dashboard = started.start, started.dashboard
    elif kind in _PROTOCOLS and len(rest) > 2:
        connect, dashboard = (lambda _: text), True
    else:
        raise OptionError(f"{flag_of('scheduler')} is {shown(text)}", hint=_USE)
    _require_dask(*(["cryptography"] if own else []))
    if kind == "slurm" and shutil.which("sbatch") is None:
        raise WorkersError(
            f"{flag_of('scheduler')} slurm: this machine has no command sbatch",
            hint=f"run syclade where SLURM takes jobs, such as on a login node, or {_USE}",
        )
    with ExitStack() as opened:
        client = _client(opened, connect, text)
        if dashboard and client.dashboard_link:
            logger.info("dashboard of the workers: %s", client.dashboard_link)
        yield client.get_executor(pure=False)


def _client(opened: ExitStack, connect: Connect, text: str) -> Client:
    """Return a client of a scheduler, closed by `opened`."""
    from distributed import Client

    try:
        client = Client(connect(opened), timeout=CONNECT_SECONDS, set_as_default=False, name="syclade")
    except (OSError, ValueError, RuntimeError) as error:
        reason = "there is no answer" if "//" in text else "the workers do not start"
        where = f"{flag_of('scheduler')} {text.rstrip(':')}"
        raise WorkersError(f"{where}: {reason}: {_reason_of(error)}", hint=_USE) from error
    opened.callback(client.close)
    return client


def _reason_of(error: Exception) -> str:
    """Return an error as one line; for a failed command, its standard error."""
    text = str(error)
    return " ".join((text.partition("stderr:")[2].strip() or text).split()) or type(error).__name__


def _require_dask(*besides: str) -> None:
    """Check that the extra is installed.

    Args:
        besides: further packages that are needed.

    Raises:
        OptionError: it is not.
    """
    needed = dict.fromkeys(("distributed", "dask-jobqueue", *besides))
    missing = [name for name in needed if version_of(name) is None]
    if missing:
        raise OptionError(
            f"{flag_of('scheduler')} needs {' and '.join(missing)}",
            hint=f"install the extra: {install_command('cluster')}",
        )


def _import_jobqueue() -> ModuleType:
    """Return dask-jobqueue; its version 0.9 replaces the handler of SIGINT when it is imported."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
    module: ModuleType = dask_jobqueue
    return module


def _maintain_workers(
    opened: ExitStack,
    cluster: SpecCluster,
    workers: int,
    lost: Callable[[Jobs], list[str]],
) -> None:
    """Start workers, and replace those that end: jobs at their time limit, or that die while they start.

    dask notices neither that a worker ended before it had connected, nor that it has too few, unless it is
    requested a number of them.

    Args:
        opened: ends this.
        cluster: a cluster of dask.
        workers: number of workers.
        lost: (what dask has started, by name) -> names of those that have ended.

    Raises:
        RuntimeError: they cannot be started.
    """
    from distributed import Status

    over = threading.Event()

    def forget(names: list[str]) -> None:
        for name in names:
            cluster.workers.pop(name, None)

    async def start() -> None:  # `scale` of dask prints a traceback if it fails, and raises nothing
        while len(cluster.worker_spec) < workers:
            cluster.worker_spec.update(cluster.new_worker_spec())
        try:
            await cluster._correct_state()
        finally:
            for one in cluster.workers.values():
                if one.status.name == "created":  # a job that SLURM did not take, on which dask's end insists
                    one.status = Status.failed

    async def replace() -> None:
        try:
            await start()
        except (OSError, ValueError, RuntimeError) as error:
            logger.warning("workers that ended are not replaced: %s", _reason_of(error))

    def watch() -> None:
        while not over.wait(KEEP_SECONDS):
            ended = lost(dict(cluster.workers))
            if ended:
                cluster.loop.add_callback(forget, ended)
            cluster.loop.add_callback(replace)

    cluster.sync(start)
    thread = threading.Thread(target=watch, name="syclade-workers", daemon=True)
    thread.start()
    opened.callback(thread.join)
    opened.callback(over.set)  # callbacks are called in reverse


def _end_of(cluster: LocalCluster) -> Callable[..., None]:
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
            return
        for nanny in cluster.workers.values():
            nanny.close_gracefully()  # it would replace a worker that is killed
        for worker in multiprocessing.active_children():  # one that just begins would miss its parent aloud
            worker.kill()

    return end


def _closed(nannies: Jobs) -> list[str]:
    """Return the processes of this machine that have ended for good."""
    return [name for name, one in nannies.items() if one.status.name in ("closed", "failed")]


def _not_queued(jobs: Jobs) -> list[str]:
    """Return the jobs that SLURM did not take, or no longer has in its queue; none if it does not answer."""
    command = ["squeue", "-h", "-o", "%i", "-u", str(os.getuid())]
    try:
        queued = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=60
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []
    return [name for name, job in jobs.items() if str(job.job_id) not in queued]


class _Started(NamedTuple):
    """Workers that are started for a run.

    Attributes:
        start: starts a cluster of dask, which the stack ends.
        dashboard: whether its dashboard was requested.
    """

    start: Callable[[ExitStack], SpecCluster]
    dashboard: bool


def _options(kind: str, rest: str, defaults: Mapping[str, str]) -> dict[str, str]:
    """Return options, such as `jobs=20,cores=4`.

    Raises:
        OptionError: one is unknown, has no value, or is given twice.
    """
    given: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in defaults or not value:
            raise OptionError(f"{flag_of('scheduler')} {kind}: {shown(part)} is not an option", hint=_USE)
        if key in given:
            raise OptionError(f"{flag_of('scheduler')} {kind}: {key} is given twice", hint=_USE)
        given[key] = value
    address = given.get("dashboard", ":0")
    if not _ADDRESS.fullmatch(address) or int(address.rpartition(":")[2]) > 65535:
        raise OptionError(
            f"{flag_of('scheduler')} {kind}: dashboard is {shown(address)}",
            hint="give the address where it listens, such as 127.0.0.1:8787",
        )
    return {**defaults, **given}


@contextmanager
def _published(address: str) -> Iterator[dict[str, str | bool]]:
    """Yield options of dask's scheduler, for a dashboard at an address; if that is empty, for none.

    Without a dashboard, the scheduler still has a web server, which then has no pages.
    """
    import dask
    import distributed  # noqa: F401, its defaults must be there, or they would be removed at the end

    if address:
        yield {"dashboard_address": address, "dashboard": True}
        return
    with dask.config.set({"distributed.scheduler.http.routes": []}):
        yield {"dashboard_address": "127.0.0.1:0", "dashboard": False}


def _local(rest: str) -> _Started:
    """Return how to start workers on this machine, for the text after `local:`."""
    number, _, more = rest.partition(",")
    if not number.isdecimal() or len(number) > 4 or not 1 <= int(number) <= 4096:
        raise OptionError(
            f"{flag_of('scheduler')} local:{rest} has no number of workers from 1 to 4096", hint=_USE
        )
    workers = int(number)
    given = _options("local", more, LOCAL)

    def start(opened: ExitStack) -> SpecCluster:
        from distributed import LocalCluster

        with _published(given["dashboard"]) as web:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,  # a worker does one job at a time, on all of its cores
                memory_limit=0,
                security=True,  # a certificate of its own
                dashboard_address=web["dashboard_address"],
                scheduler_kwargs=web,
                silence_logs=logging.CRITICAL,
                env={THREADS_VARIABLE: str(max(1, usable_cores() // workers)), **_OF_WORKERS},
            )
        opened.push(_end_of(cluster))
        _maintain_workers(opened, cluster, workers, _closed)
        return cluster

    return _Started(start, bool(given["dashboard"]))


def _slurm(rest: str) -> _Started:
    """Return how to submit workers to SLURM, for the text after `slurm:`."""
    given = _options("slurm", rest, SLURM)
    for key, most in (("jobs", 10**5), ("cores", 10**4)):
        text = given[key]
        if not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
            raise OptionError(
                f"{flag_of('scheduler')} slurm: {key} is {shown(text)}, not a number from 1 to {most}",
                hint=_USE,
            )
    jobs, cores, dashboard = int(given.pop("jobs")), int(given.pop("cores")), given.pop("dashboard")

    def start(opened: ExitStack) -> SpecCluster:
        with _published(dashboard) as web:
            cluster = _import_jobqueue().SLURMCluster(
                cores=1,  # threads of a worker: one, as for local workers
                processes=1,
                job_cpu=cores,
                job_script_prologue=[
                    f"export {name}='{value}'"
                    for name, value in {THREADS_VARIABLE: str(cores), **_OF_WORKERS}.items()
                ],
                security=_certificate_in_files(opened),
                worker_extra_args=_arguments_of_workers(bool(dashboard)),
                scheduler_options=web,
                **{key: value for key, value in given.items() if value},
            )
        opened.callback(cluster.close)
        _maintain_workers(opened, cluster, jobs, _not_queued)
        return cluster

    return _Started(start, bool(dashboard))


def _arguments_of_workers(dashboard: bool) -> list[str]:
    """Return further arguments of jobs: those of dask-jobqueue's configuration, and no dashboard."""
    import dask

    configured = dask.config.get("jobqueue.slurm.worker-extra-args", None) or []
    return [*configured, *([] if dashboard else ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"])]


def _certificate_in_files(opened: ExitStack) -> Security:
    """Return a certificate for dask, whose jobs read it from files that only their owner can read.

    Jobs start in the working directory, so that one is on all machines.

    Args:
        opened: removes the files.
    """
    import dask
    from distributed import Security

    configured = dask.config.get("jobqueue.slurm.shared-temp-directory", None)
    here = str(Path.cwd())
    parent = Path(configured).expanduser() if configured else here if _PLAIN.fullmatch(here) else Path.home()
    folder = Path(opened.enter_context(TemporaryDirectory(prefix=".syclade-", dir=parent)))
    security = Security.temporary()
    for role, text in security.get_tls_config_for_role("worker").items():
        if text is not None and "\n" in text:
            file = folder / role
            file.touch(0o600)
            file.write_text(text)
            setattr(security, "tls_ca_file" if role == "ca_file" else f"tls_worker_{role}", str(file))
    return security
