"""Rates of false negatives of all mutations in the support of an inference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.model.dropout import (
    EVIDENT,
    LOWEST,
    Dropout,
    grouped,
    log_bayes_factor,
    mutation_weights,
    problem_of_groups,
    rates_in,
    slot_rates,
    within_limits,
)
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_posterior import RateInterval, RatePosterior
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.findings.consensus.cells import cells_on
from syclade.host.findings.rates import RatesFinding
from syclade.host.findings.support import rounds, stage
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.support.of_samples import cell_shares
from syclade.host.findings.support.plan import SupportPlan
from syclade.host.findings.support.value import Support
from syclade.host.ground.errors import OptionError, OutputError
from tests.support.searches import shorten_support

FP, FN = 0.005, 0.16


@pytest.fixture(scope="module", autouse=True)
def _few_samples() -> Iterator[None]:
    """Let support be of few samples, for tests that do not ask how good the rates are."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_support(patch, Budget(512, 1024, 2, 256))
        yield


@cache
def simulated(ends: tuple[float, float] | None) -> Simulation:
    return simulate(150, 8, 0.005, 0.16, 0.05, 2, fn_range=ends)


@cache
def infer(made: Simulation, dropout: str = "auto") -> syclade.Result:
    return syclade.infer(made.matrix, fp_rate=FP, fn_rate=FN, device="native", seed=1, dropout=dropout)


def test_rates_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch, Budget(1024, 2048, 4, 256))
    made = simulated((0.01, 0.4))
    found = infer.__wrapped__(made)
    assert found.support is not None
    dropout = found.support.dropout
    assert dropout is not None
    assert dropout.log_bayes_factor > EVIDENT
    assert made.fn_rates is not None
    assert np.abs(dropout.fn_rates - made.fn_rates).mean() < np.abs(FN - made.fn_rates).mean()
    inside = (dropout.low <= made.fn_rates) & (made.fn_rates <= dropout.high)
    assert inside.sum() >= 5, (dropout.fn_rates, made.fn_rates)
    assert found.consensus is not None
    assert found.consensus.fn_rates is not None
    np.testing.assert_array_equal(found.consensus.fn_rates, dropout.fn_rates)
    rates = RatePosterior({"fn_rate": RateInterval(0.17, 0.15, 0.19)}, 9, 9.0, Rates(FP, FN))
    under = replace(found.support, rates=rates).to_dict()["rates"]["sampled_under"]  # type: ignore[call-overload,index]
    assert under == {
        "fn_rate": pytest.approx(dropout.fn_rates.mean(), rel=1e-5),
        "fn_rate_of_each": "dropout.tsv",
    }


