"""The studies `consensus` and `branches`: the commands with small inputs, numbers by definition."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.data.trees.distances import Agreement
from syclade.host.findings.consensus.clone_tree import clone_tree_of
from syclade.host.findings.consensus.relations import count_relations
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.quality.peers.ours import consensus_of_all
from syclade.quality.peers.result import f1_of
from syclade.quality.studies import ChainsOnInputs
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.consensus import branches
from syclade.quality.studies.consensus.branches import ARMS, BranchesStudy, OfArm, Truth
from syclade.quality.studies.consensus.result import ConsensusStudy, Found


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
    return ConsensusStudy(tuple(every), ChainsOnInputs(10, 10, 2, 100, "numpy", 1))


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
        "consensus",
        "--cells=20",
        "--mutations=10",
        "--inputs=2",
        "--chains=2",
        "--steps=4000",
    ]
    with pytest.raises(SystemExit) as ended:
        run(*given, "--device=native", f"--out={out}")
    report = json.loads((out / "consensus.json").read_text())
    assert ended.value.code == (0 if report["holds"] else 1)
    assert {one["seed"] for one in report["found"]} == {
        report["settings"]["seed"],
        report["settings"]["seed"] + 1,
    }
    methods = [one["method"] for one in report["found"] if one["seed"] == report["settings"]["seed"]]
    assert methods[:3] == ["most likely tree", "pairs ≥ 0.5", "consensus 0.6, 0.6"]
    assert len(set(methods)) == len(methods)
    true = {one["ancestors"]["true"] for one in report["found"] if one["seed"] == report["settings"]["seed"]}
    assert len(true) == 1
    table = (out / "consensus.md").read_text()
    assert table in capsys.readouterr().out
    assert table.count("\n") == 2 + len(methods)


def test_the_consensus_keeps_back_what_few_cells_support() -> None:
    """All samples have the first mutation before the second, but cells have one or the other."""
    trees = np.tile(np.array([2, 0, 2], np.int32), (8, 1))
    values = np.repeat(np.array([[1, 0], [0, 1]], np.uint8), (30, 10), axis=1)
    store = SimpleNamespace(trees=lambda: [trees])
    samples = SimpleNamespace(store=store, relations=count_relations(store.trees))
    for matrix, clones in ((values, 1), (np.maximum(values, [[1], [0]]).astype(np.uint8), 2)):
        tree = consensus_of_all(
            cast(SampledMutationTrees, samples), trees[0], matrix_from_array(matrix), Rates(0.01, 0.1)
        )
        assert tree.clones - 1 == clones


# ---- branches


def branched(parents: list[int], attachments: list[int]) -> Simulation:
    """Return an input with a tree and its cells."""
    made = simulate(len(attachments), len(parents) - 1, 0.01, 0.1, 0.0, 1)
    tree, nodes = np.array(parents, np.int32), np.array(attachments, np.int32)
    above = clone_tree_of(tree).before | np.eye(len(parents) - 1, dtype=bool)
    return replace(made, parents=tree, attachments=nodes, truth=above[:, nodes].astype(np.uint8))


def test_claims_are_compared_within_and_between_branches() -> None:
    """0 before 1 on a branch; then 2 on one side, and 3 before 4 on the other."""
    truth = Truth(branched([5, 0, 1, 1, 3, 5], [1, 2, 4]))
    assert np.argwhere(truth.branch).tolist() == [[0, 1], [3, 4]]
    assert truth.clones == 3
    assert truth.compared(clone_tree_of(np.array([5, 0, 1, 1, 3, 5], np.int32))) == (2, 8, 0)
    assert truth.compared(clone_tree_of(np.array([1, 5, 0, 2, 3, 5], np.int32))) == (2, 6, 2)


@pytest.mark.parametrize(
    ("consensus", "control", "holds"),
    [
        ({}, {}, True),
        ({"sure": 1}, {}, False),
        ({"clones": 11}, {}, False),
        ({"wrong": 3}, {}, False),
        ({}, {"sure": 0}, False),
    ],
)
def test_the_check_of_branches(consensus: dict[str, int], control: dict[str, int], holds: bool) -> None:
    one = OfArm(1, "", 8, 8, 16, 0, 0, 200, 2, True)
    likely = replace(one, arm=ARMS[0], clones=24, sure=16, claimed=16, enough=None)
    ours = replace(one, arm=ARMS[1], **cast(Any, consensus))
    controls = [replace(one, arm=arm, **cast(Any, {"sure": 4} | control)) for arm in ARMS[2:]]
    result = BranchesStudy((likely, ours, *controls), "native", 1, 0.0)
    assert result.holds == holds
    assert result.to_dict()["holds"] == holds
    assert result.markdown().count("\n") == 5


def test_the_command_of_branches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(branches, "CELLS", 60)
    monkeypatch.setattr(branches, "MUTATIONS", 6)
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        run("branches", "--inputs=1", "--device=native", f"--out={out}")
    report = json.loads((out / "branches.json").read_text())
    assert ended.value.code == (0 if report["holds"] else 1)
    assert [one["arm"] for one in report["found"]] == list(ARMS)
    assert {one["pairs"] for one in report["found"]} == {6}
    likely = report["found"][0]
    assert (likely["clones"], likely["sure"], likely["claimed"]) == (6, 6, 6)
    assert (out / "branches.md").read_text() in capsys.readouterr().out
