"""Schedulers by a text, on the command line: messages, signals, and no workers left behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest

import syclade
from syclade.host.device.cluster import scheduler
from syclade.host.device.cluster.scheduler import open_scheduler
from syclade.host.ground.errors import OptionError, WorkersError
from syclade.host.ground.signals import Stop
from tests.conftest import ROOT
from tests.support.killed_workers import gone, workers_of

EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"
PROGRAM = [sys.executable, "-c", "from syclade.__main__ import main; main()", "infer", str(EXAMPLE)]
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
CHAINS = [*PROGRAM, *RATES, "--chains", "4"]


def begin(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CHAINS, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore SIGINT, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


BUSY_SECONDS = 0.5
"""Processor time, beside that of its main thread, of a worker that runs chains: jobs have a thread."""


def wait_for_start(process: subprocess.Popen[str], seconds: float) -> list[psutil.Process]:
    """Wait until two workers run chains; return them."""
    deadline = time.monotonic() + seconds
    while True:
        workers = workers_of(process.pid)
        if len(workers) >= 2 and all(runs_chains(one) for one in workers):
            return workers
        assert time.monotonic() < deadline, "the chains have not begun"
        time.sleep(0.1)


def runs_chains(worker: psutil.Process) -> bool:
    return any(one.user_time > BUSY_SECONDS for one in worker.threads() if one.id != worker.pid)


BAD = {
    "": "is ''",
    "pbs": "is 'pbs'",
    "local": "local: has no number of workers",
    "local:0": "local:0 has no number",
    "local:x": "local:x has no number",
    "local:99999999": "has no number of workers from 1 to 4096",
    "local:2,jobs=3": "'jobs=3' is not an option",
    "local:2,dashboard=": "'dashboard=' is not an option",
    "local:2,dashboard=yes": "dashboard is 'yes'",
    "local:2,dashboard=:65536": "dashboard is ':65536'",
    "tcp:": "is 'tcp:'",
    "slurm:jobs=0": "jobs is '0'",
    "slurm:jobs=2,jobs=3": "jobs is given twice",
    "slurm:jobs=100000000": "jobs is '100000000', not a number from 1 to 100000",
    "slurm:dashboard=8787": "dashboard is '8787'",
    "slurm:cores=x": "cores is 'x'",
    "slurm:job=3": "'job=3' is not an option",
    "slurm:memory": "'memory' is not an option",
}


@pytest.mark.parametrize("text", BAD)
def test_texts_that_name_no_scheduler(text: str) -> None:
    with pytest.raises(OptionError, match=BAD[text]) as found, open_scheduler(text):
        pass
    assert re.search(
        r"local:N, tcp://HOST:PORT, or slurm:jobs=|such as 127.0.0.1:8787", str(found.value.hint)
    )


def test_a_machine_without_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(WorkersError, match="slurm: this machine has no command sbatch"),
        open_scheduler("slurm:"),
    ):
        pass


def slurm_of(place: Path, sbatch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put commands of a SLURM on the path: sbatch as given, a queue that is empty."""
    monkeypatch.chdir(place)  # where certificates are
    for name, script in {"sbatch": sbatch, "squeue": ":", "scancel": ":"}.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.slow
