"""A few of the runs that `python -m tests.kills` disturbs; tests/commands/test_signals.py chooses moments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kills.batches import kill_batches
from tests.kills.killed import kill_runs
from tests.kills.races import race_runs
from tests.kills.runs import KINDS, shorter
from tests.kills.signalled import signal_runs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


def short(*kinds: str) -> dict[str, tuple[str, ...]]:
    return {kind: shorter(KINDS[kind], 10) for kind in kinds}


@pytest.mark.parametrize("kind", ["search", "samples", "report"])
def test_signals(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert signal_runs(short(kind), "native", 2, 1, tmp_path) == 0, capsys.readouterr().out


def test_kills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_runs(short("samples"), ["native"], 2, 1, tmp_path) == 0, capsys.readouterr().out


def test_races(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert race_runs(4, 1, tmp_path) == 0, capsys.readouterr().out


@pytest.mark.parametrize("parts", [1, 3])
def test_batches(tmp_path: Path, parts: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_batches(1, 1, tmp_path, matrices=4, parts=parts) == 0, capsys.readouterr().out


@pytest.mark.verification
@pytest.mark.parametrize("parts", [1, 7])
def test_many_kills_of_batches(tmp_path: Path, parts: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_batches(10, 2, tmp_path, matrices=40, parts=parts) == 0, capsys.readouterr().out
