"""The study `recurrence`: evidence of mutations that recur or not, and a control."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.quality.studies.__main__ import run
from syclade.quality.studies.recurrence.api import KINDS, recurrence_study
from syclade.quality.studies.recurrence.result import OfInput, RecurrenceResult


def made(above: int, control: int) -> RecurrenceResult:
    """Return an outcome in which some of 100 mutations without a recurrence have evidence."""

    def factors(count: int) -> tuple[float, ...]:
        return (5.0,) * count + (-1.0,) * (100 - count)

    inputs = (
        OfInput("none", 1, (), factors(above), tuple(range(above)), factors(control)),
        OfInput("2 recur", 1, (0, 3), (9.0, 4.0, 0.0, 2.0), (0, 1)),
    )
    return RecurrenceResult(inputs, 50, 100, 1, "native", 1, 0.0)


@pytest.mark.parametrize(("above", "control", "holds"), [(2, 30, True), (3, 30, False), (1, 2, False)])
def test_the_check_holds_if_few_have_evidence_and_more_of_the_control(
    above: int, control: int, holds: bool
) -> None:
    result = made(above, control)
    assert result.holds == holds
    rows = [
        [field.strip() for field in line.split("|")[1:-1]] for line in result.markdown().splitlines()[2:5]
    ]
    assert rows == [
        ["none", "1", "100", f"{above} ({above}.0%)", "5.0", str(above), ""],
        ["2 recur", "1", "2", "1 (50.0%)", "4.0", "1", "1 of 2"],
        ["none (equal nodes)", "1", "100", f"{control} ({control}.0%)", "5.0", "", ""],
    ]
    assert ("NOT AS EXPECTED" in result.markdown()) != holds
    assert json.loads(json.dumps(result.to_dict()))["results"][1]["recurrent"] == [0, 3]


def test_small_inputs_have_tests_and_a_control(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = recurrence_study(cells=60, mutations=6, inputs=1, device="native")
    assert [one.kind for one in study.tests] == list(KINDS)
    assert [len(one.recurrent) for one in study.tests] == [0, 0, 2, 2]
    assert all(len(one.factors) == 6 for one in study.tests)
    first = study.tests[0]
    assert len(first.control) == 6
    assert first.control != first.factors
    assert not any(one.control for one in study.tests[1:])
    with pytest.raises(SystemExit) as ended:
        run("recurrence", "--inputs", "0", "--out", str(tmp_path))
    assert ended.value.code == 2
    assert "--inputs" in capsys.readouterr().err
