"""Calling: pieces of the genome by threads or workers, and the decisions at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.alleles import (
    KINDS,
    Allele,
    Call,
    Limits,
    Tested,
    limits_of,
    may_be_called,
    sample_calls,
)
from syclade.host.calls.kernels import Place
from syclade.host.calls.pieces import Pieces, SharedPieces, Threads
from syclade.host.calls.read_filter import ReadCounts
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Here, Interval, Site, Sites, tiles, whole
from syclade.host.calls.window_tests import ColumnCounts, WindowResult
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.device import usable_cores
from syclade.host.device.work import WorkDone
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import CallOptions

__all__ = ["STATUSES", "Called", "Progress", "Sample", "Status", "Variant", "call_variants", "samples_of"]

Progress = Callable[[int, int, str], None]
"""Called with the positions done, the positions of all regions, and the last piece done."""


@dataclass(frozen=True)
class Sample:
    """A sample.

    Attributes:
        name: its name.
        path: its file.
        contigs: length of each contig, by name, in the order of the header.
        without_reads: contigs that have no reads, as far as the index tells.
        unplaced: unmapped reads without a position, as far as the index tells.
    """

    name: str
    path: Path
    contigs: Mapping[str, int]
    without_reads: frozenset[str] = frozenset()
    unplaced: int = 0


STATUSES = {
    "somatic": "Not in the normal sample",
    "in_normal": "Called in the normal sample, by a single test",
    "uncertain": "The reads of the normal sample do not rule it out there",
    "known": "In the VCF of germline variants",
}
"""Statuses of a tumour's variant beside a normal sample; all but the first one are also names of filters."""


class Status(NamedTuple):
    """Judgement of a tumour's variant by a normal sample.

    Attributes:
        name: one of `STATUSES`.
        unique: Phred-scaled p-value of the test that rules it out; None if it was not tested.
    """

    name: str
    unique: int | None


@dataclass(frozen=True)
class Variant:
    """A record: an allele with the call of each sample.

    Attributes:
        contig: name of the contig.
        calls: one for each sample.
        site: the site that gives it a record in any case; None for others.
        status: what the normal sample says of it; None without one. The calls are then those of the tumour
            and of the normal.
    """

    contig: str
    calls: tuple[Call, ...]
    site: Site | None = None
    status: Status | None = None


@dataclass(frozen=True)
class Called:
    """Result of calling.

    Attributes:
        samples: the samples.
        limits: their limits.
        variants: the records, in the order of contigs, positions, kinds (indels first) and bases.
        tested: columns and indels tested, by sample.
        positions: positions of all regions.
        columns: numbers of columns, by sample.
        reads: numbers of reads, by sample.
        work: reads and gaps aligned, and columns tested, by the devices that did it.
        is_somatic: whether the samples are a tumour and the normal that its variants are judged by.
    """

    samples: tuple[Sample, ...]
    limits: tuple[Limits, ...]
    variants: tuple[Variant, ...]
    tested: tuple[Tested, ...]
    positions: int
    columns: tuple[ColumnCounts, ...]
    reads: tuple[ReadCounts, ...]
    work: tuple[WorkDone, ...]
    is_somatic: bool = False

    def significant(self, variant: Variant) -> list[bool]:
        """Return whether the variant's quality suffices, in each sample."""
        return [
            call.quality >= limits[call.allele.kind].quality
            for call, limits in zip(variant.calls, self.limits, strict=True)
        ]

    def _judged(self, variant: Variant) -> tuple[Call, ...]:
        """Return the calls that decide about a record."""
        return variant.calls[:1] if self.is_somatic else variant.calls

    def quality_of(self, variant: Variant) -> int:
        """Return the quality of a record: the largest of its samples; with a normal one, of the tumour."""
        return max(call.quality for call in self._judged(variant))

    def filters_of(self, variant: Variant) -> tuple[str, ...]:
        """Return the filters of a record; none if it passes in a sample in which it is significant."""
        calls = self._judged(variant)
        called = [call for call, found in zip(calls, self.significant(variant), strict=False) if found]
        called = called or list(calls)
        if any(not call.filters for call in called):
            return ()
        return tuple(dict.fromkeys(name for call in called for name in call.filters))


def samples_of(paths: Sequence[Path], reference: Reference) -> tuple[Sample, ...]:
    """Check the files of aligned reads, and return their samples.

    Raises:
        ReadsError: a file cannot be used; two have the same sample, or other contigs.
    """
    samples: list[Sample] = []
    for path in paths:
        with open_alignments(path, reference) as opened:
            samples.append(Sample(opened.sample, path, opened.contigs, opened.without_reads, opened.unplaced))
        if samples[-1].contigs != samples[0].contigs:
            raise ReadsError(
                f"the contigs are not those of {samples[0].path}",
                path=path,
                hint="align all to one reference",
            )
        if samples[-1].name in {one.name for one in samples[:-1]}:
            raise ReadsError(
                f"its sample {samples[-1].name!r} is that of another file",
                path=path,
                hint="give each file a sample (SM) of its own: samtools addreplacerg",
            )
    return tuple(samples)


