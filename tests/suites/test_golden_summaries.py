"""Golden summaries: ten runs whose summary.json has the same bytes on every stack and device.

`golden_summaries.json` has the SHA-256 of each, recorded on the CPU device under Python 3.11 (numpy 1.26,
dpctl 0.17). CI checks them there and under a newer Python. If the chains, the searches or the file's content
change, record them again from the checkout: `python -m tests.suites.test_golden_summaries`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

import syclade
from syclade.host.data.model.simulate import simulate

RECORDED = Path(__file__).with_name("golden_summaries.json")

RUNS: dict[str, dict[str, Any]] = {
    "search, small": {"size": (20, 31), "method": "search"},
    "search, more mutations than cells": {
        "size": (80, 40),
        "method": "search",
        "max_trees": 20,
        "support": "none",
    },
    "chains of 2 rounds": {"size": (30, 25), "chains": 4, "steps": 3000},
    "chains of 4 rounds": {"size": (60, 63), "chains": 3, "steps": 2000, "gamma": 1.5},
    "chains of 8 rounds": {"size": (127, 128), "chains": 2, "steps": 1000},
    "wide chains": {"size": (40, 1100), "chains": 2, "steps": 200},
    "samples": {"size": (20, 31), "chains": 3, "steps": 2000, "samples": 50},
    "sum score": {"size": (20, 31), "chains": 3, "steps": 2000, "score": "sum"},
    "learned rate": {"size": (30, 60), "chains": 3, "steps": 2000, "learn_fn": 0.2},
    "cell trees": {"size": (30, 20), "chains": 3, "steps": 2000, "of": "cells"},
}
"""Options of `infer`; `size` is the matrix's, (mutations, cells)."""


def digest_of(name: str, device: str, folder: Path) -> str:
    """Return the SHA-256 of a run's summary.json."""
    options = dict(RUNS[name])
    mutations, cells = options.pop("size")
    infer = syclade.infer_leaf if options.pop("of", "") == "cells" else syclade.infer
    matrix = simulate(cells, mutations, 0.01, 0.2, 0.1, seed=len(name)).matrix
    infer(matrix, fp_rate=0.01, fn_rate=0.2, seed=7, device=device, **options).write(folder)
    return hashlib.sha256((folder / "summary.json").read_bytes()).hexdigest()


DEVICES = ["native", pytest.param("cpu", marks=pytest.mark.sycl)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RUNS)
def test_a_summary_is_the_recorded_one(tmp_path: Path, name: str, device: str) -> None:
    assert digest_of(name, device, tmp_path / "out") == json.loads(RECORDED.read_text())[name]


def test_every_run_has_its_own_summary() -> None:
    recorded = json.loads(RECORDED.read_text())
    assert set(recorded) == set(RUNS)
    assert len(set(recorded.values())) == len(RUNS) == 10


def record() -> None:
    """Record the digests again."""
    with tempfile.TemporaryDirectory() as folder:
        found = {name: digest_of(name, "cpu", Path(folder, str(at))) for at, name in enumerate(RUNS)}
    RECORDED.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    record()
