"""Pieces of the genome by several threads of this process, with their results in order."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.options import CallOptions
from syclade.host.calls.place import Place
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Piece
from syclade.host.calls.sites import Here, Site, Sites
from syclade.host.calls.work import WindowResult, Worker
from syclade.host.device.work import WorkDone, merged_work

__all__ = ["Pieces", "Seen", "Threads", "added", "sites_in"]


class Seen(NamedTuple):
    """Reads seen and work done so far.

    Attributes:
        reads: numbers of reads, by sample; see `Intake`.
        work: reads and gaps aligned, and columns tested.
    """

    reads: tuple[Counter[str], ...]
    work: tuple[WorkDone, ...]


class Pieces(Protocol):
    """Threads or workers that count and test pieces of the genome."""

    @property
    def seen(self) -> Seen:
        """Reads seen and work done so far."""

    def run(self, pieces: Sequence[Piece], sites: Sites) -> Iterator[tuple[Piece, list[WindowResult]]]:
        """Yield the pieces in order, with their windows.

        Raises:
            ReadsError: a file is damaged, or a read cannot be used.
            DeviceError: a kernel cannot be compiled.
        """

    def close(self) -> None:
        """Drop pieces that are not finished, and close the files."""


class Threads:
    """A worker for each thread; at most a few pieces wait for those before them. See `Pieces`.

    Args:
        paths: the samples' files.
        reference: the reference.
        options: what decides the records.
        threads: number of threads.
        place: where alignment qualities and tests are computed; None: here.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        reference: Reference,
        options: CallOptions,
        threads: int,
        place: Place | None,
    ) -> None:
        self._paths, self._reference, self._options = paths, reference, options
        self._threads, self._place = threads, place
        self._pool = ThreadPoolExecutor(threads)
        self._local = threading.local()
        self._workers: list[Worker] = []
        self._lock = threading.Lock()

    @property
    def seen(self) -> Seen:
        """See `Pieces`."""
        workers = self._workers
        return Seen(
            added(self._paths, (worker.reads for worker in workers)),
            merged_work(worker.work for worker in workers),
        )

    def run(self, pieces: Sequence[Piece], sites: Sites) -> Iterator[tuple[Piece, list[WindowResult]]]:
        """See `Pieces`."""
        waiting: list[tuple[Piece, Future[list[WindowResult]]]] = []
        codes: tuple[str, NDArray[np.uint8]] = ("", np.zeros(0, dtype=np.uint8))
        for piece in pieces:
            if codes[0] != piece.contig:
                codes = piece.contig, self._reference.codes(piece.contig)
            forced = sites_in(piece, sites)
            waiting.append((piece, self._pool.submit(self._work, piece, codes[1], forced)))
            if len(waiting) > 2 * self._threads:
                first, result = waiting.pop(0)
                yield first, result.result()
        for first, result in waiting:
            yield first, result.result()

    def close(self) -> None:
        """See `Pieces`."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in list(self._workers):
            worker.stop()
        self._pool.shutdown(wait=True)
        for worker in self._workers:
            worker.close()

    def _work(self, piece: Piece, codes: NDArray[np.uint8], forced: Here) -> list[WindowResult]:
        worker = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = Worker(
                self._paths, self._reference.readable, self._options, self._place
            )
            with self._lock:
                self._workers.append(worker)
        windows: list[WindowResult] = worker.windows(piece, codes, forced)
        return windows


def added(samples: Sequence[Path], parts: Iterable[Sequence[Counter[str]]]) -> tuple[Counter[str], ...]:
    """Return the sums of numbers of reads, by sample."""
    found: tuple[Counter[str], ...] = tuple(Counter() for _ in samples)
    for part in parts:
        for one, more in zip(found, part, strict=True):
            one.update(more)
    return found


def sites_in(piece: Piece, sites: Sites) -> dict[int, tuple[Site, ...]]:
    """Return the sites of a piece, by position."""
    found = sites.get(piece.contig, {})
    return {at: here for at, here in found.items() if piece.begin <= at < piece.end}
