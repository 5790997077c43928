"""`syclade quality race`: contestants, the scores of their answers, and an upper bound for all trees."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import syclade
from syclade.host.commands.main import main
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle.trees import all_trees
from syclade.quality.race import peers
from syclade.quality.race.bound import upper_bound
from syclade.quality.race.inputs import input_of
from syclade.quality.race.peers import peer, tree_of_genotypes
from tests.support.tree_strategies import trees

RATES = Rates(0.05, 0.3)


def optimum(matrix: Any, rates: Rates) -> float:
    """Return the log-likelihood of the most likely of all trees."""
    return max(log_likelihood(matrix, rates, tree) for tree in all_trees(matrix.n_mutations))


# ---- the bound, and the optimum itself


@pytest.mark.parametrize("seed", range(6))
def test_no_tree_exceeds_the_bound(seed: int) -> None:
    matrix = simulate(12, 5, 0.05, 0.3, 0.2, seed).matrix
    bound, best = upper_bound(matrix, RATES), optimum(matrix, RATES)
    assert best <= bound.log_likelihood + 1e-9
    assert bound.log_likelihood <= bound.free + 1e-9
    assert sum(bound.groups) == 5


@pytest.mark.parametrize("mutations", [1, 2, 3, 4])
def test_the_bound_of_a_group_is_its_optimum(mutations: int) -> None:
    """The bound is exact if the mutations conflict at every step of the matching, as these do."""
    values = np.random.default_rng(2).choice([0, 1], (mutations, 40)).astype(np.uint8)
    matrix = matrix_from_array(values)
    assert upper_bound(matrix, RATES).log_likelihood == pytest.approx(optimum(matrix, RATES), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_searches_find_the_optimum_of_small_inputs(seed: int) -> None:
    matrix = simulate(15, 5, 0.05, 0.3, 0.2, 100 + seed).matrix
    found = syclade.infer(matrix, fp_rate=0.05, fn_rate=0.3, support="none", device="native", seed=seed)
    assert found.log_likelihood == pytest.approx(optimum(matrix, RATES), abs=1e-9)


# ---- other programs


@settings(max_examples=60)
@given(trees(max_mutations=9))
def test_a_tree_comes_back_from_the_genotypes_of_its_nodes(parents: Any) -> None:
    cells = ancestor_matrix(parents)[:-1].astype(bool)  # one cell per node
    np.testing.assert_array_equal(tree_of_genotypes(cells), parents)


FAKE = """
import json, sys
request = json.load(sys.stdin)
assert request["fp_rate"] == 0.001
{body}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the program that calls ScisTree2."""

    def write(body: str) -> None:
        (tmp_path / "fake.py").write_text(FAKE.format(body=body))

    monkeypatch.setattr(peers, "_PROGRAMS", tmp_path)
    monkeypatch.setitem(peers.PEERS, "ScisTree2", "fake.py")
    return write


def race(out: Path, *more: object) -> int:
    given = ["--size", "12x6", "--chains", 2, "--steps", 2000, "--device", "native", "--out", out, *more]
    with pytest.raises(SystemExit) as caught:
        main(["quality", "race", *map(str, given)])
    return int(caught.value.code or 0)


def test_all_are_told_and_compared(program: Any, tmp_path: Path, capsys: Any) -> None:
    program('print("noise"); print(json.dumps({"cells": [[0] * 12 for _ in range(6)]}))')
    out = tmp_path / "out"
    assert race(out, "--inputs", 2, "--peers", sys.executable, "--peer", "ScisTree2", "--plot") == 0
    report = json.loads((out / "race.json").read_text())
    assert [one["seed"] for one in report["inputs"]] == [1, 2]
    for one in report["inputs"]:
        search, chains, fake = one["answers"]
        assert (search["name"], chains["name"], fake["name"]) == ("search", "chains", "ScisTree2")
        assert one["bound"] + 1e-9 >= search["log_likelihood"] >= chains["log_likelihood"] - 1e-9
        assert search["log_likelihood"] >= one["true_log_likelihood"] - 1e-9
        matrix = simulate(12, 6, 1e-3, 0.2, 0.1, one["seed"]).matrix
        star = np.full(7, 6, np.int32)
        assert fake["log_likelihood"] == pytest.approx(log_likelihood(matrix, Rates(1e-3, 0.2), star))
        assert search["curve"][-1][1] == pytest.approx(search["log_likelihood"], abs=1e-3)
    assert report["unbeaten"]["search"] == 2
    assert (out / "race.png").read_bytes().startswith(b"\x89PNG")
    assert "search: not beaten on 2 of 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise RuntimeError('tired')", "ScisTree2 failed: RuntimeError: tired"),
        ("print('no answer')", "ScisTree2 failed"),
        ("print(json.dumps({'cells': [[1]]}))", "gave a matrix of another size"),
        ("import time; time.sleep(60)", "ScisTree2 took more than 1 s"),
    ],
)
def test_a_program_that_fails_is_told(program: Any, tmp_path: Path, body: str, words: str) -> None:
    program(body)
    more = ("--peers", sys.executable, "--peer", "ScisTree2", "--peer-seconds", 1)
    assert race(tmp_path / "out", *more) == 0
    (one,) = json.loads((tmp_path / "out" / "race.json").read_text())["inputs"]
    assert words in one["answers"][2]["problem"]
    assert one["answers"][2]["log_likelihood"] is None


def test_an_interpreter_that_does_not_run_is_told(tmp_path: Path) -> None:
    given = input_of("12x6", (1e-3, 0.2, 0.1), 1)
    with pytest.raises(OptionError, match="does not run"):
        peer("ScisTree2", tmp_path / "nobody", 5.0)(given, given.simulated())


@pytest.mark.parametrize("size", ["12", "12x", "0x5", "axb", "-1x4"])
def test_sizes_that_make_no_sense_are_refused(size: str) -> None:
    with pytest.raises(OptionError, match="is not a size"):
        input_of(size, (1e-3, 0.2, 0.1), 1)


def test_who_is_beaten_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Negative control: the chains beat a search that returns the worst tree it can."""
    from syclade.quality.race import ours
    from syclade.quality.race.answers import Found

    def worst(_device: str, _seed: int) -> Any:
        return lambda one, _simulation: Found(np.full(one.mutations + 1, one.mutations, np.int32))

    monkeypatch.setattr(ours, "search", worst)
    assert race(tmp_path / "out") == 1
    assert "search: not beaten on 0 of 1" in capsys.readouterr().out
    assert race(tmp_path / "alone", "--chains", 0) in (0, 1)
    assert "search: nothing to compare with" in capsys.readouterr().out
