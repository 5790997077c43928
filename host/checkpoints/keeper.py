"""When a run is kept, where, and what it was asked: chains and searches use one and the same."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from syclade.host.errors import CheckpointError, OptionError, OutputError
from syclade.host.values import path_of, real

__all__ = ["Keeper", "make_keeper"]


class Keeper:
    """Where a run is kept.

    Attributes:
        every: seconds between two times; 0: whenever the run could be kept.
        asked: what decides the result (`checkpoints/asked.py`).
        resumed: the file that the run goes on from; None for a new run.
    """

    def __init__(
        self,
        path: Path | None,
        every: float,
        asked: Mapping[str, Any],
        *,
        resumed: Path | None = None,
        force: bool = False,
    ) -> None:
        self.every = every
        self.asked = dict(asked)
        self.resumed = resumed
        self._path = path
        # A file that this run has written, or goes on from, is its own.
        self._own = force or (path is not None and resumed is not None and _same(path, resumed))
        self._last = time.monotonic()

    @property
    def writes(self) -> bool:
        """Whether there is a file to write."""
        return self._path is not None

    @property
    def path(self) -> Path | None:
        """The file to write; None if there is none."""
        return self._path

    @property
    def may_write(self) -> bool:
        """Whether the file may be replaced."""
        return self._own

    def due(self) -> bool:
        """Whether it is time to keep the run."""
        return self.writes and time.monotonic() - self._last >= self.every

    def keep(self, write: Callable[[Path, dict[str, Any], bool], None]) -> None:
        """Keep the run, if there is a file for it.

        Args:
            write: takes the file, what goes into it besides the run's own, and whether it may be replaced.

        Raises:
            OutputError: the file is another run's, or cannot be written.
        """
        if self._path is None:
            return
        write(self._path, {"asked": self.asked}, self._own)
        self._own = True
        self._last = time.monotonic()

    def check(self, path: Path, told: Mapping[str, Any], kind: str) -> None:
        """Whether a file's run is the one that was asked for.

        Args:
            path: the file.
            told: what the file says of its run.
            kind: chains or searches.

        Raises:
            CheckpointError: it is of another run.
        """
        found = told.get("kind", "something else")
        if found != kind:
            raise CheckpointError(
                f"the checkpoint is one of {found}, and this run is one of {kind}",
                path=path,
                hint="give the options of the run that wrote it",
            )
        from syclade.host.checkpoints.asked import check_asked

        check_asked(path, told.get("asked"), self.asked)


def make_keeper(path: Any, resumed: Any, every: float, asked: Mapping[str, Any], *, force: bool) -> Keeper:
    """A keeper for what a user gave.

    Args:
        path: the file to keep the run in; None for none.
        resumed: the file to go on with; None for a new run.
        every: seconds between two times.
        asked: what decides the result.
        force: whether `path` may be replaced whatever it is.

    Raises:
        OptionError: `every` makes no sense.
        OutputError: `path` is there, and is not the run's own.
    """
    every = real("seconds (--checkpoint-every)", every)
    if not 0 <= every < math.inf:
        raise OptionError(f"seconds (--checkpoint-every) is {every}", hint="give 0 or more seconds")
    place = None if path is None else Path(path_of("checkpoint (--checkpoint)", path))
    source = None if resumed is None else Path(path_of("checkpoint (--resume)", resumed))
    keeper = Keeper(place, every, asked, resumed=source, force=force)
    if place is not None and not keeper.may_write and place.exists():
        raise OutputError(
            f"{place} is there already", hint="go on with it by --resume, or replace it with --force"
        )
    return keeper


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
