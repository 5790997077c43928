"""Pieces of the genome that workers of an executor share; each worker reads the files itself.

A job is some pieces in a row. Jobs are given out in order, and at most a few answers wait for those before
them, so memory does not grow with the genome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.options import CallOptions
from syclade.host.calls.place import Place, place_of
from syclade.host.calls.pool import Seen, Threads, added, sites_in
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Piece
from syclade.host.calls.sites import Site, Sites
from syclade.host.calls.work import WindowResult
from syclade.host.device.cluster.job_pool import Crew
from syclade.host.device.cluster.jobs import Going, Opening
from syclade.host.device.cluster.work import named_by_host, work_since
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.cores import usable_cores
from syclade.host.device.work import merged_work

__all__ = ["SharedPieces"]

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
        versions: size and time of each file, so that a worker opens a changed file anew.
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


def do_pieces(opened: OpenCalls, argument: tuple[Sequence[Piece], Sites], _going: Going) -> PiecesDone:
    """Count and test some pieces."""
    pieces = opened.pieces
    before = pieces.seen
    windows = [found for _, found in pieces.run(*argument)]
    after = pieces.seen
    work = named_by_host(work_since(before.work, after.work))
    reads = tuple(now - then for now, then in zip(after.reads, before.reads, strict=True))
    return PiecesDone(windows, Seen(reads, work))


class SharedPieces:
    """Pieces that a crew counts and tests; see `Pieces`.

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
        self._crew = Crew(workers, Opening(open_calls, value))
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
        size = max(1, min(MOST_PIECES, len(pieces) // (JOBS_A_WORKER * max(1, len(self._crew.places)))))
        jobs = [pieces[at : at + size] for at in range(0, len(pieces), size)]
        ended: dict[int, PiecesDone] = {}
        given = 0
        for number, job in enumerate(jobs):
            while number not in ended:
                for place in self._crew.idle():
                    if given < min(len(jobs), number + AHEAD * len(self._crew.places)):
                        self._crew.give(place, do_pieces, (jobs[given], _sites_of(jobs[given], sites)), given)
                        given += 1
                for one in self._crew.collect(WAIT_SECONDS):
                    ended[one.tag] = one.answer
            done = ended.pop(number)
            self._seen.append(done.seen)
            yield from zip(job, done.windows, strict=True)

    def close(self) -> None:
        """See `Pieces`."""
        self._crew.close()


def _sites_of(pieces: Sequence[Piece], sites: Sites) -> dict[str, dict[int, tuple[Site, ...]]]:
    """Return the sites of some pieces."""
    found: dict[str, dict[int, tuple[Site, ...]]] = {}
    for piece in pieces:
        found.setdefault(piece.contig, {}).update(sites_in(piece, sites))
    return found
