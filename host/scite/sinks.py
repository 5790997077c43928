"""What leaves SCITE's chains while they run: the trees with the best score, and samples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event
from syclade.host.scite.files import sample_line

__all__ = ["OptimalTrees", "Samples"]

SAMPLES_IN_MEMORY = 2**20
"""Bytes a chain; what is more goes to a passing file."""


class OptimalTrees:
    """The distinct trees with the best score of all chains.

    They are told in the order of chains and steps, whatever order events come in.

    Args:
        why: the bits of the recorders of new and equal bests.
    """

    def __init__(self, why: int) -> None:
        self._why = why
        self._score: int | None = None
        self._found: dict[int, tuple[int, int, NDArray[np.int32]]] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if not event.why & self._why or (self._score is not None and event.score < self._score):
                continue
            if self._score is None or event.score > self._score:
                self._score = event.score
                self._found.clear()
            known = self._found.get(event.key)
            if known is None or (event.chain, event.step) < known[:2]:
                self._found[event.key] = (event.chain, event.step, event.parents)

    def trees(self, best: NDArray[np.int32], key: int) -> list[NDArray[np.int32]]:
        """All of them, the one with this key among them: chains may have begun with it.

        Args:
            best: the tree of the best score.
            key: its key.
        """
        found = sorted(self._found.values(), key=lambda one: one[:2])
        known = [] if key in self._found else [best]
        return [*known, *(parents for _, _, parents in found)]


def _passing_file() -> tempfile.SpooledTemporaryFile[str]:
    return tempfile.SpooledTemporaryFile(SAMPLES_IN_MEMORY, "w+", encoding="ascii", newline="\n")


class Samples:
    """Lines of a ``.samples`` file, chain after chain; memory does not grow with them.

    Args:
        why: the bit of the recorder of samples.
        to_nats: the log-likelihood of an integer score.
    """

    def __init__(self, why: int, to_nats: Callable[[int], float]) -> None:
        self._why = why
        self._to_nats = to_nats
        self._files: dict[int, tempfile.SpooledTemporaryFile[str]] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if not event.why & self._why:
                continue
            if event.chain not in self._files:
                self._files[event.chain] = _passing_file()
            self._files[event.chain].write(sample_line(self._to_nats(event.score), event.parents))

    def lines(self) -> Iterator[str]:
        """All lines, the chains in order."""
        for chain in sorted(self._files):
            self._files[chain].seek(0)
            yield from self._files[chain]

    def close(self) -> None:
        """Give the passing files back."""
        for file in self._files.values():
            file.close()
