"""Batches by the workers of a scheduler: the files of one process, and a line for what was lost."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from syclade.host.answer.batch.folder import Batch, run_batch
from syclade.host.answer.batch.run_task import Place
from syclade.host.answer.batch.task import Task
from syclade.host.commands.main import main
from syclade.host.device.cluster.workers import RetryingExecutor
from syclade.host.ground.options import Options
from syclade.host.ground.signals import Stop
from tests.answer.batch.cohort import write_cohort
from tests.conftest import ROOT

EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES = ("--fp-rate", "0.001", "--fn-rate", "0.2", "--support", "none", "--device", "native", "--quiet")
SHARED = ("tree.newick", "summary.json", "attachments.tsv")
"""Files that equal runs share."""


def command(*words: object) -> object:
    """Return the exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


@pytest.mark.slow
def test_the_files_are_those_of_one_process(tmp_path: Path) -> None:
    matrices = write_cohort(tmp_path, 4)
    matrices[3].write_text("0 1\n1\n")  # fails, and stops no other
    for out, more in (("one", ()), ("many", ("--scheduler", "local:2"))):
        assert command("batch", *matrices, *RATES, "--out", tmp_path / out, *more) == 1
    for name in ("m0", "m1", "m2"):
        for file in SHARED:
            one, many = (tmp_path / out / name / file for out in ("one", "many"))
            assert one.read_bytes() == many.read_bytes()
    assert "m3\tfailed" in (tmp_path / "many" / "results.tsv").read_text()


class Losing(Executor):
    """An executor whose workers are always lost."""

    _broken = False

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("killed"))
        return future


def test_lost_workers_are_in_the_line_of_a_matrix(tmp_path: Path) -> None:
    batch = Batch(tmp_path / "out", (Task("a", str(EXAMPLE), Options(fp_rate=0.1, fn_rate=0.1)),))
    with RetryingExecutor(Losing()) as lasting:
        (line,) = run_batch(batch, lasting, Place(batch.folder, False, Stop()), lambda _: None)
    assert line["state"] == "waiting"
    assert "lost 20 times" in str(line["error"])


def test_jobs_do_not_go_with_a_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--scheduler", "local:2", "--jobs", "2")
    assert command("batch", EXAMPLE, *RATES, "--out", tmp_path / "out", *more) == 2
    assert "--jobs does not go with --scheduler" in capsys.readouterr().err
