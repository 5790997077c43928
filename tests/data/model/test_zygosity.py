"""Homozygous observations: their table and class, and how they are refused, merged or simulated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syclade
from syclade.host.chains.search.problem import make_search_problem
from syclade.host.data.input.matrix import format_matrix, matrix_from_array
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.assignment import attach
from syclade.host.data.model.likelihood import event_counts, log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import MatrixError, RatesError
from syclade.quality.oracle import float_score
from syclade.quality.oracle.score import tree_score
from syclade.quality.oracle.trees import all_trees
from tests.support import tree_strategies
from tests.support.backends import four_weights
from tests.support.searches import slow_score

HOU: dict[str, Any] = {
    "fp_rate": 6.04e-5,
    "fn_rate": 0.21545,
    "fn_rate_hom": 0.21545,
    "hom_rate": 1.299164e-5,
}
RATES = Rates(0.02, 0.2, 0.15, 0.005)


def test_table_of_the_model() -> None:
    expected = [[1 - 0.005 - 0.02, 0.2], [0.02, 1 - 0.2 - 0.15], [0.005, 0.15], [1.0, 1.0]]
    np.testing.assert_allclose(np.exp(RATES.log_table()), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(RATES.log_table())[:3].sum(axis=0), 1, rtol=1e-12)
    assert RATES.flip_effect() == max(abs(math.log(0.02 / 0.65)), math.log(0.15 / 0.005))


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((0.1, 0.2, 0.1), "--fn-rate-hom without --hom-rate"),
        ((0.1, 0.2, None, 0.1), "--hom-rate without --fn-rate-hom"),
        ((0.1, 0.2, 0.1, 0.01, True), "does not go with --merge-homozygous"),
        ((0.1, 0.2, 0.0, 0.01), "--fn-rate-hom is 0"),
        ((0.1, 0.2, 0.1, math.nan), "--hom-rate is nan"),
        ((0.1, 0.2, 0.01, 0.1), "no evidence"),
        ((0.1, 0.5, 0.45, 0.01), "add up to 1 or more"),
    ],
)
def test_rates_refused(rates: tuple[Any, ...], words: str) -> None:
    with pytest.raises(RatesError, match=words):
        Rates(*rates)


@given(st.data())
@settings(deadline=None)
def test_scores_are_the_oracles(data: st.DataObject) -> None:
    """Check the scores of the chain, the search and float64, with homozygous values separate and merged."""
    tree = data.draw(tree_strategies.trees(8))
    values = data.draw(tree_strategies.observations(len(tree) - 1, values=(0, 1, 2, 3)))
    rates = data.draw(st.sampled_from([RATES, Rates(0.02, 0.2, merge_homozygous=True)]))
    matrix = matrix_from_array(values)
    problem = make_problem(matrix, rates)
    assert problem.classes == (4 if (values == 2).any() and not rates.merge_homozygous else 3)
    scored = np.where(values == 2, 1, values) if rates.merge_homozygous else values
    integer = int((problem.best_attachments(tree) * problem.multiplicity).sum())
    assert integer == tree_score(tree, scored, four_weights(problem))
    exact = float_score.log_likelihood(values, rates.log_table(), tree)
    assert log_likelihood(matrix, rates, tree) == pytest.approx(exact, abs=1e-9)
    assert problem.to_nats(integer) == pytest.approx(exact, abs=1e-4)
    search = make_search_problem(problem)
    assert search.to_nats(slow_score(search, tree)) == pytest.approx(exact, abs=0.05)
    assert attach(problem, rates, tree).log_likelihood.sum() == pytest.approx(exact, abs=1e-9)


def test_the_best_of_all_trees_is_found() -> None:
    """Search and chains find the best tree where only the homozygous values distinguish it."""
    made = simulate(12, 4, 0.02, 0.2, 0.1, 5, 0.15, 0.005).matrix
    assert (made.values == 2).sum() > 3
    scores = {tree: log_likelihood(made, RATES, np.array(tree, np.int32)) for tree in all_trees(4)}
    assert len(scores) == 125
    ways: list[dict[str, Any]] = [{}, {"chains": 4, "steps": 500}]
    for more in ways:
        result = syclade.infer(made, device="native", support="none", **RATES.to_dict(), **more)
        assert result.log_likelihood == pytest.approx(max(scores.values()), abs=1e-9)
        assert result.cell_log_likelihoods.sum() == pytest.approx(result.log_likelihood, abs=1e-9)
    two: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "device": "native", "support": "none"}
    merged = syclade.infer(made, merge_homozygous=True, **two)
    ones = matrix_from_array(np.where(made.values == 2, 1, made.values))
    assert merged.parents.tolist() == syclade.infer(ones, **two).parents.tolist()
    assert merged.summary()["merge_homozygous"] is True
    assert result.summary()["fn_rate_hom"] == 0.15


def test_homozygous_values_without_rates(tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    file.write_text("0 1 3\n1 0 2\n")
    matrix = read_matrix(file)
    for ask in (
        lambda: make_problem(matrix, Rates(0.01, 0.2)),
        lambda: event_counts(matrix, Rates(0.01, 0.2), [2, 2, 2]),
    ):
        with pytest.raises(MatrixError, match="row 2, cell 3 is 2") as caught:
            ask()
        assert (caught.value.path, caught.value.line) == (str(file), 2)
        hint = str(caught.value.hint)
        assert all(option in hint for option in ("--fn-rate-hom", "--hom-rate", "--merge-homozygous"))
    with pytest.raises(MatrixError, match=r"array\[0, 1\] is 2"):
        syclade.infer([[0, 2]], fp_rate=0.01, fn_rate=0.2)


def test_simulated_frequencies() -> None:
    made = simulate(2000, 100, 0.05, 0.2, 0.25, 11, 0.3, 0.02)
    values, truth = made.matrix.values, made.truth
    seen = values != 3
    for present, rates in ((0, (0.93, 0.05, 0.02)), (1, (0.2, 0.5, 0.3))):
        sample = values[seen & (truth == present)]
        for value, expected in enumerate(rates):
            deviation = math.sqrt(expected * (1 - expected) / sample.size)
            assert abs((sample == value).mean() - expected) < 6 * deviation
    plain = simulate(2000, 100, 0.05, 0.2, 0.25, 11).matrix.values
    assert (plain[values != 2] == values[values != 2]).all(), "the other draws are the same"
    assert not (plain == 2).any()


@pytest.mark.shared
def test_scites_tree_has_scites_score(shared_dir: Path) -> None:
    data = shared_dir / "data"
    folder = shared_dir / "reference" / "scite-cli" / "zygosity"
    said = (folder / "stdout.txt").read_text().split("best log score for tree:\t")[1].split()[0]
    for file in ("out_ml0.gv", "out_ml0.newick"):
        ours = syclade.score(data / "dataHou18.csv", folder / file, names=data / "dataHou18.geneNames", **HOU)
        assert ours == pytest.approx(float(said), abs=1e-9)


@pytest.mark.shared
def test_the_best_known_tree_of_hou18(shared_dir: Path) -> None:
    found = syclade.infer(shared_dir / "data" / "dataHou18.csv", device="native", support="none", **HOU)
    assert found.log_likelihood == pytest.approx(-378.3536, abs=1e-4)


def test_the_commands_take_the_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from syclade.host.commands.main import main

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(each) for each in arguments])
        assert not caught.value.code
        return capsys.readouterr().out

    rates = ["--fp-rate", 0.02, "--fn-rate", 0.2, "--fn-rate-hom", 0.15, "--hom-rate", 0.005]
    out = tmp_path / "made"
    run("simulate", "--cells", 12, "--mutations", 4, *rates, "--seed", 5, "--out", out)
    expected = simulate(12, 4, 0.02, 0.2, 0.0, 5, 0.15, 0.005)
    assert (out / "matrix.csv").read_text() == format_matrix(expected.matrix.values)
    names = ["--names", out / "matrix.geneNames"]
    score = float(run("score", out / "matrix.csv", out / "true_tree.gv", *rates, *names))
    assert score == log_likelihood(expected.matrix, RATES, expected.parents)
    report = run("score", out / "matrix.csv", out / "true_tree.gv", *rates, *names, "--json")
    assert '"hom_rate": 0.005' in report
    assert '"2": {' in report
    quick = ["--chains", 2, "--steps", 50, "--device", "numpy", "--quiet"]
    found = syclade.infer(expected.matrix, **RATES.to_dict(), chains=2, steps=50, device="numpy")
    assert float(run("infer", out / "matrix.csv", *rates, *quick)) == found.log_likelihood
    assert float(run("infer", out / "matrix.csv", *rates[:4], "--merge-homozygous", *quick)) != score


def test_columns_are_sorted_once_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_from_array([[1, 2, 1, 0], [0, 3, 0, 1]])
    unique = Mock(wraps=np.unique)
    monkeypatch.setattr(np, "unique", unique)
    merged = Rates(0.1, 0.2, merge_homozygous=True)
    problems = [make_problem(matrix, merged, octaves=octaves) for octaves in (False, True)]
    apart = make_problem(matrix, Rates(0.1, 0.2, fn_rate_hom=0.1, hom_rate=0.01))
    assert unique.call_count == 2
    assert [problem.column_of.tolist() for problem in problems] == [[1, 2, 1, 0]] * 2
    assert problems[0].multiplicity.tolist() == [1, 2, 1]
    assert not problems[0].multiplicity.flags.writeable
    assert (problems[0].classes, apart.classes) == (3, 4)


@pytest.mark.parametrize("given", ["two", "format", "merged", "rates"])
def test_sources_of_genotypes_have_them_merged(
    given: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A 2 of SCITE's format may be another value; elsewhere it counts as mutated unless it has rates."""
    rates: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "support": "none", "device": "numpy"}
    with_two = "name,a,b,c,d\nm,1,0,2,2\nn,0,1,1,0\n"
    more: dict[str, Any] = {"two": {"format": "csv", "rows": "mutations", "two": "homozygous"}}.get(given, {})
    if given == "merged":
        more = {"merge_homozygous": True}
    if given == "rates":
        more = {"fn_rate_hom": 0.1, "hom_rate": 0.001}
    file = tmp_path / "matrix.csv"
    file.write_text(with_two if given == "two" else "1 0 2 2\n0 1 1 0\n")
    caplog.set_level("INFO", "syclade.input")
    if given == "format":
        with pytest.raises(MatrixError, match="is 2, a homozygous mutation"):
            syclade.infer(file, **rates)
        return
    found = syclade.infer(file, **rates, **more)
    assert found.options["merge_homozygous"] == (given != "rates")
    assert ("2 homozygous entries count as mutated" in caplog.text) == (given == "two")
    if given != "rates":
        merged: dict[str, Any] = {} if given == "two" else {"merge_homozygous": True}
        read = syclade.read_matrix(file, **more) if given == "two" else file
        scored = syclade.score(read, found.parents, fp_rate=0.01, fn_rate=0.2, **merged)
        assert found.log_likelihood == pytest.approx(scored)
