"""Checkpoints of a run: when and where they are written, with which options; locks of the file."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from syclade.host.chains.checkpoints.archive import read_about
from syclade.host.chains.sample_store import store_of
from syclade.host.ground.errors import CheckpointError, OutputError
from syclade.host.ground.files import check_file
from syclade.host.ground.options import DECIDE, checked, flag_of
from syclade.host.ground.output_folder import is_locked, locked
from syclade.host.ground.signals import closed_at_exit, uninterrupted
from syclade.host.ground.values import Json, JsonObject, ParsedJson

__all__ = [
    "CheckpointWriter",
    "check_options",
    "deciding_options",
    "locked_checkpoint",
    "make_checkpoint_writer",
    "same_file",
]


logger = logging.getLogger("syclade.checkpoints")


class CheckpointWriter:
    """Checkpoint file and schedule of a run.

    Attributes:
        every: seconds between two checkpoints; 0: as often as possible.
        options: options that determine the result (`deciding_options`).
        resumed: the checkpoint that the run resumes from; None for a new run.
    """

    def __init__(
        self,
        path: Path | None,
        every: float,
        options: Mapping[str, Json],
        *,
        resumed: Path | None = None,
        force: bool = False,
    ) -> None:
        self.every = every
        self.options = dict(options)
        self.resumed = resumed
        self._path = path
        self._wrote = path is not None and resumed is not None and same_file(path, resumed)
        # A run may replace a file that it has written or resumes from.
        self._own = force or self._wrote
        self._last = time.monotonic()

    @property
    def writes(self) -> bool:
        """Return whether there is a file to write."""
        return self._path is not None

    @property
    def path(self) -> Path | None:
        """The file to write; None if there is none."""
        return self._path

    @property
    def may_write(self) -> bool:
        """Return whether an existing file may be replaced."""
        return self._own

    @property
    def wrote(self) -> bool:
        """Return whether the file has a checkpoint of this run, or of the one that it resumes."""
        return self._wrote

    def due(self) -> bool:
        """Return whether a checkpoint is due."""
        return self.writes and time.monotonic() - self._last >= self.every

    def write(self, write_file: Callable[[Path, JsonObject, bool], None]) -> None:
        """Write a checkpoint, if there is a file for it; if it cannot be written, `give_up`.

        Args:
            write_file: called with the file, the values to store besides the run's own, and whether an
                existing file may be replaced.
        """
        if self._path is None:
            return
        try:
            write_file(self._path, {"asked": self.options}, self._own)
        except OutputError as error:
            self.give_up(error)
            return
        self._own = self._wrote = True
        self._last = time.monotonic()

    def give_up(self, error: OutputError) -> None:
        """Warn that the run continues without checkpoints, since they cannot be written."""
        if self._path is None:
            return
        last = "it has none so far"
        if self._wrote:
            again = f"{flag_of('resume', self._path)} and another {flag_of('checkpoint')}"
            last = f"{self._path} has the last one: go on from it with {again}"
        logger.warning("%s: the run continues without checkpoints; %s", error.message, last)
        self._path = None

    def resumes(self, kind: str) -> bool:
        """Return whether the run resumes from a checkpoint of a kind, chains or searches.

        Raises:
            CheckpointError: the file cannot be read, or is no checkpoint.
        """
        if self.resumed is None:
            return False
        run = read_about(self.resumed).get("run")
        return isinstance(run, Mapping) and run.get("kind") == kind

    def begin_next_stage(self) -> None:
        """Resume from nothing from here on: the stage that was resumed has ended."""
        self.resumed = None

    def check(self, path: Path, stored: ParsedJson, kind: str) -> None:
        """Check that a checkpoint fits the kind and the options of this run.

        Args:
            path: the file.
            stored: the values of the run that the file stores.
            kind: chains or searches.

        Raises:
            CheckpointError: the checkpoint belongs to another run.
        """
        stored = stored if isinstance(stored, Mapping) else {}
        found = stored.get("kind", "something else")
        if found != kind:
            raise CheckpointError(
                f"the checkpoint is one of {found}, and this run is one of {kind}",
                path=path,
                hint="give the options of the run that wrote it",
            )

        check_options(path, stored.get("asked"), self.options)


def make_checkpoint_writer(
    path: object, resumed: object, every: float, options: Mapping[str, Json], *, force: bool
) -> CheckpointWriter:
    """Return the writer of checkpoints for the options that a user gave.

    Args:
        path: the file to write checkpoints to; None for no checkpoints.
        resumed: the checkpoint to resume from; None for a new run.
        every: seconds between two checkpoints.
        options: options that determine the result.
        force: whether `path` may be replaced in any case.

    Raises:
        OptionError: `every` is not a finite number >= 0.
        OutputError: `path` exists and is not the checkpoint that the run resumes from, or cannot be
            written.
    """
    place, source = checked("checkpoint", path), checked("resume", resumed)
    checkpoints = CheckpointWriter(
        place, checked("checkpoint_every", every), options, resumed=source, force=force
    )
    if place is None:
        return checkpoints
    if not checkpoints.may_write and os.path.lexists(place):
        raise OutputError(
            f"{place} already exists",
            hint=f"resume it with {flag_of('resume')}, or replace it with {flag_of('force')}",
        )
    if not checkpoints.may_write and options.get("samples") is not None and os.path.lexists(store_of(place)):
        raise OutputError(
            f"{store_of(place)} already exists: these are samples of another run",
            hint=f"choose another {flag_of('checkpoint')}, or replace them with {flag_of('force')}",
        )
    check_file(place, force=True)
    return checkpoints


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths are those of one existing file."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def deciding_options(options: Mapping[str, Json], matrix_sha256: str) -> JsonObject:
    """Return those of the given options that determine the result, and the SHA-256 of the matrix."""
    values = {name: options.get(name) for name in DECIDE}
    if values["samples"] is None:
        values["burn_in"] = None
    return {"matrix": matrix_sha256, **values}


def check_options(path: Path, stored: ParsedJson, options: Mapping[str, Json]) -> None:
    """Check that the options of a checkpoint's run match the options of this run.

    Raises:
        CheckpointError: an option differs; the message names it.
    """
    if not isinstance(stored, Mapping):
        raise CheckpointError("the checkpoint lacks the options of its run", path=path)
    for name, value in options.items():
        if stored.get(name) == value:
            continue
        if name == "matrix":
            raise CheckpointError(
                "the checkpoint is of another matrix",
                path=path,
                hint="give the matrix of the run that wrote it",
            )
        option = flag_of(name)
        raise CheckpointError(
            f"the checkpoint's run had {option} {_shown(stored.get(name))}, and this one has {_shown(value)}",
            path=path,
            hint=f"give {option} as it was, or start again without {flag_of('resume')}",
        )


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    return "not given" if value is None else str(value)


_held: ContextVar[Path | None] = ContextVar("held", default=None)
"""The checkpoint that an outer context has locked."""


@contextmanager
def locked_checkpoint(path: object, resumed: object) -> Iterator[None]:
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