def test_slurm_takes_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    slurm_of(tmp_path, "echo 'sbatch: error: invalid account' >&2; exit 1", monkeypatch)
    words = "slurm:jobs=2: the workers do not start: sbatch: error: invalid account"
    with pytest.raises(WorkersError, match=words), open_scheduler("slurm:jobs=2"):
        pass
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_slurm_takes_no_more_jobs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The first job ends at once, and no other one is taken; a stop request ends the run all the same."""
    monkeypatch.setattr(scheduler, "KEEP_SECONDS", 0.2)
    taken = tmp_path / "taken"
    script = f"[ -e {taken} ] && echo 'sbatch: error: limit' >&2 && exit 1; touch {taken}; "
    slurm_of(tmp_path, script + "echo Submitted batch job 17", monkeypatch)
    stop = Stop()
    threading.Timer(2.0, lambda: setattr(stop, "wanted", True)).start()
    with open_scheduler("slurm:") as executor:
        result = syclade.infer(EXAMPLE, fp_rate=0.001, fn_rate=0.2, executor=executor, stop=stop)
    assert result.stopped_in == "tree"
    assert "workers that ended are not replaced: sbatch: error: limit" in caplog.text
    assert "Traceback" not in capfd.readouterr().err


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 1)
    address = "tcp://127.0.0.1:1"
    with pytest.raises(WorkersError, match=f"{address}: there is no answer"), open_scheduler(address):
        pass


def test_dask_jobqueue_leaves_the_handler_of_ctrl_c() -> None:
    """Its import replaces it: the program would end without a word, and with status 0."""
    code = (
        "import signal; from syclade.host.device.cluster.scheduler import _import_jobqueue; "
        "_import_jobqueue(); "
    )
    code += "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    begun = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    subprocess.run([sys.executable, "-c", begun + code], check=True)


@pytest.mark.parametrize(
    ("package", "text"),
    [("dask-jobqueue", "local:1"), ("cryptography", "local:1"), ("cryptography", "slurm:")],
)
def test_the_extra_is_missing(package: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library that makes certificates, no workers are started that everybody can use."""
    monkeypatch.setattr(scheduler, "version_of", lambda name: None if name == package else "1")
    with pytest.raises(OptionError, match=f"needs {package}") as found, open_scheduler(text):
        pass
    assert "cluster" in str(found.value.hint)


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(OptionError, match="--image"):
        syclade.infer([[0, 1]], fp_rate=0.1, fn_rate=0.1, device="cpu,native", image="x")
    process = begin("--scheduler", "local:2", "--device", "cpu,native")
    _, report = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "--scheduler does not go with --device cpu,native" in report


@pytest.mark.slow
def test_the_command_shares_a_run_and_says_where(tmp_path: Path) -> None:
    process = begin(
        *("--steps", "2000", "--support", "none", "--scheduler", "local:2", "--out", str(tmp_path / "a"))
    )
    _, report = process.communicate(timeout=120)
    assert process.returncode == 0, report
    assert "dashboard" not in report
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    assert sum(one["count"] for one in run["work"]) == 4 * 2000
    assert all(", on " in one["device_name"] for one in run["work"])
    assert "Traceback" not in report


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("times", [1, 2])
def test_signals_leave_no_workers(times: int, tmp_path: Path) -> None:
    """The first signal ends the run with the best tree so far, the second one at once."""
    process = begin("--steps", str(10**12), "--scheduler", "local:2", "--out", str(tmp_path / "a"))
    try:
        workers = wait_for_start(process, 60)
        assert len(workers) == 2
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.6 if times > 1 else 0)
        _, report = process.communicate(timeout=60)
    finally:
        process.kill()
    assert gone(workers, 20)
    assert process.returncode == 128 + signal.SIGINT, report
    assert "Traceback" not in report
    if times == 1:
        assert "summary.json" in json.loads((tmp_path / "a" / "run.json").read_text())["files"]


