"""Progress of the checks where no terminal shows a bar, such as in a job of a cluster."""

from __future__ import annotations

import pytest

from syclade.quality.cli.progress import progress_bar


def test_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(every=0.0) as show:
        show("setting a, 1 of 4", 1, 8)
        show("setting a, 2 of 4", 2.0, 8.0)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "syclade: 12%, setting a, 1 of 4\nsyclade: 25%, setting a, 2 of 4\n"


def test_short_checks_print_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as show:
        show("all", 0, 0)
    assert capsys.readouterr().err == ""
