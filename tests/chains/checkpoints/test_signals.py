"""SIGTERM and Ctrl-C end a run with its results so far; after kill -9 it resumes from its checkpoint."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from syclade.host.data.model.simulate import simulate

PROGRAM = [sys.executable, "-c", "from syclade.__main__ import main; main()"]
RATES = ["--fp-rate", "0.01", "--fn-rate", "0.3", "--seed", "3", "--device", "native"]
WAIT = 300
Start = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("matrix") / "matrix.csv"
    made = simulate(cells=24, mutations=9, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=4)
    np.savetxt(place, made.matrix.values, fmt="%d")
    return place


@pytest.fixture
def start() -> Iterator[Start]:
    """Yield a function that starts the program; kill processes that still run at the end."""
    begun: list[subprocess.Popen[str]] = []

    def begin(matrix: Path, *options: object) -> subprocess.Popen[str]:
        begun.append(_begin(matrix, *options))
        return begun[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _begin(matrix: Path, *options: object) -> subprocess.Popen[str]:
    command = [*PROGRAM, "infer", str(matrix), *RATES, *map(str, options)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore SIGINT, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(place: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a file exists, which shows that the run is under way."""
    until = time.monotonic() + WAIT
    while not place.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_with_its_best_tree(
    start: Start, matrix: Path, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    out, kept = tmp_path / "out", tmp_path / "run"
    # More steps would be worth a kernel of their own, for which numba would need half a minute.
    long = ["--steps", 5 * 10**7, "--threads", 1]
    process = start(matrix, *long, "--out", out, "--checkpoint", kept, "--checkpoint-every", 0)
    wait_for(kept, process)
    process.send_signal(number)
    _, report = process.communicate(timeout=WAIT)
    assert process.returncode == status, report
    assert "stopping with the best tree so far" in report
    assert "Traceback" not in report
    assert f"syclade: a checkpoint was written: continue with --resume {kept} and --force\n" in report
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["interrupted"], summary["converged"]) == (True, False)
    assert (out / "tree.newick").exists()


def test_a_killed_run_goes_on(start: Start, matrix: Path, tmp_path: Path) -> None:
    kept, chains = tmp_path / "run", ["--chains", 4, "--steps", 2_000_000]
    process = start(matrix, *chains, "--checkpoint", kept, "--checkpoint-every", 0)
    wait_for(kept, process)
    process.kill()
    process.communicate(timeout=WAIT)
    assert not list(tmp_path.glob(".*.tmp.tmp"))
    outs = [tmp_path / "one", tmp_path / "other"]
    for out, more in zip(outs, (["--resume", kept], []), strict=True):
        process = start(matrix, *chains, *more, "--out", out)
        _, report = process.communicate(timeout=WAIT)
        assert process.returncode == 0, report
    for name in ("tree.newick", "tree.gv", "attachments.tsv"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()
    first, second = (json.loads((out / "summary.json").read_text()) for out in outs)
    for field in ("log_likelihood", "chain_log_likelihoods", "moves", "steps", "parents"):
        assert first[field] == second[field], field
