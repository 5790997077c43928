"""The study `evidence`: trees of reads beside those of their calls, and beside another program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from syclade.host.ground.errors import OptionError
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.evidence import api
from syclade.quality.studies.evidence.api import EvidenceResult, OfInput, evidence_study


def made(nearer: int, farther: int, depth: float, gain: float | None = None) -> list[OfInput]:
    """Return outcomes of 10 inputs, some of them nearer to the truth or farther than by calls."""
    differences = [1] * nearer + [-1] * farther + [0] * (10 - nearer - farther)
    peer = None if gain is None else (1.0, 0.5)
    return [OfInput(40, 100, depth, "0.2", 1, 20, 20 + one, (1.0, 2.0), gain, peer) for one in differences]


@pytest.mark.parametrize(
    ("outcomes", "holds"),
    [
        (made(8, 1, 3.0) + made(3, 4, 30.0), True),
        (made(8, 2, 3.0) + made(3, 4, 30.0), False),
        (made(8, 1, 3.0) + made(3, 6, 30.0), False),
        (made(10, 0, 10.0, gain=0.5), True),
        (made(10, 0, 10.0, gain=-0.1), False),
    ],
)
def test_the_check_holds_if_trees_of_reads_are_near_and_likely(outcomes: list[OfInput], holds: bool) -> None:
    result = EvidenceResult(tuple(outcomes))
    assert result.holds == holds
    assert ("NOT AS EXPECTED" in result.markdown()) != holds
    assert json.loads(json.dumps(result.to_dict()))["holds"] == holds


def test_reads_of_a_small_study_beat_their_calls_and_another_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other program returns a caterpillar of the cells, which is less likely than our tree."""
    cells = 8
    tree = "1"
    for cell in range(2, cells + 1):
        tree = f"({tree},{cell})"
    found = {"absent": [[0.2] * 4 + [0.9] * 4, [0.7] * 4 + [0.1] * 4] * 2, "tree": f"{tree};", "seconds": 0.1}
    program = tmp_path / "programs"
    program.mkdir()
    (program / "scistree2_reads.py").write_text(f"import json\nprint(json.dumps({{'found': {found}}}))\n")
    monkeypatch.setattr(api, "DROPOUTS", (0.2,))
    monkeypatch.setattr("syclade.quality.race.peers._PROGRAMS", program)
    result = evidence_study(
        inputs=1, sizes=((4, cells),), depths=(10.0,), seed=3, scistree2=Path(sys.executable)
    )
    assert len(result.inputs) == len(api.DROPOUTS)
    for one in result.inputs:
        assert one.gain is not None
        assert one.gain > 0
        assert one.peer_seconds is not None
        assert one.peer_seconds[1] == 0.1
    with pytest.raises(OptionError, match="does not run"):
        evidence_study(inputs=1, sizes=((4, cells),), depths=(10.0,), scistree2=tmp_path / "none")


def test_the_command_writes_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "evidence_study", lambda **_: EvidenceResult(tuple(made(9, 0, 3.0))))
    with pytest.raises(SystemExit) as ended:
        run("evidence", "--out", str(tmp_path / "out"))
    assert not ended.value.code
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["evidence.json", "evidence.md"]
