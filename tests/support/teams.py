"""Kernels of teams in Python: each thread of a slot is a thread here, and one of them runs at a time.

A thread runs until it meets others, and the next one is drawn at random. So a missing meeting, or an update
that should be shared, shows as other bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.engines.local import LocalEngine
from syclade.kernels.target import blocks

WITHOUT: set[str] = set()
"""Operations that are left as they are, to see what is noticed."""


class Shape(NamedTuple):
    """Teams of a slot, warps of a team, and threads of a warp."""

    teams: int
    warps: int
    lanes: int


class _Thread:
    """A thread of a slot: its numbers, and what it waits for."""

    def __init__(self, number: int, shape: Shape) -> None:
        self.team, self.thread = divmod(number, shape.warps * shape.lanes)
        self.warp = (self.team, self.thread // shape.lanes)
        self.go = threading.Semaphore(0)
        self.waits: tuple[str, Any] | None = None
        self.value: Any = None
        self.answer: Any = None
        self.error: BaseException | None = None
        self.ended = False


class Slot:
    """The threads of a slot, of which one runs at a time."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape = shape
        self._random = np.random.default_rng(seed)
        self._here = threading.local()
        self._stopped = threading.Semaphore(0)

    @property
    def here(self) -> _Thread:
        """The thread that runs."""
        found: _Thread = self._here.thread
        return found

    def wait(self, kind: str, group: Any, value: Any = None) -> Any:
        """Wait until all threads of a group do; return what the kind of meeting makes of their values."""
        here = self.here
        here.waits, here.value = (kind, group), value
        self._stopped.release()
        here.go.acquire()
        return here.answer

    def run(self, body: Callable[[], None]) -> None:
        """Run a function in all threads."""
        shape = self.shape
        made = [_Thread(number, shape) for number in range(shape.teams * shape.warps * shape.lanes)]
        for one in made:
            threading.Thread(target=self._work, args=(one, body), daemon=True).start()
        ready = list(made)
        while ready:
            one = ready.pop(int(self._random.integers(len(ready))))
            one.go.release()
            self._stopped.acquire()
            if one.error is not None:
                raise one.error
            if one.ended:
                continue
            assert one.waits is not None
            there = [other for other in made if other.waits == one.waits]
            if len(there) == self._size(one.waits[0]):
                _answer(one.waits[0], there)
                ready += there
        assert all(one.ended for one in made), {one.waits for one in made}

    def _size(self, kind: str) -> int:
        """Return the number of threads that meet."""
        teams, warps, lanes = self.shape
        return {"all": teams * warps * lanes, "team": warps * lanes}.get(kind, lanes)

    def _work(self, one: _Thread, body: Callable[[], None]) -> None:
        self._here.thread = one
        one.go.acquire()
        try:
            with np.errstate(over="ignore"):
                body()
        except BaseException as error:
            one.error = error
        one.ended, one.waits = True, None
        self._stopped.release()


def _answer(kind: str, there: Sequence[_Thread]) -> None:
    """Give all threads of a meeting their answers."""
    values = [one.value for one in there]
    for at, one in enumerate(there):
        if kind == "sum":
            one.answer = sum(values[1:], values[0])
        elif kind == "maximum":
            one.answer = max(values)
        elif kind == "prefix":
            one.answer = sum(values[1 : at + 1], values[0])
        one.waits = None


@contextmanager
def operations_of(slot: Slot) -> Iterator[None]:
    """Give the operations of teams to the threads of a slot."""
    number = np.int64
    shape = slot.shape

    def warp(kind: str) -> Callable[..., Any]:
        return lambda value=None: slot.wait(kind, slot.here.warp, value)

    own: dict[str, Callable[..., Any]] = {
        "thread": lambda: number(slot.here.thread),
        "threads": lambda: number(shape.warps * shape.lanes),
        "team": lambda: number(slot.here.team),
        "teams": lambda: number(shape.teams),
        "lanes": lambda: number(shape.lanes),
        "meet": lambda: slot.wait("team", slot.here.team),
        "meet_all": lambda *_: slot.wait("all", None),
        "meet_warp": warp("warp"),
        "warp_sum": warp("sum"),
        "warp_prefix": warp("prefix"),
        "warp_maximum": warp("maximum"),
    }
    own = {name: function for name, function in own.items() if name not in WITHOUT}
    before = {name: getattr(blocks, name).function for name in own}
    for name, function in own.items():
        getattr(blocks, name).function = function
    try:
        yield
    finally:
        for name, function in before.items():
            getattr(blocks, name).function = function


class TeamsEngine(LocalEngine):
    """Engine of kernels of teams, a slot after another.

    Attributes:
        shape: teams and threads of each slot; the sizes have the same number of teams.
    """

    shape = Shape(1, 1, 1)
    seed = 0

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number."""
        body, (record, names), *_ = kernel.body(), *kernel.record_types()
        flat = record(*(self.named[name].reshape(-1) for name in names))

        def run(number: int) -> None:
            slot = Slot(self.shape, self.seed)
            if self.shape == (1, 1, 1):
                with np.errstate(over="ignore"):
                    body(np.uint64(number), np.uint64(0), flat)
                return
            with operations_of(slot):
                slot.run(lambda: body(np.uint64(number), np.uint64(0), flat))

        return self._add(run)
