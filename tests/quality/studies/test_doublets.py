"""The study `doublets`: calls, recovered precision, and the command with few tiny inputs."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.data.input.matrix import matrix_from_array
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.doublets.api import recovery
from syclade.quality.studies.doublets.auroc import auroc
from syclade.quality.studies.doublets.inputs import DoubletInput
from syclade.quality.studies.doublets.optima import Compared, counts, pieces
from syclade.quality.studies.doublets.optima_result import OptimaResult
from syclade.quality.studies.doublets.result import RecoveryResult
from syclade.quality.studies.doublets.summary import comes_back, spread

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30)


@given(PAIRS)
def test_auroc_is_the_share_of_pairs_in_order(pairs: list[tuple[int, bool]]) -> None:
    positives = [value for value, positive in pairs if positive]
    negatives = [value for value, positive in pairs if not positive]
    found = auroc([value for value, _ in pairs], [positive for _, positive in pairs])
    if not positives or not negatives:
        assert math.isnan(found)
        return
    ordered = [float(one > other) + 0.5 * (one == other) for one in positives for other in negatives]
    assert found == pytest.approx(sum(ordered) / len(ordered))


def test_auroc_of_no_information_is_a_half() -> None:
    assert auroc([1.0, 1.0, 1.0], [True, False, False]) == 0.5
    assert auroc([3.0, 1.0, 2.0], [True, False, False]) == 1.0


def test_lost_precision_that_comes_back() -> None:
    assert comes_back(0.9, 0.8, 0.85) == pytest.approx(0.5)
    assert comes_back(0.9, 0.8, 0.75) == pytest.approx(-0.5)
    assert math.isnan(comes_back(0.8, 0.8, 0.9))


def test_spread_leaves_out_what_is_not_a_number() -> None:
    assert spread([1.0, math.nan, 2.0, 6.0]).median == 2.0
    assert spread([1.0, math.nan, 2.0, 6.0]).mean == 3.0
    assert math.isnan(spread([math.nan]).mean)


def test_inputs_with_and_without_doublets_have_the_same_trees() -> None:
    with_them, without = (DoubletInput(3, 8, 30, rate).simulated() for rate in (0.5, None))
    assert np.array_equal(with_them.parents, without.parents)
    assert (with_them.partners >= 0).any()
    assert not (without.partners >= 0).any()


@cache
def few() -> RecoveryResult:
    return recovery(inputs=2, mutations=5, cells=20, device="native")


def test_study_of_a_few_tiny_inputs() -> None:
    found = few()
    arms = [tree.arm for tree in found.doublets[0].trees]
    assert arms == ["max", "sum", "doublets 0.25"]
    assert [tree.arm for tree in found.singles[0].trees] == [*arms, "doublets 0.05"]
    assert all(each.calls is not None and each.calls.doublets > 0 for each in found.doublets)
    assert all(each.calls is None for each in found.singles)
    assert any("lost mean precision" in line for line in found.lines())


def test_command(tmp_path: Path) -> None:
    options = ["--inputs", "2", "--mutations", "5", "--cells", "20"]
    with pytest.raises(SystemExit) as end:
        run("doublets", *options, "--device", "native", "--out", str(tmp_path))
    report = json.loads((tmp_path / "doublets.json").read_text())
    assert report["check"] == "doublets"
    assert len(report["inputs"]) == 4
    again = [[tree["log_likelihood"] for tree in one["trees"]] for one in report["inputs"]]
    found = (*few().doublets, *few().singles)
    assert again == [[tree.log_likelihood for tree in one.trees] for one in found], (
        "another run, another result"
    )
    assert end.value.code == (0 if report["holds"] else 1)
    assert (tmp_path / "doublets.png").read_bytes().startswith(b"\x89PNG")


def test_pieces_of_a_matrix() -> None:
    values = np.arange(7 * 5, dtype=np.uint8).reshape(7, 5) % 4
    whole = matrix_from_array(values)
    found = pieces("m", whole, 3, 3, 4)
    assert [piece.matrix.n_mutations for piece in found] == [3, 3]  # a last piece of one mutation is left out
    assert np.array_equal(found[1].matrix.values, np.where(values[3:6, :4] == 2, 1, values[3:6, :4]))
    assert found[1].matrix.mutations == whole.mutations[3:6]


def test_verdicts() -> None:
    def one(default: float, random: float) -> Compared:
        return Compared("a", 3, 4, default, random, -9.0, True, 10, (1.0, 2.0))

    found = [one(-5.0, -5.0 + 1e-8), one(-4.0, -5.0), one(-5.0, -4.0)]
    assert [each.verdict for each in found] == ["equal", "better", "worse"]
    assert counts(found) == {"equal": 1, "better": 1, "worse": 1}
    assert not OptimaResult(tuple(found), 0.1, "native", 1).holds
    assert OptimaResult(tuple(found[:2]), 0.1, "native", 1).holds


def test_search_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syclade.quality.studies.doublets.optima.SIZES", ((4, 20),))
    monkeypatch.setattr("syclade.quality.studies.doublets.optima.TIMES", 2)
    monkeypatch.setattr("syclade.quality.studies.doublets.api.PIECE_SIZE", (4, 20))
    rng = np.random.default_rng(1)
    (tmp_path / "a.csv").write_text("\n".join(" ".join(map(str, row)) for row in rng.integers(0, 2, (8, 30))))
    given = ["--search", "--inputs", "2", "--matrix", str(tmp_path / "a.csv"), "--device", "native"]
    with pytest.raises(SystemExit) as end:
        run("doublets", *given, "--out", str(tmp_path / "out"))
    report = json.loads((tmp_path / "out" / "doublets-search.json").read_text())
    assert [one["name"] for one in report["inputs"]] == ["simulated, seed 1", "a, mutations 1 to 4"]
    assert sum(report["counts"].values()) == 2
    assert end.value.code == (0 if report["holds"] else 1)


@pytest.mark.parametrize("given", [["--matrix", "x.csv"], ["--search", "--cells", "3"]])
def test_options_of_the_other_study(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run("doublets", *given, "--out", str(tmp_path))
    assert end.value.code == 2
    assert "--search" in capsys.readouterr().err
