"""Negative controls: a changed run, score or file is detected, and the report names the file and the key."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.golden.digests import differences, digest_of
from tests.golden.inputs import Inputs
from tests.golden.outcome import check_executors
from tests.golden.record import compare, read_digests
from tests.golden.tables import RUNS

SUMMARY = {
    "log_likelihood": -12.5,
    "moves": {"swap labels": {"proposed": 7, "accepted": 3}},
    "parents": list(range(400)),
    "searches": [{"start": "random", "steps": 4}, {"start": "greedy", "steps": 9}],
}


@pytest.mark.parametrize("name", ["chain-small", "search-small", "leaf-small", "samples-small", "sum-small"])
def test_another_seed_is_noticed(name: str, inputs: Inputs, tmp_path: Path) -> None:
    found = compare(RUNS[name], "native", tmp_path / "run", inputs, read_digests(), more="--seed 99")
    assert any(line.startswith("summary.json: seed is 99") for line in found)
    assert any(line.startswith(("summary.json: moves", "summary.json: searches")) for line in found)


@pytest.mark.parametrize("name", ["chain-small", "search-small", "leaf-small", "learned-fn", "sum-small"])
def test_another_weight_is_noticed(
    name: str, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Increase all logarithms, from which weights are computed, by a thousandth."""
    real = math.log
    inputs.matrix("small")  # simulated with the real weights
    monkeypatch.setattr(math, "log", lambda value: real(value) * 1.001)
    found = compare(RUNS[name], "native", tmp_path / "run", inputs, read_digests())
    assert any(line.startswith("summary.json: log_likelihood is") for line in found)


def test_work_of_another_device_is_noticed(tmp_path: Path) -> None:
    run_file = tmp_path / "run.json"
    run_file.write_text(json.dumps({"work": [{"device": "native"}, {"device": "numpy"}]}))
    with pytest.raises(AssertionError, match="native was to be checked"):
        check_executors(run_file, "native")


def summaries(**changed: Any) -> list[str]:
    """Return how a changed summary.json differs from `SUMMARY`."""
    recorded = digest_of({"summary.json": SUMMARY}, rounded=False)
    return list(differences(recorded, digest_of({"summary.json": {**SUMMARY, **changed}}, rounded=False)))


def test_new_keys_do_not_count_and_changed_ones_do() -> None:
    assert summaries() == summaries(new=3) == []
    searches: Any = SUMMARY["searches"]
    assert summaries(searches=[{**one, "new": 1} for one in searches]) == []
    assert summaries(log_likelihood=-12.500000000000002) == [
        "summary.json: log_likelihood is -12.500000000000002, recorded was -12.5"
    ]
    assert summaries(moves={"swap labels": {"proposed": 7}}) == [
        "summary.json: moves: swap labels: accepted is missing"
    ]
    assert summaries(searches=searches[::-1])[0].startswith("summary.json: searches: start is")
    assert summaries(parents=[1, *range(1, 400)])[0].startswith('summary.json: parents is "sha256')
    assert summaries(log_likelihood=math.nan) == ["summary.json: log_likelihood is NaN, recorded was -12.5"]
    nan = digest_of({"summary.json": {"ess": math.nan}}, rounded=True)
    assert list(differences(nan, digest_of({"summary.json": {"ess": math.nan}}, rounded=True))) == []
    assert summaries(log_likelihood=True) == ["summary.json: log_likelihood is true, recorded was -12.5"]


def test_a_changed_or_missing_file_is_named() -> None:
    recorded = digest_of({"tree.gv": "x" * 500, "tree.newick": "(1)2;\n"}, rounded=False)
    found = digest_of({"tree.gv": "x" * 499 + "y", "new.tsv": ""}, rounded=False)
    first, second = differences(recorded, found)
    assert first.startswith('tree.gv is "sha256')
    assert second == "tree.newick is missing"


def test_only_digits_that_depend_on_the_processor_are_rounded() -> None:
    def written(number: float, rounded: bool) -> Any:
        outcome = {"summary.json": {"value": number, "samples": {"ess": number}}, "a.tsv": f"{number!r}\n"}
        return digest_of(outcome, rounded)

    near, far = 1.2345678901234567, 1.2345678901234569
    assert near != far
    assert list(differences(written(near, True), written(far, True))) == []
    places = [line.partition(" is ")[0] for line in differences(written(near, False), written(far, False))]
    assert places == ["summary.json: value", "a.tsv"]
    assert len(list(differences(written(near, True), written(near + 1e-7, True)))) == 3