def test_an_interrupt_ends_workers_at_once_and_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask by itself waits 10 s for workers, and starts another one in place of one that is killed."""
    from distributed import Nanny

    closed, started = [], []

    async def instantiate(nanny: Any) -> None:
        started.append(nanny)

    with ExitStack() as opened:
        cluster = scheduler._local("1").start(opened)
        (nanny,) = cluster.workers.values()
        workers = workers_of(os.getpid())
        monkeypatch.setattr(Nanny, "instantiate", instantiate)
        monkeypatch.setattr(cluster, "close", lambda: closed.append(cluster))
        scheduler._end_of(cluster)(KeyboardInterrupt)
        assert gone(workers, 20)
        deadline = time.monotonic() + 20
        while not started and nanny.status.name != "closed" and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not started
        assert nanny.status.name == "closed"
        assert not closed
        monkeypatch.undo()


async def answer_of(address: str, security: Any) -> Any:
    """Return the answer of a part of dask to a stranger."""
    from distributed.core import connect

    comm = await connect(address, timeout=2, **security.get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return await asyncio.wait_for(comm.read(), 2)
    finally:
        comm.abort()


def test_strangers_cannot_use_the_workers_of_a_run() -> None:
    """Neither the scheduler nor a worker or its nanny answers who has not the certificate of this run.

    They listen on this machine alone, and show nothing to a browser.
    """
    from distributed import Security
    from distributed.comm import CommClosedError

    with open_scheduler("local:1") as executor:
        client = executor._client  # type: ignore[attr-defined]
        client.wait_for_workers(1)
        workers = client.scheduler_info()["workers"]
        addresses = [client.scheduler.address, *workers, *(one["nanny"] for one in workers.values())]
        assert len(addresses) == 3
        assert client.sync(answer_of, addresses[0], client.security)["type"] == "Scheduler"
        for address in addresses:
            assert address.startswith("tls://127.0.0.1:")
            with pytest.raises((CommClosedError, OSError, TimeoutError)):
                client.sync(answer_of, address, Security.temporary())
            with pytest.raises((CommClosedError, OSError, TimeoutError)):
                client.sync(answer_of, address.replace("tls", "tcp"), Security())
        with pytest.raises(HTTPError, match="404"):
            urlopen(client.dashboard_link.replace("/status", "/info/main/workers.html"))
        here = psutil.Process()
        for process in (here, *here.children(recursive=True)):
            listening = [one.laddr.ip for one in process.net_connections() if one.status == "LISTEN"]
            assert set(listening) <= {"127.0.0.1"}
        assert executor.submit(int, 3).result() == 3


def test_a_dashboard_is_shown_on_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="syclade.workers")
    with open_scheduler("local:1,dashboard=127.0.0.1:0") as executor:
        link = executor._client.dashboard_link  # type: ignore[attr-defined]
        assert f"dashboard of the workers: {link}" in caplog.text
        assert b"Worker" in urlopen(link.replace("/status", "/info/main/workers.html")).read()


def test_the_configuration_of_dask_stays() -> None:
    """Its defaults are loaded by the first import of distributed, which must not be undone with ours."""
    code = "from syclade.host.device.cluster.scheduler import _published\nwith _published(''): pass\n"
    code += "import dask, distributed; assert dask.config.get('distributed.scheduler.http.routes')"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("here", "parent"), [("plain", "plain"), ("two words", "home")])
def test_jobs_of_slurm_get_the_certificate_in_files_of_their_owner(
    here: str, parent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are in a folder whose name a shell takes as it is. No job is submitted here."""
    for name in (here, "home"):
        (tmp_path / name).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(scheduler, "_maintain_workers", lambda *_: None)
    with ExitStack() as opened:
        cluster = scheduler._slurm("jobs=2,python=python3").start(opened)
        script = cluster.job_script()
        assert cluster.scheduler_address.startswith("tls://")
        files = re.findall(r"--tls-[a-z-]+ (\S+)", script)
        assert len(files) == 3
        for file in map(Path, files):
            assert file.parent.parent == tmp_path / parent
            assert (file.stat().st_mode | file.parent.stat().st_mode) & 0o077 == 0
        assert "PRIVATE KEY" not in script
        assert "--no-dashboard --dashboard-address 127.0.0.1:0" in script
        assert cluster.scheduler.http_server.address == "127.0.0.1"
    assert not list((tmp_path / parent).iterdir())


@pytest.mark.slow
def test_a_scheduler_at_an_address() -> None:
    """Its workers stay, and do the jobs of one run after the other."""
    from distributed import LocalCluster

    rates: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "chains": 4, "steps": 1000}
    rates["support"] = "none"
    with LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        for _ in range(2):
            with open_scheduler(cluster.scheduler_address) as executor:
                result = syclade.infer(EXAMPLE, **rates, executor=executor)
                assert sum(one.count for one in result.work) == 4000
        assert len(cluster.scheduler_info["workers"]) == 2


@pytest.mark.slow
def test_a_scheduler_that_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run does not hang: the message says to resume it."""
    from distributed import LocalCluster

    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 1)
    options: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "chains": 4, "steps": 10**10}
    cluster = LocalCluster(n_workers=1, dashboard_address=None, silence_logs=50)

    def end(_state: object) -> None:
        if cluster.status.name == "running":
            cluster.close()

    with (
        cluster,
        open_scheduler(cluster.scheduler_address) as executor,
        pytest.raises(WorkersError, match=r"resume|answer"),
    ):
        syclade.infer(EXAMPLE, **options, executor=executor, progress=end)
