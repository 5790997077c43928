"""Options that determine the result and must match on resume."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syclade.host.ground.errors import CheckpointError
from syclade.host.ground.options import DECIDE, flag_of

__all__ = ["check_asked", "what_decides"]


def what_decides(options: Mapping[str, Any], matrix_sha256: str) -> dict[str, Any]:
    """Return those of the given options that determine the result, and the SHA-256 of the matrix."""
    told = {name: options.get(name) for name in DECIDE}
    if told["samples"] is None:
        told["burn_in"] = None
    return {"matrix": matrix_sha256, **told}


def check_asked(path: Path, told: Any, asked: Mapping[str, Any]) -> None:
    """Check that the options of a checkpoint's run match the options of this run.

    Raises:
        CheckpointError: an option differs; the message names it.
    """
    if not isinstance(told, Mapping):
        raise CheckpointError("the checkpoint lacks the options of its run", path=path)
    for name, value in asked.items():
        if told.get(name) == value:
            continue
        if name == "matrix":
            raise CheckpointError(
                "the checkpoint is of another matrix",
                path=path,
                hint="give the matrix of the run that wrote it",
            )
        option = flag_of(name)
        raise CheckpointError(
            f"the checkpoint's run had {option} {_shown(told.get(name))}, and this one has {_shown(value)}",
            path=path,
            hint=f"give {option} as it was, or start again without {flag_of('resume')}",
        )


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    return "not given" if value is None else str(value)
