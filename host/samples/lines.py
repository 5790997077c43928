"""Samples as lines in SCITE's format, in temporary files until the run is over."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event

if TYPE_CHECKING:
    from syclade.host.model.rate_model import RateModel

__all__ = ["Samples", "close_all", "passing_file", "sample_line"]

SAMPLES_IN_MEMORY = 2**20
"""Bytes per chain that stay in memory; beyond this, lines go to a temporary file on disk."""


def sample_line(log_likelihood: float, parents: NDArray[np.int32], more: Sequence[float] = ()) -> str:
    """Return a line of a ``.samples`` file: score, number of leaves, and the parent of each mutation.

    Mutations are numbered from 0; the root is n.

    Args:
        log_likelihood: log-likelihood of the tree.
        parents: int32, shape (n + 1,): the tree.
        more: columns between leaves and parents: learned rates, and the score with their prior.
    """
    leaves = len(parents) - len(set(parents.tolist()))
    columns = (f"{log_likelihood:.6g}", str(leaves), *(f"{number:.6g}" for number in more))
    return "\t".join((*columns, " ".join(map(str, parents[:-1].tolist())))) + " \n"


def passing_file() -> tempfile.SpooledTemporaryFile[str]:
    """Return a temporary file for the lines of one chain."""
    return tempfile.SpooledTemporaryFile(SAMPLES_IN_MEMORY, "w+", encoding="utf-8", newline="\n")


class Samples:
    """Lines of a ``.samples`` file, chain by chain. Memory does not grow with the number of lines.

    Args:
        why: bit of the recorder of samples.
        to_nats: (integer score) -> log-likelihood.
        learned: the learned rates; None if there are none.
    """

    def __init__(self, why: int, to_nats: Callable[[int], float], model: RateModel) -> None:
        self._why = why
        self._to_nats = to_nats
        self._model = model
        self._files: dict[int, tempfile.SpooledTemporaryFile[str]] = {}
        weakref.finalize(self, close_all, self._files)

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if not event.why & self._why:
                continue
            if event.chain not in self._files:
                self._files[event.chain] = passing_file()
            self._files[event.chain].write(self._line(event))

    def _line(self, event: Event) -> str:
        score = self._to_nats(event.score)
        rates = self._model.values(event.rate_at)
        if not rates:
            return sample_line(score, event.parents)
        of_tree = score - self._model.log_prior(event.rate_at)
        return sample_line(of_tree, event.parents, (*rates.values(), score))

    def lines(self) -> Iterator[str]:
        """Yield all lines, chain by chain."""
        for lines in self.by_chain():
            yield from lines

    def by_chain(self) -> Iterator[Iterator[str]]:
        """Yield the lines of each chain, in order. Read the lines of one chain before requesting the next."""
        for chain in sorted(self._files):
            self._files[chain].seek(0)
            yield iter(self._files[chain])

    def close(self) -> None:
        """Close the temporary files."""
        close_all(self._files)


def close_all(files: dict[int, tempfile.SpooledTemporaryFile[str]]) -> None:
    """Close temporary files."""
    for file in files.values():
        file.close()
