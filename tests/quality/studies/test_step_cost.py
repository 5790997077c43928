"""The study `step-cost`: the power law, and a tiny measurement by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.quality.studies.__main__ import run
from syclade.quality.studies.step_cost.result import Cost, StepCosts


def costs(cells: float, mutations: float) -> StepCosts:
    """Return costs that grow with these powers."""
    found = [Cost(m, n, 5.0 * m**cells * n**mutations, (1.0,), 0.1) for m in (8, 16, 32) for n in (4, 64)]
    return StepCosts(tuple(found), {}, {})


def test_exponents_are_those_of_the_costs() -> None:
    found = costs(0.9, 0.1)
    assert found.exponents == pytest.approx({"cells": 0.9, "mutations": 0.1})
    assert repr(found) == "<StepCosts: as cells^0.90, mutations^0.10>"
    assert found.lines()[-1] == "the cost grows as cells to the power of 0.90, mutations to the power of 0.10"


def test_it_holds_where_the_cost_is_linear_in_cells_and_that_of_a_path_in_mutations() -> None:
    assert costs(0.99, 0.49).holds
    assert not costs(1.0, 1.0).holds  # a pass over all nodes
    assert not costs(2.0, 0.0).holds


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--cells=16", "--cells=32", "--mutations=8", "--mutations=16"]
    with pytest.raises(SystemExit) as ended:
        run("step-cost", *sizes, "--seconds=0.01", "--repeats=2", f"--out={tmp_path}")
    report = json.loads((tmp_path / "step-cost.json").read_text())
    assert ended.value.code == (0 if report["holds"] else 1)
    assert [(one["cells"], one["mutations"]) for one in report["costs"]] == [
        (16, 8),
        (16, 16),
        (32, 8),
        (32, 16),
    ]
    assert all(len(one["turns"]) == 2 and one["cpu_ns"] > 0 for one in report["costs"])
    assert (tmp_path / "step-cost.png").read_bytes().startswith(b"\x89PNG")
    assert "16 mutations" in capsys.readouterr().out
