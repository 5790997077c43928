"""Three classes of observed values: chains equal the oracle's, and sample the posterior."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syclade.host.commands.main import main
from syclade.host.data.model.rate_grid import fixed_tables
from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan
from tests.suites.rows.mutation_trees import THREE_CLASSES
from tests.suites.rows.mutation_trees import ZYGOSITY as CASE
from tests.suites.rows.mutation_trees import ZYGOSITY_WIDE as WIDE
from tests.suites.test_conformance import assert_is_trace
from tests.support.backends import QUICKEST, Case
from tests.support.same_bits import Chains


def test_the_cases_have_three_classes() -> None:
    for case in (CASE, WIDE):
        assert case.problem().values == (0, 1, 2)
        assert len({*case.problem().rates.weights}) == 4
    assert WIDE.problem().columns > 1024


@pytest.mark.parametrize(
    ("case", "row"), [(CASE, THREE_CLASSES[0]), (WIDE, THREE_CLASSES[1])], ids=["narrow", "wide"]
)
def test_every_step_is_the_oracles(case: Case, row: Chains) -> None:
    """All backends have these bits."""
    for chain in range(row.count if case is CASE else 1):
        traces = case.trace(chain, row.stops[-1])
        for done, all_seen in row.expected.at.items():
            assert_is_trace(all_seen[chain], traces, done)


# ---- the posterior


@pytest.fixture(scope="module")
def target() -> Target:
    made = make_target(small_plan(4, 1.5, zygosity=True))
    assert made.plan.problem.values == (0, 1, 2)
    return made


def sampled(target: Target) -> Any:
    return judge(target, sample_chain(target, choose_device(QUICKEST), "auto", 8192, seed=1, slots=1024))


@pytest.mark.statistical
def test_the_chain_samples_its_posterior(target: Target) -> None:
    case = sampled(target)
    assert case.holds
    assert min(case.visits.fit.p_value, case.steps.p_value) > 0.01


@pytest.mark.statistical
def test_the_check_finds_a_chain_that_merges(target: Target) -> None:
    """The wrong chain scores a homozygous observation as a heterozygous one."""
    plan = target.plan
    not_seen, seen, _homozygous, nothing = plan.problem.rates.weights
    tables = plan.problem.rate_tables
    merging = fixed_tables(tables.model, (not_seen, seen, seen, nothing))
    wrong = replace(target, plan=replace(plan, problem=replace(plan.problem, rate_tables=merging)))
    case = sampled(wrong)
    assert case.balanced
    assert not case.holds
    assert case.visits.fit.p_value < 1e-6


def test_the_command_checks_zygosity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--zygosity", "--device", "numpy", "--mutations", "3", "--samples", "2000"]
    with pytest.raises(SystemExit) as caught:
        main(["quality", "posterior", *given, "--out", str(tmp_path)])
    assert caught.value.code == 0, capsys.readouterr().out
    assert json.loads((tmp_path / "posterior.json").read_text())["settings"]["zygosity"] is True