def call_variants(
    reference: Reference,
    samples: Sequence[Sample],
    intervals: Sequence[Interval],
    options: CallOptions | None = None,
    *,
    sites: Sites | None = None,
    threads: int | None = None,
    place: Place | Workers | None = None,
    progress: Progress | None = None,
) -> Called:
    """Call the variants of samples. The result depends neither on the number of threads nor on the place.

    Args:
        reference: the reference.
        samples: the samples, by `samples_of`.
        intervals: what to call, by `merged`.
        options: what decides the records.
        sites: alleles that get records in any case.
        threads: number of threads; None: as many as there are cores.
        place: where alignment qualities and tests are computed, by `place_of`; or workers that do everything
            but the decisions; None: here.
        progress: called after each piece.

    Raises:
        ReadsError: a file is damaged, or a read cannot be used.
        DeviceError: a kernel cannot be compiled, or the device cannot be used.
        WorkersError: the workers do not answer.
    """
    options = options or CallOptions()
    reference.ignores_digests = options.ignores_digests
    sites = sites or {}
    threads = threads or usable_cores()
    # With LoFreq's limit of a pileup, reads depend on those before.
    one_by_one = options.compat and options.max_depth < CallOptions().max_depth
    used = [one for one in intervals if one.contig in sites or _has_reads(one.contig, samples)]
    pieces = tiles(used, threads, cut=not one_by_one)
    total = sum(one.end - one.begin for one in intervals)
    gathered = _Gathered(len(samples), options, sites)
    with ExitStack() as closing:
        paths = [sample.path for sample in samples]
        pool: Pieces = (
            SharedPieces(place, paths, reference, options)
            if isinstance(place, Workers)
            else Threads(paths, reference, options, threads, place)
        )
        closing.callback(pool.close)
        done = total - sum(piece.end - piece.begin for piece in pieces)
        for piece, windows in pool.run(pieces, sites):
            for window in windows:
                gathered.add(window)
            done += piece.end - piece.begin
            if progress is not None:
                progress(done, total, str(piece))
        seen = pool.seen
    is_whole = list(intervals) == whole(samples[0].contigs)
    reads = [
        ReadCounts.of(counts, sample.unplaced if is_whole else 0)
        for counts, sample in zip(seen.reads, samples, strict=True)
    ]
    return gathered.called(tuple(samples), total, tuple(reads), seen.work)


def _has_reads(contig: str, samples: Sequence[Sample]) -> bool:
    """Return whether a contig may have reads in any sample."""
    return any(contig not in sample.without_reads for sample in samples)


Found = tuple[str, tuple[Allele, ...], tuple[bool, ...], Site | None]
"""Contig, an allele in each sample, whether it can be called there, and its site."""


class _Gathered:
    """Windows in order, reduced to alleles that can still be called."""

    def __init__(self, samples: int, options: CallOptions, sites: Sites) -> None:
        self._options, self._sites = options, sites
        self._tested: list[Tested] = [dict.fromkeys(KINDS, 0) for _ in range(samples)]
        self._alleles: list[Found] = []
        self._columns = [ColumnCounts(0, 0, 0, 0, 0, 0) for _ in range(samples)]

    def add(self, window: WindowResult) -> None:
        """Take the next window."""
        contig = window.interval.contig
        forced = self._sites.get(contig, {})
        for alleles in window.alleles:
            possible = tuple(
                may_be_called(allele, before[allele.kind], self._options)
                for allele, before in zip(alleles, self._tested, strict=True)
            )
            site = _site_of(alleles[0], forced)
            if any(possible) or site is not None:
                self._alleles.append((contig, alleles, possible, site))
        self._tested = [
            {kind: before[kind] + found[kind] for kind in KINDS}
            for before, found in zip(self._tested, window.tested, strict=True)
        ]
        self._columns = [
            ColumnCounts(*map(sum, zip(before, found, strict=True)))
            for before, found in zip(self._columns, window.columns, strict=True)
        ]

    def called(
        self,
        samples: tuple[Sample, ...],
        positions: int,
        reads: tuple[ReadCounts, ...],
        work: tuple[WorkDone, ...],
    ) -> Called:
        """Decide, now that the number of tests is known."""
        limits = tuple(limits_of(tested, self._options) for tested in self._tested)
        variants = _decided(self._alleles, limits, self._options)
        return Called(
            samples,
            limits,
            variants,
            tuple(self._tested),
            positions,
            tuple(self._columns),
            reads,
            work,
        )


def _site_of(allele: Allele, forced: Here) -> Site | None:
    """Return the site that is an allele; None if there is none."""
    letters = allele.reference, allele.alternative
    return next((site for site in forced.get(allele.position, ()) if site[:2] == letters), None)


def _decided(
    found: Sequence[Found],
    limits: Sequence[Limits],
    options: CallOptions,
) -> tuple[Variant, ...]:
    """Return the records: alleles that a sample is called for, and forced ones."""
    judged = []
    for sample, limit in enumerate(limits):
        counted = [at for at, one in enumerate(found) if one[2][sample]]
        by_place = dict(
            zip(counted, sample_calls([found[at][1][sample] for at in counted], limit, options), strict=True)
        )
        others = [at for at in range(len(found)) if at not in by_place]
        for at in others:
            by_place[at] = sample_calls([found[at][1][sample]], limit, options)[0]
        judged.append(by_place)
    variants = []
    for at, (contig, _, _, site) in enumerate(found):
        calls = tuple(by_place[at] for by_place in judged)
        significant = [
            call.quality >= limit[call.allele.kind].quality and found[at][2][sample]
            for sample, (call, limit) in enumerate(zip(calls, limits, strict=True))
        ]
        if site is None and not any(significant):
            continue
        if options.drop_filtered and site is None and all(call.filters for call in calls):
            continue
        variants.append(Variant(contig, calls, site))
    return tuple(variants)
