"""Locks of checkpoints: of two runs with the same one, the second is refused at its start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from syclade.host.ground.errors import CheckpointError
from syclade.host.ground.files import check_file
from syclade.host.ground.lock import is_locked, locked
from syclade.host.ground.options import checked, flag_of
from syclade.host.ground.signals import closed_at_exit, uninterrupted

__all__ = ["checkpoint_in_use"]

_held: ContextVar[Path | None] = ContextVar("held", default=None)
"""The checkpoint that an outer context has locked."""


@contextmanager
def checkpoint_in_use(path: Any, resumed: Any) -> Iterator[None]:
    """Lock the checkpoint of a run in the context; within it, a context for the same one does nothing.

    The samples are in a file beside the checkpoint, so the context must last until they have been read.

    Args:
        path: the checkpoint to write; None for none.
        resumed: the checkpoint to resume from; None for a new run.

    Raises:
        CheckpointError: another run writes one of them now.
        OptionError: one of them is no path.
        OutputError: the folder of `path` does not exist, or cannot be written to.
    """
    place, source = checked("checkpoint", path), checked("resume", resumed)
    if place is not None and place == _held.get():
        yield
        return
    if source is not None and is_locked(_lock_of(source)):
        raise _busy(source)
    if place is None:
        yield
        return
    with closed_at_exit() as stack:
        with uninterrupted():
            check_file(place, force=True)
            stack.enter_context(locked(_lock_of(place), _busy(place)))
            token = _held.set(place)
            stack.callback(_held.reset, token)
        yield


def _lock_of(checkpoint: Path) -> Path:
    return checkpoint.with_name(f".{checkpoint.name}.lock")


def _busy(path: Path) -> CheckpointError:
    return CheckpointError(
        "another run is writing this checkpoint",
        path=path,
        hint=f"wait for its end, or choose another {flag_of('checkpoint')}",
    )
