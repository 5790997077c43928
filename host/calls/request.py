"""`syclade.call`: files and options checked, variants called, and the result as records or VCF.

The command takes the same steps one by one, since it also shows progress and writes files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.calls.alignments import inputs_of
from syclade.host.calls.kernels import Place, place_of
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import (
    Interval,
    Sites,
    intersected,
    merged,
    parse_region,
    read_bed,
    read_sites,
    whole,
)
from syclade.host.calls.run import Called, Progress, Sample, call_variants, samples_of
from syclade.host.calls.somatic import call_somatic, tumour_options
from syclade.host.calls.summary import warnings_of
from syclade.host.calls.vcf import check_vcf, vcf_lines, write_vcf
from syclade.host.device.cluster.workers import Workers
from syclade.host.device.device import usable_cores
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.calls import SOMATIC, CallOptions, call_flag
from syclade.host.ground.values import counted

__all__ = ["CallFiles", "CallRecord", "CallRun", "Calls", "call"]

AnyPath = str | os.PathLike[str]


class CallFiles(NamedTuple):
    """Files to call, and the part of the genome.

    Attributes:
        reads: BAM or CRAM files, one for each sample; with a normal sample, that of the tumour.
        ref: the reference.
        normal: BAM or CRAM file of a normal sample.
        dbsnp: VCF of germline variants.
        region: a region.
        bed: file of regions.
        sites: VCF of alleles that get records in any case.
    """

    reads: tuple[Path, ...]
    ref: Path
    normal: Path | None = None
    dbsnp: Path | None = None
    region: str | None = None
    bed: Path | None = None
    sites: Path | None = None

    @property
    def inputs(self) -> Mapping[str, Path]:
        """The files and their indexes, which are never overwritten."""
        reads = self.reads if self.normal is None else (*self.reads, self.normal)
        return inputs_of(
            reads, self.ref, regions=self.bed, sites=self.sites, **{"germline variants": self.dbsnp}
        )


def check_together(files: CallFiles, options: CallOptions) -> None:
    """Refuse files and options that do not go together.

    Raises:
        OptionError: two do not.
    """
    compat, normal = call_flag("compat"), call_flag("normal")
    if options.compat and len(files.reads) > 1:
        raise OptionError(f"{compat} takes one BAM, as LoFreq does")
    if options.compat and files.sites is not None:
        raise OptionError(f"{compat} does not go with {call_flag('sites')}, which LoFreq lacks")
    if files.normal is None:
        given = [name for name in SOMATIC if getattr(options, name) != options.table[name].default]
        given += [] if files.dbsnp is None else ["dbsnp"]
        if given:
            raise OptionError(f"{call_flag(given[0])} does not go without {normal}", hint=f"add {normal} BAM")
        return
    if len(files.reads) > 1:
        raise OptionError(f"{normal} takes one BAM of a tumour", hint="call each tumour by itself")
    if options.compat:
        raise OptionError(
            f"{compat} does not go with {normal}",
            hint="the steps of lofreq somatic are the same, but some of its results are wrong",
        )
    if files.sites is not None:
        raise OptionError(f"{call_flag('sites')} does not go with {normal}", hint="leave one of them out")
    if options.sig != options.table["sig"].default:
        raise OptionError(
            f"{call_flag('sig')} does not go with {normal}",
            hint=f"give {call_flag('somatic_sig')} for SNVs, {call_flag('somatic_indel_sig')} for indels",
        )


class CallRun:
    """Open files, checked, and what to call in them.

    Attributes:
        files: the files.
        options: what decides the records; with a normal sample, that of the tumour.
        samples: the samples; with a normal sample, the tumour and it.
        warnings: what was noticed so far.

    Args:
        files: the files.
        options: what decides the records.

    Raises:
        OptionError: options and files do not go together, or the region is none.
        ReadsError: a file cannot be used.
    """

    def __init__(self, files: CallFiles, options: CallOptions) -> None:
        check_together(files, options)
        self.files = files
        self.options = options if files.normal is None else tumour_options(options)
        self.warnings: list[str] = []
        self._given = options
        self._reference = Reference(files.ref)
        self._reference.ignores_digests = options.ignores_digests  # sites read it, too
        try:
            if self._reference.index_problem is not None:
                self.warnings.append(
                    f"the index {files.ref}.fai {self._reference.index_problem}, and was not used: make it "
                    f"again (samtools faidx {files.ref})"
                )
            normal = () if files.normal is None else (files.normal,)
            self.samples: tuple[Sample, ...] = samples_of((*files.reads, *normal), self._reference)
            contigs = self.samples[0].contigs
            self.longest = max(contigs.values(), default=0)
            self._intervals = _intervals(contigs, files.region, files.bed)
            self._sites = None if files.sites is None else self._sites_of(files.sites)
        except BaseException:
            self.close()
            raise

    def call(
        self,
        place: Place | Workers | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Called:
        """Call the variants; see `call_variants`. Warnings follow."""
        if self.files.normal is None:
            called = call_variants(
                self._reference, self.samples, self._intervals, self.options,
                sites=self._sites, threads=threads, place=place, progress=progress,
            )  # fmt: skip
        else:
            tumour, normal = self.samples
            called = call_somatic(
                self._reference, tumour, normal, self._intervals, self._given,
                known=self.files.dbsnp, threads=threads, place=place, progress=progress,
            )  # fmt: skip
        self.warnings += [*self._reference.misfits.values(), *warnings_of(called, self.options)]
        return called

    def close(self) -> None:
        """Close the reference."""
        self._reference.close()

    def _sites_of(self, path: Path) -> Sites:
        """Return the sites in the regions; warn of alleles that are left out."""
        options = self.options
        wanted = {"single bases": not options.only_indels, "indels": options.call_indels}
        sites, others = read_sites(
            path, self._reference, bases=wanted["single bases"], indels=wanted["indels"]
        )
        if others:
            kinds = " or ".join(kind for kind, is_called in wanted.items() if is_called)
            more = "" if options.call_indels else f" ({call_flag('call_indels')} takes indels)"
            alleles = counted(others, "allele", "alleles")
            is_left = "is not {0}, and was" if others == 1 else "are not {0}, and were"
            self.warnings.append(f"{alleles} of {path} {is_left.format(kinds)} left out{more}")
        inside = {
            contig: {
                at: here
                for at, here in places.items()
                if any(one.contig == contig and one.begin <= at < one.end for one in self._intervals)
            }
            for contig, places in sites.items()
        }
        lost = sum(map(len, sites.values())) - sum(map(len, inside.values()))
        if lost:
            positions, is_out = counted(lost, "position", "positions"), "is" if lost == 1 else "are"
            self.warnings.append(f"{positions} of {path} {is_out} outside of the regions")
        return inside


def _intervals(contigs: Mapping[str, int], region: str | None, bed: Path | None) -> list[Interval]:
    """Return what to call: all contigs, or those parts of the regions that are wanted."""
    intervals = whole(contigs) if bed is None else read_bed(bed, contigs)
    intervals = merged(intervals, contigs)
    return intervals if region is None else intersected(intervals, parse_region(region, contigs))


class CallRecord(NamedTuple):
    """A called variant.

    Attributes:
        contig: name of the contig.
        position: its position, from 1, as in a VCF.
        reference, alternative: its letters, as in a VCF.
        quality: Phred-scaled p-value, the largest of all samples; with a normal sample, of the tumour.
        filters: filters that it does not pass in any sample that has it; with a normal sample, in the tumour.
        status: `somatic`, `in_normal`, `uncertain` or `known`; None without a normal sample.
        depth: reads of each sample.
        alternate_reads: reads with the alternative of each sample.
        frequency: allele frequency in each sample; NaN without bases.
    """

    contig: str
    position: int
    reference: str
    alternative: str
    quality: int
    filters: tuple[str, ...]
    status: str | None
    depth: tuple[int, ...]
    alternate_reads: tuple[int, ...]
    frequency: tuple[float, ...]

    @property
    def passed(self) -> bool:
        """Return whether it passes all filters."""
        return not self.filters


@dataclass(frozen=True)
class Calls:
    """Result of `syclade.call`.

    Attributes:
        samples: names of the samples; with a normal sample, the tumour and it.
        records: the records, in the order of the genome.
        warnings: reasons to doubt the result.
        vcf: the records as text of a VCF.
    """

    samples: tuple[str, ...]
    records: tuple[CallRecord, ...]
    warnings: tuple[str, ...]
    vcf: str = field(repr=False)
    _longest: int = field(repr=False)
    _inputs: Mapping[str, Path] = field(repr=False)

    def write(self, path: AnyPath, *, force: bool = False) -> list[Path]:
        """Write a VCF, compressed and with an index if the name ends in .vcf.gz; return the files.

        Args:
            path: the VCF.
            force: whether existing files may be replaced.

        Raises:
            OutputError: the files cannot be written, are inputs, or exist already.
        """
        check_vcf(Path(path), self._longest, force, self._inputs)
        return write_vcf(Path(path), self.vcf, self._longest, force=force, protected=self._inputs)


def call(
    reads: AnyPath | Sequence[AnyPath],
    ref: AnyPath,
    *,
    normal: AnyPath | None = None,
    dbsnp: AnyPath | None = None,
    region: str | None = None,
    bed: AnyPath | None = None,
    sites: AnyPath | None = None,
    device: str = "auto",
    threads: int | None = None,
    **given: Any,
) -> Calls:
    """Call the variants of aligned reads, as `syclade call` does.

    Args:
        reads: a BAM or CRAM file, sorted and with an index, or several, one for each sample; with `normal`,
            that of the tumour.
        ref: the reference, as FASTA.
        normal: file of a normal sample: variants are judged by it.
        dbsnp: VCF of germline variants, for use with `normal`.
        region: call only this region, such as `chr1:1000-2000`.
        bed: call only the regions of this file.
        sites: VCF of alleles that get records in any case.
        device: where to compute, as for the command.
        threads: number of threads; None: as many as there are cores.
        given: options of the command by name, such as `call_indels=True` or `min_af=0.05`.

    Raises:
        SycladeError: an option or a file cannot be used, as the message says.
    """
    several = [reads] if isinstance(reads, str | os.PathLike) else list(reads)
    files = CallFiles(
        tuple(map(Path, several)), Path(ref), _path(normal), _path(dbsnp), region, _path(bed), _path(sites)
    )
    unknown = sorted(given.keys() - CallOptions.table.keys())
    if unknown:
        raise OptionError(f"there is no option {unknown[0]!r}", hint="options are those of syclade call")
    if not files.reads:
        raise OptionError("there are no reads", hint="give a BAM or CRAM file")
    run = CallRun(files, CallOptions(**given))
    try:
        workers = threads or usable_cores()
        called = run.call(place_of(device, workers), workers)
    finally:
        run.close()
    text = "".join(vcf_lines(called, files.ref.name, run.options))
    return Calls(
        tuple(one.name for one in called.samples), tuple(_records(called)), tuple(run.warnings), text,
        run.longest, files.inputs,
    )  # fmt: skip


def _path(given: AnyPath | None) -> Path | None:
    return None if given is None else Path(given)


def _records(called: Called) -> Iterator[CallRecord]:
    """Yield the records as values."""
    for variant in called.variants:
        alleles = [one.allele for one in variant.calls]
        first, status = alleles[0], variant.status
        reads = [sum(one.dp4[2:]) for one in alleles]
        parts = [
            number / one.counted if one.counted else float("nan")
            for number, one in zip(reads, alleles, strict=True)
        ]
        yield CallRecord(
            variant.contig,
            first.position + 1,
            first.reference,
            first.alternative,
            called.quality_of(variant),
            called.filters_of(variant),
            status and status.name,
            tuple(one.depth for one in alleles),
            tuple(reads),
            tuple(parts),
        )
