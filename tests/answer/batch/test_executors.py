"""Batches on other executors and devices: the same files as in threads of one process."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from syclade.host.answer.batch.folder import Batch, run_batch
from syclade.host.answer.batch.run_task import Place
from syclade.host.answer.batch.task import Task
from syclade.host.ground.options import Options
from syclade.host.ground.signals import Stop
from tests.answer.batch.cohort import OPTIONS, batch, content_of, write_cohort
from tests.golden.commands import call


@pytest.mark.slow
def test_processes(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 3)
    options = Options(fp_rate=0.02, fn_rate=0.2, support="none", device="native")
    tasks = tuple(Task(path.stem, str(path), options) for path in paths)
    ended: list[str] = []
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        place = Place(tmp_path / "out", False, Stop())
        run_batch(Batch(tmp_path / "out", tasks), pool, place, lambda line: ended.append(line["name"]))
    assert sorted(ended) == ["m0", "m1", "m2"]
    assert batch(*paths, "--out", tmp_path / "threads").status == 0
    assert content_of(tmp_path / "out") == content_of(tmp_path / "threads")


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", pytest.param("fpga-emu", marks=pytest.mark.verification)])
def test_devices(tmp_path: Path, device: str) -> None:
    paths = write_cohort(tmp_path / "in", 3)
    words = ["batch", *map(str, paths), "--out", str(tmp_path / "out"), "--jobs", "3", *OPTIONS[:-1], device]
    assert call(words).status == 0
    assert batch(*paths, "--out", tmp_path / "native").status == 0
    found, native = content_of(tmp_path / "out"), content_of(tmp_path / "native")
    assert found.keys() == native.keys()
    same = [name for name in native if not name.endswith(("run.json", "batch.json"))]
    assert all(found[name] == native[name] for name in same)
    assert all(found[name]["options"]["device"] == device for name in found if name.endswith("run.json"))
