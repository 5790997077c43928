"""The study `rates`: intervals of estimated rates beside the truth, and a control."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.host.data.model.rate_posterior import RateInterval
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import OptionError
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.rates.api import RATES, SHARES, SIZES, Input, inputs_from, interval_study
from syclade.quality.studies.rates.result import BOTH, OfInput, RatesResult


def made(covered: int, control: int) -> RatesResult:
    """Return an outcome of 20 inputs, of which some intervals contain the truth."""

    def intervals(inside: bool) -> dict[str, RateInterval]:
        return {
            name: RateInterval(0.2, 0.1, 0.3) if inside else RateInterval(0.4, 0.35, 0.45) for name in BOTH
        }

    true = Rates(0.2, 0.25)
    rows = [
        OfInput(
            setting={"shares": (0.3, "zipf")[at % 2]},
            true=true,
            intervals=intervals(at < covered),
            control=intervals(at < control),
            searched=true,
            under=true,
            rough=False,
            enough=True,
        )
        for at in range(20)
    ]
    return RatesResult(tuple(rows), "native", 1, 0.0)


@pytest.mark.parametrize(
    ("covered", "control", "holds"),
    [(18, 10, True), (15, 10, False), (20, 10, False), (18, 17, False)],
)
def test_the_check_holds_if_intervals_fit_and_those_of_the_control_do_not(
    covered: int, control: int, holds: bool
) -> None:
    result = made(covered, control)
    assert result.holds == holds
    assert result.coverage() == covered / 20
    assert result.to_dict()["control"] == control / 20
    assert result.markdown().count("\n| shares ") == 2
    assert ("NOT AS EXPECTED" in result.markdown()) != holds


def test_inputs_mix_sizes_shares_and_rates() -> None:
    found = inputs_from(1, 64)
    assert {(one.mutations, one.cells) for one in found} == set(SIZES)
    assert len({(one.shares, one.rates) for one in found}) == len(SHARES) * len(RATES)
    assert all(8 <= one.mutations <= 60 and 200 <= one.cells <= 3000 for one in found)
    assert len({one.seed for one in found}) == 64


def test_an_input_has_intervals_and_a_control(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = interval_study([Input(4, 60, 0.3, Rates(0.01, 0.2), 5)], device="native")
    (one,) = study.inputs
    assert set(one.intervals) == set(one.control) == set(BOTH)
    assert one.intervals != one.control
    assert one.true == Rates(0.01, 0.2)
    json.dumps(study.to_dict())
    with pytest.raises(SystemExit) as ended:
        run("rates", "--inputs", "0", "--out", str(tmp_path))
    assert ended.value.code == 2
    assert "--inputs" in capsys.readouterr().err


def test_inputs_with_many_normal_cells() -> None:
    (one, other), usual = inputs_from(3, 2, normal=0.9), inputs_from(3, 2)
    assert isinstance(one.shares, dict)
    assert one.shares["root"] == 0.9
    assert sum(one.shares.values()) == pytest.approx(1.0)
    assert one.cells >= 600 > usual[0].cells
    assert (one.rates, other.seed) == (usual[0].rates, usual[1].seed)
    for part in (0.0, 1.0, float("nan")):
        with pytest.raises(OptionError, match="normal"):
            inputs_from(3, 1, normal=part)


def test_a_study_of_normal_cells_has_a_row_of_its_own() -> None:
    shares = {"root": 0.9, "M1": 0.05, "M2": 0.03, "M3": 0.02}
    study = interval_study([Input(3, 100, shares, Rates(0.01, 0.2), 5)], device="native")
    assert "| shares 90% normal | 1 " in study.markdown()
