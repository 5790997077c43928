"""Schedulers by a text, on the command line: messages, signals, and no workers left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import syclade
from syclade.host.cluster import scheduler
from syclade.host.cluster.scheduler import open_scheduler
from syclade.host.common.errors import OptionError, WorkersError
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


BUSY_SECONDS = 3.0
"""Processor time that a worker has used when it has imported all and runs chains."""


def wait_for_start(process: subprocess.Popen[str], seconds: float) -> list[psutil.Process]:
    """Wait until two workers run chains; return them."""
    deadline = time.monotonic() + seconds
    while True:
        workers = workers_of(process.pid)
        if len(workers) >= 2 and all(one.cpu_times().user > BUSY_SECONDS for one in workers):
            return workers
        assert time.monotonic() < deadline, "the chains have not begun"
        time.sleep(0.1)


BAD = {
    "": "is ''",
    "pbs": "is 'pbs'",
    "local": "local: has no number of workers",
    "local:0": "local:0 has no number",
    "local:x": "local:x has no number",
    "tcp:": "is 'tcp:'",
    "slurm:jobs=0": "jobs is '0'",
    "slurm:cores=x": "cores is 'x'",
    "slurm:job=3": "'job=3' is no option",
    "slurm:memory": "'memory' is no option",
}


@pytest.mark.parametrize("text", BAD)
def test_texts_that_name_no_scheduler(text: str) -> None:
    with pytest.raises(OptionError, match=BAD[text]) as found, open_scheduler(text):
        pass
    assert "local:N, tcp://HOST:PORT, or slurm:jobs=" in str(found.value.hint)


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 1)
    address = "tcp://127.0.0.1:1"
    with pytest.raises(WorkersError, match=f"{address}: there is no answer"), open_scheduler(address):
        pass


def test_dask_jobqueue_leaves_the_handler_of_ctrl_c() -> None:
    """Its import replaces it: the program would end without a word, and with status 0."""
    code = "import signal; from syclade.host.cluster.scheduler import _slurm_cluster; _slurm_cluster(); "
    code += "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    begun = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    subprocess.run([sys.executable, "-c", begun + code], check=True)


def test_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "version_of", lambda name: None if name == "dask-jobqueue" else "1")
    with pytest.raises(OptionError, match="needs dask-jobqueue") as found, open_scheduler("local:1"):
        pass
    assert "cluster" in str(found.value.hint)


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(OptionError, match="--image"):
        syclade.infer([[0, 1]], fp_rate=0.1, fn_rate=0.1, device="cpu,native", image="x")
    process = begin("--scheduler", "local:2", "--device", "cpu,native")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "--scheduler does not go with --device cpu,native" in told


@pytest.mark.slow
def test_the_command_shares_a_run_and_says_where(tmp_path: Path) -> None:
    process = begin("--steps", "20000", "--scheduler", "local:2", "--out", str(tmp_path / "a"))
    _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    assert "dashboard of the workers: http://127.0.0.1:" in told
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    assert sum(one["count"] for one in run["work"]) == 4 * 20_000
    assert all(", on " in one["device_name"] for one in run["work"])
    assert "Traceback" not in told


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
        _, told = process.communicate(timeout=8)  # dask by itself takes 10 s after two signals
    finally:
        process.kill()
    assert gone(workers, 20)
    assert process.returncode == 128 + signal.SIGINT, told
    assert "Traceback" not in told
    if times == 1:
        assert "summary.json" in json.loads((tmp_path / "a" / "run.json").read_text())["files"]


@pytest.mark.slow
def test_a_scheduler_at_an_address() -> None:
    """Its workers stay, and do the jobs of one run after the other."""
    from distributed import LocalCluster

    rates: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "chains": 4, "steps": 10_000}
    with LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        for _ in range(2):
            with open_scheduler(cluster.scheduler_address) as executor:
                result = syclade.infer(EXAMPLE, **rates, executor=executor)
                assert sum(one.count for one in result.work) == 40_000
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
