"""Folders that this process may not read: each command says so in a line, as for other errors."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syclade.host.commands.main import main


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is there, and may neither be entered nor listed; rights do not bind all users."""
    folder = tmp_path / "closed"
    folder.mkdir()

    def refusing(function: Callable[..., Any], *, itself: bool) -> Callable[..., Any]:
        def call(path: Any = ".", *args: Any, **options: Any) -> Any:
            place = None if isinstance(path, int) else Path(os.fspath(path))
            if place is not None and (folder in place.parents or (itself and place == folder)):
                raise PermissionError(13, "Permission denied", str(place))
            return function(path, *args, **options)

        return call

    for module, name, itself in (
        (os, "stat", False),
        (os, "lstat", False),
        (os, "listdir", True),
        (os, "scandir", True),
        (io, "open", False),
    ):
        monkeypatch.setattr(module, name, refusing(getattr(module, name), itself=itself))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "infer {closed}/m.csv --fp-rate .01 --fn-rate .2 --out {out}",
        "batch {closed} --fp-rate .01 --fn-rate .2 --out {out}",
        "batch {closed}/m.csv --fp-rate .01 --fn-rate .2 --out {out}",
        "batch {closed}/*.csv --fp-rate .01 --fn-rate .2 --out {out}",
        "compare {closed}/a.newick {closed}/b.newick",
        "compare {closed} {closed}",
        "consensus {closed} --out {out}/tree.newick",
        "plot {closed} --out {out}.svg",
        "plot {closed}/result --out {out}.svg",
        "plot {closed}/result/tree.newick --out {out}.svg",
        "score {closed}/m.csv {closed}/tree.gv --fp-rate .01 --fn-rate .2",
        "scite -i {closed}/m.csv -n 2 -m 2 -r 1 -l 10 -fd .1 -ad .2 -o {out}",
        "scite -i {matrix} -n 2 -m 3 -r 1 -l 10 -fd .1 -ad .2 -o {closed}/tree",
    ],
)
def test_a_closed_folder_is_named(
    arguments: str, closed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0 1 1\n1 0 1\n")
    places = {"closed": closed, "out": tmp_path / "out", "matrix": matrix}
    with pytest.raises(SystemExit) as ended:
        main(arguments.format(**places).split())
    said = capfd.readouterr().err
    assert ended.value.code == 2
    (line,) = [line for line in said.splitlines() if line.startswith("syclade: error:")]
    assert "Permission denied" in line
    assert str(closed) in line