@pytest.mark.parametrize(("dropout", "steps"), [("auto", 2048 << 2), ("shared", 2048 << 4)])
def test_chains_end_soon_where_rates_differ(
    dropout: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, chains that are not enough go on to the end of their budget."""
    budget = Budget(1024, 2048, 4, 256)
    shorten_support(monkeypatch, budget)
    monkeypatch.setattr(rounds, "enough", lambda _sampled: False)
    monkeypatch.setattr(stage, "may_end", lambda *_others, **_more: False)
    done: list[tuple[bool, int]] = []
    sampled = stage._sampled

    def recorded(planned: SupportPlan, *others: Any, **more: Any) -> Support | None:
        support = sampled(planned, *others, **more)
        assert support is not None
        done.append((planned.groups is None, support.steps))
        return support

    monkeypatch.setattr(stage, "_sampled", recorded)
    found = infer.__wrapped__(simulated((0.01, 0.4)), dropout=dropout)
    assert done == [(True, steps), *([(False, budget.most)] if dropout == "auto" else [])]
    assert found.support is not None
    assert (found.support.dropout is not None) == (dropout == "auto")
    if found.support.dropout is not None:
        assert found.support.dropout.log_bayes_factor > EVIDENT


def test_one_rate_stays_one() -> None:
    made = simulated(None)
    auto, shared = infer(made), infer(made, dropout="shared")
    assert auto.support is not None
    assert shared.support is not None
    assert auto.support.dropout is None
    np.testing.assert_array_equal(auto.support.trees, shared.support.trees)


def test_words_of_estimates_say_which_rate_they_mean() -> None:
    """The interval is that of one rate for all mutations, and support is of a rate for each."""
    made = simulated((0.01, 0.4))
    found = syclade.infer(made.matrix, fp_rate=FP, device="native", seed=1, dropout="per-mutation")
    assert found.support is not None
    assert found.support.rates is not None
    assert found.support.dropout is not None
    finding = next(one for one in found.findings if isinstance(one, RatesFinding))
    one, mean = found.support.rates.intervals["fn_rate"].words, found.support.dropout.fn_rates.mean()
    first, second = finding.lines
    assert first == (
        "error rates estimated from the matrix, with one rate of false negatives for all mutations: "
        f"--fn-rate {one}"
    )
    assert second.endswith(
        f"support and consensus are of --fn-rate of each mutation ({mean:.3g} on the mean, see dropout.tsv)"
    )
    table = finding.section().table
    assert table is not None
    rows = {row[0]: row[2] for row in table.rows}
    assert rows["fn_rate"].endswith("support and consensus are of dropout.tsv")
    # Control: with one rate, support is of a number.
    shared = replace(finding, dropout=None)
    assert "of each mutation" not in "".join(shared.lines)


def test_files_and_words(tmp_path: Path) -> None:
    made = simulated(None)
    matrix = tmp_path / "m.csv"
    np.savetxt(matrix, made.matrix.values, fmt="%d")
    arguments = ["infer", str(matrix), "--fp-rate", "0.005", "--fn-rate", "0.16", "--device", "native"]
    out = tmp_path / "out"
    ended = CliRunner().invoke(cli, [*arguments, "--dropout", "per-mutation", "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    assert "the data do not show that dropout differs between mutations" in ended.output
    lines = (out / "dropout.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["mutation", "fn_rate", "low", "high"]
    for line in lines[1:]:
        mean, low, high = map(float, line.split("\t")[1:])
        assert low < mean < high
        assert abs(mean - FN) < 0.1
    assert len(lines) == 9
    assert '"dropout"' in (out / "summary.json").read_text()
    again = CliRunner().invoke(cli, [*arguments, "--out", str(out)])
    assert isinstance(again.exception, OutputError)
    assert "dropout.tsv" in str(again.exception)
    without = CliRunner().invoke(cli, [*arguments, "--support", "none", "--force", "--out", str(out)])
    assert without.exit_code == 0, without.output
    assert not (out / "dropout.tsv").exists()


@pytest.mark.parametrize(("factor", "differs"), [(EVIDENT + 0.1, True), (EVIDENT - 0.1, False)])
def test_words_depend_on_the_factor(factor: float, differs: bool) -> None:
    words = Dropout.of_samples(np.array([[0.1, 0.2], [0.1, 0.3]]), 0.01, factor).words
    assert words.startswith("dropout differs" if differs else "the data do not show that dropout differs")
    assert ("or some cells have lost a mutation" in words) is differs


def test_intervals_at_a_limit_go_on_beyond_it() -> None:
    """All samples of a rate may be at a limit, which stands for all beyond it: no interval is a point."""
    drawn = within_limits(np.random.default_rng(1).beta([1, 900, 20], [9000, 1, 80], (500, 3)), 0.01)
    found = Dropout.of_samples(drawn * np.where(drawn < 0.01, 1.0 - 4e-6, 1.0), 0.01, 5.0)
    assert drawn[:, 0].max() == LOWEST, "the control: the interval of these samples is a point"
    assert found.low.tolist()[:2] == [0.0, pytest.approx(0.97)]
    assert found.high.tolist()[:2] == [pytest.approx(LOWEST, rel=1e-4), 1.0]
    assert found.low[2] == np.quantile(drawn[:, 2], 0.05)
    assert found.high[2] == np.quantile(drawn[:, 2], 0.95)


def test_mutations_in_no_cell_have_no_rate() -> None:
    """Their rates follow from the prior: they are in no range or mean, and the table has none."""
    values = simulated((0.01, 0.4)).matrix.values
    extra = np.stack([np.zeros_like(values[0]), np.full_like(values[0], 3)])
    found = syclade.infer(
        np.vstack([extra[:1], values, extra[1:]]), fp_rate=FP, device="native", seed=1, dropout="per-mutation"
    )
    assert found.support is not None
    dropout = found.support.dropout
    assert dropout is not None
    assert dropout.unseen == (0, 9)
    seen = dropout.fn_rates[1:9]
    np.testing.assert_array_equal(dropout.of_seen, seen)
    assert f"from {seen.min():.3g} to {seen.max():.3g}, see" in dropout.words
    rows = [line.split("\t") for line in dropout.table(found.mutations).splitlines()[1:]]
    assert [row[0] for row in rows if not any(row[1:])] == ["1", "10"]
    finding = next(one for one in found.findings if isinstance(one, RatesFinding))
    assert f"({seen.mean():.3g} on the mean, see dropout.tsv)" in finding.lines[1]
    assert dropout.to_dict()["mean"] == pytest.approx(seen.mean(), rel=1e-5)


@pytest.mark.parametrize("other", [{"doublets": 0.1}, {"score": "sum", "steps": 10}, {"tree": "leaf"}])
def test_options_without_rates_of_mutations(other: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="dropout"):
        syclade.infer(simulated(None).matrix, fp_rate=FP, fn_rate=FN, dropout="per-mutation", **other)


def test_equal_rates_give_the_weights_and_cells_of_one_rate() -> None:
    made, rates = simulated(None), Rates(FP, FN)
    groups = np.arange(8)
    problem = problem_of_groups(made.matrix, rates, groups)
    plain = make_problem(made.matrix, rates, octaves=True)
    own = np.full(8, 0.16)
    same = slot_rates(problem, 0.005, own)
    np.testing.assert_array_equal(problem.weight_rows(same), plain.weight_rows())
    np.testing.assert_allclose(rates_in(problem, 0.005, same), own, rtol=1e-4)
    np.testing.assert_allclose(
        mutation_weights(made.matrix.values, 0.005, own), rates.weights()[made.matrix.values]
    )
    parents, nodes = made.parents, made.attachments
    of_one = cell_shares(plain, rates, parents, nodes, parents[None])
    np.testing.assert_allclose(
        cell_shares(problem, rates, parents, nodes, parents[None], fn_rates=own), of_one, atol=1e-9
    )
    consensus = infer(made, dropout="shared").consensus
    assert consensus is not None
    one, other = (cells_on(consensus.tree, consensus.placed, rates, some) for some in (None, own))
    np.testing.assert_allclose(one.likelihood, other.likelihood)
    np.testing.assert_allclose(one.tail, other.tail)
    changed = replace(rates, fn_rate=0.4)
    assert not np.allclose(
        cells_on(consensus.tree, consensus.placed, changed, None).likelihood, one.likelihood
    )


def test_many_mutations_share_groups_of_similar_rates() -> None:
    rates = np.random.default_rng(1).random(1000)
    groups = grouped(rates)
    assert set(groups.tolist()) == set(range(127))
    assert np.bincount(groups).max() <= 8
    assert (np.diff(groups[np.argsort(rates)]) >= 0).all()


def test_bayes_factors_tell_rates_that_differ() -> None:
    rng = np.random.default_rng(1)
    for seed in range(20):
        one, many = np.full(24, 0.13), np.random.default_rng(seed).uniform(0.01, 0.25, 24)
        missed, other = (rng.binomial(100, rate).astype(np.float64) for rate in (one, many))
        assert log_bayes_factor(missed, 100.0 - missed) < EVIDENT
        assert log_bayes_factor(other, 100.0 - other) > EVIDENT
