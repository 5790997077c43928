"""`syclade quality consensus`: the command with small inputs, and its numbers by definition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.host.cli.main import main
from syclade.host.trees.distances import Agreement
from syclade.quality.consensus.result import ConsensusStudy, Found, f1_of


def found(seed: int, method: str, shared: int) -> Found:
    pairs = Agreement(shared, 8, 10)
    return Found(seed, method, 5, 100.0, {"ancestors": pairs, "lineages": pairs})


def study(ours: int) -> ConsensusStudy:
    methods = ("most likely tree", "pairs", "consensus")
    every = [
        found(seed, name, shared)
        for seed in (1, 2)
        for name, shared in zip(methods, (4, 6, ours), strict=True)
    ]
    return ConsensusStudy(tuple(every), 10, 10, 2, 100, "numpy", 1)


def test_f1_is_the_harmonic_mean() -> None:
    pairs = Agreement(4, 8, 10)
    assert f1_of(pairs) == pytest.approx(2 / (1 / pairs.precision + 1 / pairs.recall))
    assert f1_of(Agreement(0, 0, 0)) == 1.0


def test_it_holds_where_the_consensus_is_no_worse() -> None:
    assert study(5).holds
    assert not study(3).holds
    assert study(5).mean_f1("consensus", "lineages") == pytest.approx(10 / 18)
    assert "| consensus" in study(5).markdown()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = [
        "quality",
        "consensus",
        "--cells=20",
        "--mutations=10",
        "--inputs=2",
        "--chains=2",
        "--steps=4000",
    ]
    with pytest.raises(SystemExit) as ended:
        main([*given, "--device=native", f"--out={out}"])
    told = json.loads((out / "consensus.json").read_text())
    assert ended.value.code == (0 if told["holds"] else 1)
    assert {one["seed"] for one in told["found"]} == {told["settings"]["seed"], told["settings"]["seed"] + 1}
    methods = [one["method"] for one in told["found"] if one["seed"] == told["settings"]["seed"]]
    assert methods[:3] == ["most likely tree", "pairs ≥ 0.5", "consensus 0.6, 0.6"]
    assert len(set(methods)) == len(methods)
    true = {one["ancestors"]["true"] for one in told["found"] if one["seed"] == told["settings"]["seed"]}
    assert len(true) == 1
    table = (out / "consensus.md").read_text()
    assert table in capsys.readouterr().out
    assert table.count("\n") == 2 + len(methods)
