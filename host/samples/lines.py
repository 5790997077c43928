"""Samples as lines in SCITE's format, in passing files until the run is over."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

__all__ = ["Samples", "sample_line"]

SAMPLES_IN_MEMORY = 2**20
"""Bytes a chain; what is more goes to a passing file."""


def sample_line(log_likelihood: float, parents: NDArray[np.int32]) -> str:
    """A line of a ``.samples`` file: score, leaves, and the parent of each mutation, from 0, the root n."""
    leaves = len(parents) - len(set(parents.tolist()))
    return f"{log_likelihood:.6g}\t{leaves}\t{' '.join(map(str, parents[:-1].tolist()))} \n"


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
        weakref.finalize(self, _close, self._files)

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
        _close(self._files)


def _close(files: dict[int, tempfile.SpooledTemporaryFile[str]]) -> None:
    for file in files.values():
        file.close()
