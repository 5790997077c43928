"""Runs on a real SLURM of one node: the bits of one process, also when jobs are cancelled."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.device.slurm.one_node import missing, one_node
from tests.kills.runs import KINDS, content_of, files_of
from tests.kills.runs import begin as begin_here

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.verification,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

OPTIONS = "jobs=3,cores=1,memory=1GB,walltime=0:20:00,interface=lo"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with one_node(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def begin(
    kind: str, folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> subprocess.Popen[str]:
    """Start a run whose workers are jobs; their logs go to the folder."""
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, environment[name])
    scheduler = f"slurm:{OPTIONS},log_directory={folder}"
    return begin_here(KINDS[kind], "--out", str(folder / "out"), "--scheduler", scheduler)


def jobs_of(environment: dict[str, str], state: str = "all") -> list[str]:
    """Return the numbers of the jobs in a state."""
    command = ["squeue", "-h", "-o", "%i", "-t", state]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return found.stdout.split()


def wait_for(environment: dict[str, str], count: int, process: subprocess.Popen[str]) -> list[str]:
    """Return the running jobs once there are `count` of them."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        jobs = jobs_of(environment, "running")
        if len(jobs) >= count:
            return jobs
        time.sleep(0.2)
    raise AssertionError(f"no {count} jobs are running")


def end(process: subprocess.Popen[str], folder: Path) -> dict[str, bytes]:
    _, report = process.communicate(timeout=600)
    assert process.returncode == 0, report
    return content_of(folder / "out")


@pytest.mark.parametrize("kind", ["samples", "search", "leaf"])
def test_the_bits_are_those_of_one_process(
    slurm: dict[str, str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = begin(kind, tmp_path, slurm, monkeypatch)
    assert len(wait_for(slurm, 3, process)) == 3
    found = end(process, tmp_path)
    assert found == files_of(kind, KINDS[kind], tmp_path / "whole", "--device", "native")
    _no_jobs_are_left(slurm)


def test_cancelled_jobs(slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SLURM kills jobs, as it does at their time limit; others take their place."""
    generator = random.Random(1)
    process = begin("samples", tmp_path, slurm, monkeypatch)
    cancelled: set[str] = set()
    while len(cancelled) < 4 and process.poll() is None:
        job = generator.choice(wait_for(slurm, 1, process))
        subprocess.run(["scancel", "--signal=KILL", "--full", job], env=slurm, check=True)
        cancelled.add(job)
        time.sleep(generator.uniform(0.5, 3.0))
    assert len(cancelled) >= 2
    found = end(process, tmp_path)
    assert found == files_of("samples", KINDS["samples"], tmp_path / "whole", "--device", "native")
    _no_jobs_are_left(slurm)


def test_ctrl_c_ends_the_jobs(slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = begin("samples", tmp_path, slurm, monkeypatch)
    wait_for(slurm, 2, process)
    os.kill(process.pid, 15)
    process.communicate(timeout=60)
    assert process.returncode in (130, 143)
    _no_jobs_are_left(slurm)


def _no_jobs_are_left(environment: dict[str, str]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not jobs_of(environment, "running,pending"):
            return
        time.sleep(0.5)
    raise AssertionError(f"jobs are left: {jobs_of(environment)}")
