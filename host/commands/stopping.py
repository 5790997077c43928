"""SIGINT and SIGTERM during a run: the first ends it with the best tree so far, the second at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from syclade.host.chains.runs.context import Stop
from syclade.host.commands.interrupts import interrupted, offered_to

__all__ = ["SignalStop", "stopped_by_signals"]


BEST_SO_FAR = "stopping with the best tree so far; once more stops at once"


class SignalStop(Stop):
    """A stop request set by a signal.

    Attributes:
        number: number of the signal; 0 before any.
        message: what the first signal does.
    """

    def __init__(self, message: str = BEST_SO_FAR) -> None:
        super().__init__()
        self.number = 0
        self.message = message

    @property
    def begun(self) -> bool:
        """Return whether a run has begun that checks for requests."""
        return self._begun

    @begun.setter
    def begun(self, begun: bool) -> None:
        """Note that a run has begun; end the program if a signal came before it.

        The exception of such a signal is lost if it is raised in a callback, such as one of LLVM.
        """
        self._begun = begun
        if begun and not self.number and interrupted():
            raise KeyboardInterrupt

    @property
    def status(self) -> int:
        """Exit status: 0, or after a signal 128 plus its number, by the convention of shells."""
        return 128 + self.number if self.number else 0

    def take(self, number: int) -> bool:
        """Take the first signal, if a run has begun; return whether it was taken."""
        if self.wanted or not self.begun:
            return False
        self.number, self.wanted = number, True
        click.echo(f"syclade: {self.message}", err=True)
        return True


@contextmanager
def stopped_by_signals(message: str = BEST_SO_FAR) -> Iterator[SignalStop]:
    """Turn the first SIGINT or SIGTERM of a run into a stop request.

    Before the first launch ends, no run can see the request: a signal then ends the program, as every signal
    after the first does. The context must last until the result is written.

    Args:
        message: what the first signal does, for standard error.
    """
    stop = SignalStop(message)
    with offered_to(stop.take):
        yield stop
