"""summary.json has the same bytes for equal runs; run.json has the rest."""

from pathlib import Path
from typing import Any

import pytest

import syclade
from syclade.host.data.model.simulate import simulate
from tests.support.did_all import assert_did_all
from tests.support.searches import shorten_chains

MATRIX = simulate(cells=14, mutations=6, fp_rate=0.01, fn_rate=0.2, missing=0.1, seed=2).matrix


def summary(folder: Path, **options: object) -> bytes:
    keywords: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "seed": 5, **options}
    result = syclade.infer(MATRIX, **keywords)
    assert_did_all(result, keywords["device"])
    result.write(folder)
    return (folder / "summary.json").read_bytes()


@pytest.mark.sycl
@pytest.mark.parametrize("keywords", [{"chains": 3, "steps": 400}, {"method": "search", "support": "none"}])
def test_equal_runs_have_equal_summaries(
    tmp_path: Path, keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_chains(monkeypatch, 2_000)
    first = summary(tmp_path / "first", device="native", **keywords)
    others: list[dict[str, Any]] = [{"device": "native", "slots": 2}, {"device": "cpu"}, {"device": "numpy"}]
    for at, other in enumerate(others):
        assert summary(tmp_path / str(at), **other, **keywords) == first
    assert summary(tmp_path / "seed", device="native", **{**keywords, "seed": 6}) != first
