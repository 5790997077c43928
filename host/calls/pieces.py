"""Pieces of the genome, counted and tested by threads or by workers, with their results in order.

With workers, a job is some pieces in a row, and each worker reads the files itself. Jobs are submitted in
order, and at most a few answers wait for earlier ones, so memory does not grow with the genome.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.kernels import Place, place_of
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Here, Piece, Site, Sites
from syclade.host.calls.window_tests import WindowResult, Worker
from syclade.host.device.cluster.job_pool import JobPool
from syclade.host.device.cluster.jobs import IsWanted, named_by_host, work_since
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.device import usable_cores
from syclade.host.device.work import WorkDone, merged_work
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.limits import open_files
from syclade.host.ground.options.calls import CallOptions

__all__ = ["Pieces", "Seen", "SharedPieces", "Threads", "added", "sites_in"]


class Seen(NamedTuple):
    """Reads seen and work done so far.

    Attributes:
        reads: numbers of reads, by sample; see `ReadFilter`.
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
        self._threads, self._place = fitting_threads(threads, len(paths)), place
        self._pool = ThreadPoolExecutor(self._threads)
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


FILES, OTHER_FILES = 2, 64
"""Open files of a thread for each sample; and those of the process besides."""


def fitting_threads(threads: int, samples: int) -> int:
    """Return the number of threads whose open files the system allows, at most the given one.

    Raises:
        ReadsError: there are too many samples for one thread.
    """
    limit = open_files(FILES * samples * threads + OTHER_FILES)
    fitting = (limit - OTHER_FILES) // (FILES * samples)
    if fitting < 1:
        needed = FILES * samples + OTHER_FILES
        raise ReadsError(
            f"{samples} files of reads need {needed} open files at a time, and the system allows {limit}",
            hint=f"raise the limit (ulimit -n {needed}), or call fewer samples at a time",
        )
    return min(threads, fitting)


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


WAIT_SECONDS = 0.5
"""Longest wait for an answer, so that signals are seen."""

JOBS_A_WORKER = 8
"""Number of jobs for each worker, if there are that many pieces. Fewer would end less evenly."""

MOST_PIECES = 64
"""Most pieces in a job."""

AHEAD = 3
"""Jobs for each worker that may wait for those before them."""


@dataclass(frozen=True)
class CallsToOpen:
    """All that a worker needs to call variants.

    Attributes:
        paths: the samples' files, which workers read.
        reference: the reference's file, likewise.
        options: what decides the records.
        versions: size and time of each file, so that a worker opens a changed file again.
    """

    paths: tuple[Path, ...]
    reference: Path
    options: CallOptions
    versions: tuple[tuple[int, int], ...]


class OpenCalls:
    """Open files of a worker, for one device."""

    def __init__(self, value: CallsToOpen, place: Place, threads: int) -> None:
        self._reference = Reference(value.reference)
        self._reference.ignores_digests = value.options.ignores_digests
        for path in value.paths:  # also says which MD5s are expected
            with open_alignments(path, self._reference):
                pass
        self.pieces = Threads(value.paths, self._reference, value.options, threads, place)

    def close(self) -> None:
        """Close the files."""
        self.pieces.close()
        self._reference.close()


def open_calls(value: CallsToOpen, device: str) -> OpenCalls:
    """Open the files.

    Raises:
        ReadsError: a file cannot be read here.
        DeviceError: the device cannot be used.
    """
    threads = usable_cores()
    return OpenCalls(value, place_of(device, threads), threads)


class PiecesDone(NamedTuple):
    """Answer of a job.

    Attributes:
        windows: the windows of each piece.
        seen: what was read and computed for them.
    """

    windows: list[list[WindowResult]]
    seen: Seen


def do_pieces(opened: OpenCalls, argument: tuple[Sequence[Piece], Sites], _is_wanted: IsWanted) -> PiecesDone:
    """Count and test some pieces."""
    pieces = opened.pieces
    before = pieces.seen
    windows = [found for _, found in pieces.run(*argument)]
    after = pieces.seen
    work = named_by_host(work_since(before.work, after.work))
    reads = tuple(now - then for now, then in zip(after.reads, before.reads, strict=True))
    return PiecesDone(windows, Seen(reads, work))


class SharedPieces:
    """Pieces that a job pool counts and tests; see `Pieces`.

    Args:
        workers: the places.
        paths: the samples' files.
        reference: the reference.
        options: what decides the records.
    """

    def __init__(
        self, workers: Workers, paths: Sequence[Path], reference: Reference, options: CallOptions
    ) -> None:
        files = tuple(path.absolute() for path in paths)
        stats = [path.stat() for path in (*files, reference.path)]
        versions = tuple((one.st_size, one.st_mtime_ns) for one in stats)
        value = CallsToOpen(files, reference.path.absolute(), options, versions)
        self._job_pool = JobPool[int, PiecesDone](workers, partial(open_calls, value))
        self._paths = files
        self._seen: list[Seen] = []

    @property
    def seen(self) -> Seen:
        """See `Pieces`."""
        return Seen(
            added(self._paths, (one.reads for one in self._seen)),
            merged_work(one.work for one in self._seen),
        )

    def run(self, pieces: Sequence[Piece], sites: Sites) -> Iterator[tuple[Piece, list[WindowResult]]]:
        """See `Pieces`."""
        size = max(1, min(MOST_PIECES, len(pieces) // (JOBS_A_WORKER * max(1, len(self._job_pool.places)))))
        jobs = [pieces[at : at + size] for at in range(0, len(pieces), size)]
        ended: dict[int, PiecesDone] = {}
        given = 0
        for number, job in enumerate(jobs):
            while number not in ended:
                for place in self._job_pool.idle():
                    if given < min(len(jobs), number + AHEAD * len(self._job_pool.places)):
                        self._job_pool.submit(
                            place, do_pieces, (jobs[given], _sites_of(jobs[given], sites)), given
                        )
                        given += 1
                for one in self._job_pool.collect(WAIT_SECONDS):
                    ended[one.tag] = one.answer
            done = ended.pop(number)
            self._seen.append(done.seen)
            yield from zip(job, done.windows, strict=True)

    def close(self) -> None:
        """See `Pieces`."""
        self._job_pool.close()


def _sites_of(pieces: Sequence[Piece], sites: Sites) -> dict[str, dict[int, tuple[Site, ...]]]:
    """Return the sites of some pieces."""
    found: dict[str, dict[int, tuple[Site, ...]]] = {}
    for piece in pieces:
        found.setdefault(piece.contig, {}).update(sites_in(piece, sites))
    return found
