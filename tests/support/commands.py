"""Commands run in this process: their status and what they print."""

from __future__ import annotations

import pytest

from syclade.host.commands.main import main

__all__ = ["printed_by", "status_of"]


def status_of(*arguments: object) -> int:
    """Return the exit status of a command."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def printed_by(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    """Return the exit status of a command, its lines on standard output, and its text on standard error."""
    status = status_of(*arguments)
    said = capsys.readouterr()
    return status, said.out.splitlines(), said.err
