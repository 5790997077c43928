"""VCF of calls: its text, with LoFreq's columns or with samples that other tools take; and its files.

A file is plain text, or compressed by bgzip with an index; it is written whole or not at all.

Source: VCF 4.2 specification.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import syclade
from syclade.host.calls.alleles import INDEL, Allele, Call, filter_lines, kinds_of, pooled_bias
from syclade.host.calls.run import STATUSES, Called, Status, Variant
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import check_file, refuse_same, write_file, write_files
from syclade.host.ground.options.calls import CallOptions, call_flag
from syclade.host.ground.packages import pysam_of

__all__ = ["check_vcf", "index_of", "vcf_lines", "write_vcf"]

_TABIX_LENGTH = 2**29
"""Positions that an index of tabix (.tbi) can hold; longer contigs need another one (.csi)."""


def index_of(path: Path, longest: int) -> Path | None:
    """Return the file of the index; None for a plain VCF, which has none.

    Args:
        path: the VCF.
        longest: length of the longest contig.
    """
    if path.suffix != ".gz":
        return None
    return path.with_name(path.name + (".tbi" if longest < _TABIX_LENGTH else ".csi"))


def check_vcf(path: Path, longest: int, force: bool, protected: Mapping[str, object]) -> None:
    """Check that a VCF and its index can be written, before anything is computed.

    Args:
        path: the VCF, compressed if its name ends in .gz.
        longest: length of the longest contig.
        force: whether existing files may be replaced.
        protected: the inputs, by `alignments.inputs_of`; they are never overwritten.

    Raises:
        OutputError: they cannot be written, are inputs, or exist already.
    """
    if path.suffix == ".bcf":
        raise OutputError(
            f"{path} would be BCF, which is not written", hint="end the name in .vcf or .vcf.gz"
        )
    names = _names(path, longest)
    refuse_same([path.parent / name for name in names], protected)
    check_file(path, force, names[1:])


def write_vcf(
    path: Path, text: str, longest: int, *, force: bool, protected: Mapping[str, object] | None = None
) -> list[Path]:
    """Write a VCF, and its index if it is compressed; return the files.

    Args:
        path: the VCF, compressed if its name ends in .gz.
        text: its lines.
        longest: length of the longest contig.
        force: whether existing files may be replaced.
        protected: the inputs, by `alignments.inputs_of`; they are never overwritten.

    Raises:
        OutputError: as for `write_files`.
    """
    names = _names(path, longest)
    if len(names) == 1:
        write_file(path, text, force, protected)
        return [path]
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "calls.vcf.gz"
        index = _compressed(packed, text, csi=names[1].endswith(".csi"))
        files: dict[str, Callable[[Path], None]] = {
            names[0]: lambda place: _copy(packed, place),
            names[1]: lambda place: _copy(index, place),
        }
        write_files(path.parent, files, force, protected, links=True)
    return [path.with_name(name) for name in names]


def _names(path: Path, longest: int) -> list[str]:
    index = index_of(path, longest)
    return [path.name] if index is None else [path.name, index.name]


def _compressed(path: Path, text: str, *, csi: bool) -> Path:
    """Write a compressed VCF and its index; return the index."""
    pysam = pysam_of()
    try:
        with pysam.BGZFile(str(path), "wb") as file:
            file.write(text.encode("utf-8"))
        pysam.tabix_index(str(path), preset="vcf", force=True, csi=csi)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"the temporary file {path} cannot be written: {reason}", hint="free some space, or set TMPDIR"
        ) from problem
    return path.with_name(path.name + (".csi" if csi else ".tbi"))


def _copy(source: Path, place: Path) -> None:
    place.write_bytes(source.read_bytes())


HOMOZYGOUS = 0.95
"""From this part of the reads on, the genotype has no reference allele."""

_COMMON = (
    '##INFO=<ID=DP,Number=1,Type=Integer,Description="Raw Depth">',
    '##INFO=<ID=AF,Number=1,Type=Float,Description="Allele Frequency">',
    '##INFO=<ID=SB,Number=1,Type=Integer,Description="Phred-scaled strand bias at this position">',
    '##INFO=<ID=DP4,Number=4,Type=Integer,Description="Counts for ref-forward bases, ref-reverse, '
    'alt-forward and alt-reverse bases">',
)

_INDEL_COMMON = (
    '##INFO=<ID=INDEL,Number=0,Type=Flag,Description="Indicates that the variant is an INDEL.">',
    '##INFO=<ID=HRUN,Number=1,Type=Integer,Description="Homopolymer length to the right of report indel '
    'position">',
)

_INDEL_OWN = (
    '##INFO=<ID=INDEL,Number=0,Type=Flag,Description="An insertion or a deletion: DP is without reads that '
    'end at POS, DP4 counts reads without and with it, and AF is its part of DP">',
    '##INFO=<ID=HRUN,Number=1,Type=Integer,Description="Length of the homopolymer after POS">',
)

_OWN = (
    '##INFO=<ID=DP,Number=1,Type=Integer,Description="Reads, deletions included">',
    '##INFO=<ID=AF,Number=A,Type=Float,Description="Allele frequency: part of bases of quality 3 and more">',
    '##INFO=<ID=AFQ,Number=A,Type=Float,Description="Allele frequency among the bases that the test uses">',
    "##INFO=<ID=FS,Number=1,Type=Float,Description=\"Phred-scaled p-value of Fisher's exact test of strand "
    'bias; 0 where all bases have one strand">',
    '##INFO=<ID=DP4,Number=4,Type=Integer,Description="Bases of quality 3 and more: reference forward and '
    'reverse, alternative forward and reverse">',
)

_FORMATS = (
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype of the two most frequent ones of the '
    f"reference and the called alleles: 1/1 from an allele frequency of {HOMOZYGOUS}, 0/1 or 1/0 if called "
    'below, ./0 if called, but two others are more frequent, 0/0 if not called">',
    '##FORMAT=<ID=AD,Number=R,Type=Integer,Description="Bases of quality 3 and more of each allele">',
    '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="Reads, deletions included">',
    '##FORMAT=<ID=VAF,Number=A,Type=Float,Description="Allele frequency in this sample, as AF in INFO">',
)
_SAMPLE_FILTER = '##FORMAT=<ID=FT,Number=1,Type=String,Description="Filters of this sample">'
_SAMPLE_QUALITY = (
    '##FORMAT=<ID=VQ,Number=1,Type=Integer,Description="Phred-scaled p-value of the alternative in this '
    'sample">'
)
_SOMATIC = (
    '##INFO=<ID=SOMATIC,Number=0,Type=Flag,Description="Somatic: passes all filters, those by the normal '
    'sample included">',
    '##INFO=<ID=STATUS,Number=1,Type=String,Description="By the normal sample: somatic, in_normal (called '
    'there), uncertain (its reads do not rule the variant out) or known (of the VCF of germline variants)">',
    '##INFO=<ID=UQ,Number=1,Type=Integer,Description="Phred-scaled p-value of the test that the normal '
    'sample has the variant, from its reads of mapping quality 1 and more">',
)


def vcf_lines(called: Called, reference: str, options: CallOptions) -> Iterator[str]:
    """Yield the lines of the VCF, with line ends.

    Args:
        called: what was called.
        reference: name of the reference.
        options: what decided the records.
    """
    lines = _lofreq(called, reference, options) if options.compat else _own(called, reference, options)
    for line in lines:
        yield line + "\n"


def _filters(called: Called, options: CallOptions) -> Iterator[str]:
    """Yield the lines of filters; with a normal sample, those of the tumour."""
    limits = called.limits[:1] if called.is_somatic else called.limits
    yield from filter_lines(options)
    for kind in kinds_of(options):
        for quality in dict.fromkeys(one[kind].quality for one in limits):
            yield (
                f"##FILTER=<ID={kind.quality_filter}_{quality},"
                f'Description="Minimum {kind.name} Quality (Phred) {quality}">'
            )
    if called.is_somatic:
        for name, words in STATUSES.items():
            if name != "somatic":
                yield f'##FILTER=<ID={name},Description="{words}">'


def _lofreq(called: Called, reference: str, options: CallOptions) -> Iterator[str]:
    """Yield the lines as LoFreq writes them."""
    yield "##fileformat=VCFv4.0"
    yield f"##source=syclade {syclade.__version__} call {call_flag('compat')}"
    yield f"##reference={reference}"
    yield from _COMMON
    if options.call_indels:
        yield from _INDEL_COMMON
    yield from _filters(called, options)
    yield "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    judged = options.bonf is None or not options.no_default_filter  # else LoFreq's filter does not run
    for variant in called.variants:
        (call,) = variant.calls
        allele = call.allele
        with np.errstate(divide="ignore"):  # LoFreq writes inf where all reads end
            frequency = np.float32(allele.unfiltered) / np.float32(allele.depth)
        info = f"DP={allele.depth};AF={frequency:f};SB={call.strand_bias};DP4={_joined(allele.dp4)}"
        info += _flags(allele)
        state = _passed(call.filters) if judged else "."
        yield "\t".join((*_place(variant), str(call.quality), state, info))


def _own(called: Called, reference: str, options: CallOptions) -> Iterator[str]:
    """Yield the lines with contigs and samples."""
    several, somatic = len(called.samples) > 1, called.is_somatic
    yield "##fileformat=VCFv4.2"
    yield f"##source=syclade {syclade.__version__} call"
    yield f"##reference={reference}"
    for name, length in called.samples[0].contigs.items():
        yield f"##contig=<ID={name},length={length}>"
    if somatic:
        tumour, normal = called.samples
        yield f"##tumor_sample={tumour.name}"
        yield f"##normal_sample={normal.name}"
    yield from _OWN
    if options.call_indels:
        yield from _INDEL_OWN
    if somatic:
        yield from _SOMATIC
    yield '##FILTER=<ID=PASS,Description="All filters passed">'
    yield from _filters(called, options)
    yield from _FORMATS
    if several and not somatic:
        yield _SAMPLE_FILTER
    if several:
        yield _SAMPLE_QUALITY
    head = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"
    yield "\t".join((head, *(sample.name for sample in called.samples)))
    significant = [called.significant(variant) for variant in called.variants]
    genotypes = _genotypes(called.variants, significant)
    for variant, parts in zip(called.variants, genotypes, strict=True):
        yield _record(called, variant, parts)


def _genotypes(variants: Sequence[Variant], significant: Sequence[Sequence[bool]]) -> list[list[str]]:
    """Return the genotype of each sample in each record.

    Records of one position and kind are parts of one genotype, so that `bcftools norm -m+` can join them.
    """
    found = [[""] * len(calls) for calls in significant]
    groups: dict[tuple[str, int, str], list[int]] = {}
    for at, variant in enumerate(variants):
        allele = variant.calls[0].allele
        groups.setdefault((variant.contig, allele.position, allele.kind.name), []).append(at)
    for records in groups.values():
        for sample in range(len(significant[records[0]])):
            alleles = [variants[at].calls[sample].allele for at in records]
            parts = _genotype(alleles, [significant[at][sample] for at in records])
            for at, part in zip(records, parts, strict=True):
                found[at][sample] = part
    return found


def _genotype(alleles: Sequence[Allele], significant: Sequence[bool]) -> list[str]:
    """Return the parts of a genotype: of the two most frequent ones of the reference and the called alleles.

    A record has 1 for its own allele and 0 for others, as `bcftools norm -m-` writes them. One whose allele
    is called, but is not in the genotype, has a missing value and 0.
    """
    first, counted = alleles[0], alleles[0].counted
    if not counted:
        return ["./."] * len(alleles)
    parts = ["./0" if found else "0/0" for found in significant]
    count = [sum(allele.dp4[2:]) for allele in alleles]
    called = sorted((at for at, found in enumerate(significant) if found), key=lambda at: (-count[at], at))
    if called and count[called[0]] >= HOMOZYGOUS * counted:
        parts[called[0]] = "1/1"
    elif len(called) > 1 and count[called[1]] > sum(first.dp4[:2]):
        one, other = sorted(called[:2])
        parts[one], parts[other] = "1/0", "0/1"
    elif called:
        parts[called[0]] = "0/1"
    return parts


def _record(called: Called, variant: Variant, genotypes: Sequence[str]) -> str:
    several, status = len(variant.calls) > 1, variant.status
    names = ["GT", "AD", "DP", "VAF", *(["FT"] if several and status is None else []), *["VQ"] * several]
    values = [_sample(*one) for one in zip(variant.calls, genotypes, strict=True)]
    samples = [":".join(one[name] for name in names) for one in values]
    filters = called.filters_of(variant)
    info = _info(variant.calls if status is None else variant.calls[:1])
    info += "" if status is None else _status(status, not filters)
    quality = str(called.quality_of(variant))
    return "\t".join((*_place(variant), quality, _passed(filters), info, ":".join(names), *samples))


def _status(status: Status, passed: bool) -> str:
    """Return what INFO has of a normal sample, after a semicolon."""
    unique = "" if status.unique is None else f";UQ={status.unique}"
    return f"{';SOMATIC' if passed else ''};STATUS={status.name}{unique}"


def _info(calls: Sequence[Call]) -> str:
    alleles = [call.allele for call in calls]
    dp4 = [sum(numbers) for numbers in zip(*(allele.dp4 for allele in alleles), strict=True)]
    bias = calls[0].strand_bias if len(calls) == 1 else pooled_bias(*dp4)
    counted = sum(allele.counted for allele in alleles)
    trials, count = (
        sum(numbers) for numbers in zip(*((one.trials, one.count) for one in alleles), strict=True)
    )
    return (
        f"DP={sum(allele.depth for allele in alleles)};AF={_part(dp4[2] + dp4[3], counted)};"
        f"AFQ={_part(count, trials)};FS={bias};DP4={_joined(dp4)}{_flags(alleles[0])}"
    )


def _flags(allele: Allele) -> str:
    """Return what INFO has besides, after a semicolon; empty for a base."""
    return f";{allele.kind.flag};HRUN={allele.homopolymer}" if allele.kind is INDEL else ""


def _sample(call: Call, genotype: str) -> dict[str, str]:
    """Return the values of a sample by the names of FORMAT."""
    allele = call.allele
    forward, reverse, other_forward, other_reverse = allele.dp4
    counted, alternative = allele.counted, other_forward + other_reverse
    return {
        "GT": genotype,
        "AD": f"{forward + reverse},{alternative}",
        "DP": str(allele.depth),
        "VAF": _part(alternative, counted),
        "FT": _passed(call.filters),
        "VQ": str(call.quality),
    }


def _place(variant: Variant) -> tuple[str, str, str, str, str]:
    allele = variant.calls[0].allele
    name = "." if variant.site is None else variant.site.name
    return variant.contig, str(allele.position + 1), name, allele.reference, allele.alternative


def _passed(filters: Sequence[str]) -> str:
    return ";".join(filters) or "PASS"


def _part(count: int, total: int) -> str:
    return f"{count / total:.6f}" if total else "."


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
