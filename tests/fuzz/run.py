"""Run inputs one after the other, and record each outcome that is neither a result nor a `SycladeError`."""

from __future__ import annotations

import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from syclade.host.ground.errors import SycladeError

__all__ = ["MOST_SECONDS", "Failure", "Kind", "Tally", "fuzz", "take"]

MOST_SECONDS = 2.0
"""Seconds of processor time of the input's thread, times the kind's `patience` if it has one, after which the
input counts as hanging."""


class Kind(Protocol):
    """Kind of input."""

    name: str

    def make(self, draw: Random) -> Any:
        """Return an input."""

    def take(self, given: Any) -> None:
        """Process the input as the program does; raise AssertionError if the result is wrong."""


@dataclass(frozen=True)
class Failure:
    """Input with a forbidden outcome.

    Attributes:
        kind, number: reproduce the input, together with the seed.
        given: the input.
        reason: the traceback.
    """

    kind: str
    number: int
    given: Any
    reason: str


@dataclass
class Tally:
    """Number of inputs by outcome."""

    taken: int = 0
    refused: int = 0


class Hang(BaseException):
    """Time limit exceeded. It is not an Exception, so that no handler in the program catches it."""


def input_of(kind: Kind, seed: int, number: int) -> Any:
    """Return an input by its number."""
    return kind.make(Random(f"{seed} {kind.name} {number}"))


def take(kind: Kind, given: Any) -> bool:
    """Return True if an input was accepted, False if it was refused with a printable message."""
    most = MOST_SECONDS * float(getattr(kind, "patience", 1.0))
    started = time.thread_time()
    try:
        with _time_limit(most):
            kind.take(given)
    except SycladeError as error:
        text = str(error)
        assert text.strip(), "an error without words"
        assert "\0" not in text, "a null character in a message"
        assert len(text) < 5000, "a message of more than 5000 characters"
        text.encode()
        return False
    finally:
        seconds = time.thread_time() - started
    assert seconds < most, f"{seconds:.1f} s for an input"
    return True


def fuzz(kind: Kind, seed: int, numbers: range, tally: Tally) -> Iterator[Failure]:
    """Make and take inputs, and yield the failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            given = input_of(kind, seed, number)
            try:
                if take(kind, given):
                    tally.taken += 1
                else:
                    tally.refused += 1
            except (Exception, Hang):
                yield Failure(kind.name, number, given, traceback.format_exc(limit=-6))


@contextmanager
def _time_limit(most: float) -> Iterator[None]:
    """Stop an input that hangs, where the system has interval timers.

    The timer counts the processor time of all threads. It starts again if the input's own thread used less
    than 90 % of the limit, since another test may have left a thread behind.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    started = time.thread_time()

    def stop(*_: object) -> None:
        if time.thread_time() - started < most * 0.9:
            signal.setitimer(signal.ITIMER_PROF, most)
        else:
            raise Hang(f"more than {most} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
