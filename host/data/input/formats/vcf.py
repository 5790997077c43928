"""VCF and BCF of single-cell callers: one record per site, one sample per cell.

Text is read here, BCF by htslib (cyvcf2); both give the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import Grid, ReadOptions, refuse_two
from syclade.host.data.input.formats.hdf import require
from syclade.host.data.input.formats.likelihoods import (
    CallerLikelihoods,
    GivenNumbers,
    genotype_likelihoods,
)
from syclade.host.data.input.formats.reads import Numbers, wants_share
from syclade.host.data.input.formats.records import (
    Records,
    Row,
    Site,
    are_unspecified,
    check_caller,
    check_numbers,
    likelihood_fields,
    no_samples,
    reads_of_alleles,
)
from syclade.host.data.input.source import lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.values import counted, excerpt

if TYPE_CHECKING:
    from cyvcf2 import Variant

__all__ = ["read_bcf", "read_vcf"]


_FIXED = 9  # columns before the samples, FORMAT included
_END, _END_OF_REALS = -(2**31) + 1, 0x7F800002
"""Bits after the last number of a cell, as integers, in BCF."""

_NUMBER = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE]-?[0-9]{1,2})?")
_SIGNED = re.compile(rf"-?(?:{_NUMBER.pattern}|inf)")
_GENOTYPE = re.compile(r"(?:[0-9]{1,4}|\.)(?:[/|](?:[0-9]{1,4}|\.))*")


def read_vcf(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read VCF 4 (hts-specs): one row per alternate allele, named CHROM:POS:REF/ALT; samples are cells.

    The value is 0 for no copy of the allele, 1 for some, 2 for all (also one of one), and 3 for a genotype
    that is not known. Records without a specified alternate allele are skipped, and those without GT, unless
    they have the evidence that is requested (AD, RO and AO, or AU to TU; PL, GL or GP); with the option
    ``filter``, also those that did not pass. Calls that do not pass ``min_depth`` (DP, or the sum of AD),
    ``min_gq`` (GQ) or the limits of alternate reads (AD, AF or VAF) are missing, or 0 below ``min_vaf``.

    Raises:
        MatrixError: an error in the file, with the line; a file without samples; a file from SCIPhI, which
            also calls genotypes without reads, and ``min_depth`` is not given.
    """
    refuse_two(options, "mutations", path)
    lines = lines_of(data, path)
    head = next((number for number, line in enumerate(lines) if re.match(r"#CHROM\s", line)), None)
    if head is None:
        raise MatrixError("the file has no line #CHROM", path=path, hint="is it a whole VCF?")
    cells = _samples(lines[head], path, head + 1)
    options = check_caller(lines[:head], options, path)
    likely = likelihood_fields(lines[:head]) if options.evidence == "likelihoods" else {}
    records = Records(options, path)
    for number, line in enumerate(lines[head + 1 :], head + 2):
        fields = line.split("\t")
        if len(fields) != _FIXED + len(cells):
            raise MatrixError(
                f"the record has {len(fields)} columns, but the header {_FIXED + len(cells)}",
                path=path,
                line=number,
            )
        keys = [key.strip() for key in fields[8].split(":")]
        chrom, position, identifier, ref, listed, _, filters = (field.strip() for field in fields[:7])
        alleles = [allele.strip() for allele in listed.split(",")]
        if records.uses(keys, alleles):
            samples = _samples_of(keys, fields[_FIXED:])
            reads_in = partial(reads_of_alleles, fields=keys, ref=ref, alleles=alleles)
            numbers = _numbers(keys, samples, options, reads_in, path, number)
            calls = _calls(samples, len(alleles), path, number) if "GT" in keys else None
            if calls is not None and "AD" in keys and options.evidence == "calls":
                records.count_reads(_reads_of_mixed(samples, calls))
            name = next((name for name in likely if name in keys), None)
            if name is not None:
                given = GivenNumbers(_table(samples, name, path, number), _counts(samples, name))
                none = are_unspecified(alleles)
                found = genotype_likelihoods(likely[name], given, none, path, number, "the record")
                numbers = replace(numbers, likelihoods=found)
                records.likelihoods.add(likely[name], found, _pairs(calls, len(cells)))
            check_numbers(numbers, options, "the record", len(alleles), path, number)
            site = Site(chrom, position, identifier, ref)
            records.add(site, alleles, filters, partial(_row, calls, numbers, options), keys, number)
    return records.grid(cells)


class _SamplesOfRecord(NamedTuple):
    """Samples of a record; many cells have the same text.

    Attributes:
        distinct: fields of the different samples, by their keys.
        first: number of the first cell, from 1, of each of them.
        of_cell: int64, shape (cells,): which of them each cell has.
    """

    distinct: Sequence[Mapping[str, str]]
    first: Sequence[int]
    of_cell: NDArray[np.int64]


def _samples_of(keys: Sequence[str], texts: Sequence[str]) -> _SamplesOfRecord:
    """Return the samples of a record, whose fields have these keys."""
    first: dict[str, int] = {}
    for cell, text in enumerate(texts, 1):
        first.setdefault(text, cell)
    number = {text: at for at, text in enumerate(first)}
    of_cell = np.fromiter(map(number.__getitem__, texts), dtype=np.int64, count=len(texts))
    distinct = [dict(zip(keys, text.split(":"), strict=False)) for text in first]
    return _SamplesOfRecord(distinct, list(first.values()), of_cell)


def _reads_of_mixed(samples: _SamplesOfRecord, calls: Sequence[tuple[str, ...]]) -> Iterator[list[int]]:
    """Yield the numbers of AD, as far as they are known, of the cells whose call has several alleles."""
    mixed = {call for call in set(calls) if len(set(call)) > 1 and "." not in call}
    for sample, call in zip(samples.of_cell.tolist(), calls, strict=True):
        if call in mixed:
            reads = samples.distinct[sample].get("AD", "").strip().split(",")
            if len(reads) > 1 and all(map(str.isdecimal, reads)):
                yield list(map(int, reads))


def _pairs(calls: Sequence[tuple[str, ...]] | None, count: int) -> NDArray[np.int64]:
    """Return the two alleles of each cell, or -1 for genotypes that are not known, or not of two alleles."""
    none = (-1, -1)
    if calls is None:
        return np.array([none] * count)
    pairs = {
        call: (int(call[0]), int(call[1])) if len(call) == 2 and "." not in call else none
        for call in set(calls)
    }
    return np.array([pairs[call] for call in calls])


def _samples(header: str, path: str, line: int) -> list[str]:
    """Return the names of the cells, from the line #CHROM.

    Raises:
        MatrixError: there are none, or there are blanks in place of tabs.
    """
    if "\t" not in header:
        raise MatrixError("the columns are separated by blanks, not by tabs", path=path, line=line)
    cells = [name.strip() for name in header.split("\t")[_FIXED:]]
    if not cells:
        raise no_samples(path, line)
    return cells


def _calls(samples: _SamplesOfRecord, alternates: int, path: str, line: int) -> list[tuple[str, ...]]:
    """Return the alleles of each cell in a record of so many alternate alleles.

    Raises:
        MatrixError: a text is not a genotype, or has an allele that the record has not.
    """
    found: dict[str, tuple[str, ...]] = {}  # a record has few genotypes
    calls = []
    for values, number in zip(samples.distinct, samples.first, strict=True):
        genotype = values["GT"].strip() if "GT" in values else "."
        if genotype not in found:
            if not _GENOTYPE.fullmatch(genotype):
                message = f"{excerpt(genotype)} (cell {number}) is not a genotype"
                raise MatrixError(message, path=path, line=line)
            found[genotype] = tuple(re.split("[/|]", genotype))
            largest = max((int(copy) for copy in found[genotype] if copy != "."), default=0)
            if largest > alternates:
                raise _no_such_allele(f"{excerpt(genotype)} (cell {number})", largest, alternates, path, line)
        calls.append(found[genotype])
    return [calls[at] for at in samples.of_cell.tolist()]


def _no_such_allele(
    cell: str, allele: int, alternates: int, path: str, line: int | None = None
) -> MatrixError:
    """Return the error of a genotype with an allele that its record has not: no program writes this.

    Programs that split records, such as ``bcftools norm -m-``, write 0 or . for alleles of other records.
    """
    return MatrixError(
        f"{cell} has allele {allele}, but ALT has {counted(alternates, 'allele', 'alleles')}",
        path=path,
        line=line,
        hint="ALT or GT was changed alone: make the file again (bcftools norm -m- splits records)",
    )


def _numbers(
    keys: Sequence[str],
    samples: _SamplesOfRecord,
    options: ReadOptions,
    reads_in: Callable[[Callable[[str], NDArray[np.float64] | None]], NDArray[np.float64] | None],
    path: str,
    line: int,
) -> Numbers:
    """Return those numbers of the cells in a record that the options need, likelihoods apart.

    `reads_in` is `reads_of_alleles` of the record.

    Raises:
        MatrixError: a field is not a number.
    """

    def table(wanted: bool, *names: str) -> NDArray[np.float64] | None:
        name = next((name for name in names if name in keys), None) if wanted else None
        return None if name is None else _table(samples, name, path, line)

    share = wants_share(options)
    depth, quality = table(True, "DP"), table(options.min_gq is not None, "GQ")
    return Numbers(
        None if depth is None else depth[:, 0],
        None if quality is None else quality[:, 0],
        reads_in(partial(table, share or bool(options.min_depth) or options.evidence == "reads")),
        table(share, "AF", "VAF"),
    )


def _table(samples: _SamplesOfRecord, name: str, path: str, line: int) -> NDArray[np.float64]:
    """Return the numbers of a field: shape (cells, most numbers of a cell), NaN for those not given."""
    texts = [sample.get(name, ".").strip() for sample in samples.distinct]  # trailing ones may be omitted
    pattern = _SIGNED if name == "GL" else _NUMBER
    found: dict[str, list[float]] = {}  # many cells have the same numbers
    for cell, text in zip(samples.first, texts, strict=True):
        if text in found:
            continue
        row = text.split(",")
        for one in row:
            if one not in (".", "") and not pattern.fullmatch(one):
                raise MatrixError(f"{excerpt(one)} (cell {cell}) is no value of {name}", path=path, line=line)
        found[text] = [np.nan if one in (".", "") else float(one) for one in row]
    width = max(map(len, found.values()))
    padded = {text: row + [np.nan] * (width - len(row)) for text, row in found.items()}
    return np.array([padded[text] for text in texts])[samples.of_cell]


def _counts(samples: _SamplesOfRecord, name: str) -> NDArray[np.int64]:
    """Return how many numbers of a field each cell has, known or not."""
    counts = [sample.get(name, ".").count(",") + 1 for sample in samples.distinct]
    return np.array(counts, dtype=np.int64)[samples.of_cell]


def _row(calls: Sequence[tuple[str, ...]] | None, numbers: Numbers, options: ReadOptions, which: int) -> Row:
    """Return the row of an alternate allele, from 1; without genotypes, calls are made from the evidence."""
    if calls is None:
        values = numbers.calls(which, options)
    else:
        found = {call: _value(call, str(which)) for call in set(calls)}
        values = np.array([found[call] for call in calls], np.uint8)
    return Row(numbers.filtered(values, which, options), numbers.evidence(which, options))


def _value(call: Sequence[str], allele: str) -> int:
    """Return the value of a cell for an allele: 0, 1, 2 or 3."""
    if all(copy == "." for copy in call):
        return 3
    copies = sum(copy == allele for copy in call)
    return 0 if copies == 0 else 2 if copies == len(call) else 1


def read_bcf(path: Path, options: ReadOptions) -> Grid:
    """Read one row per alternate allele, named CHROM:POS:REF/ALT, with values as in `read_vcf`.

    Raises:
        MatrixError: htslib cannot read the file, or no record has genotypes of an alternate allele; a file
            from SCIPhI, and ``min_depth`` is not given.
    """
    refuse_two(options, "mutations", str(path))
    require("cyvcf2")
    import cyvcf2

    try:
        reader = cyvcf2.VCF(str(path))
        header = str(reader.raw_header).splitlines()
        options = check_caller(header, options, str(path))
        likely = likelihood_fields(header) if options.evidence == "likelihoods" else {}
        records = Records(options, str(path))
        cells = [str(name).strip() for name in reader.samples]
        if not cells:
            raise no_samples(str(path))
        for record in reader:
            if records.uses(record.FORMAT, record.ALT):
                site = Site(record.CHROM, record.POS, record.ID or ".", record.REF)
                if {"GT", "AD"}.issubset(record.FORMAT) and options.evidence == "calls":
                    records.count_reads(_reads_of_mixed_record(record))
                row_of = _rows(record, options, likely, records.likelihoods, str(path))
                records.add(site, record.ALT, record.FILTER or "PASS", row_of, record.FORMAT)
    except MatrixError:
        raise
    except Exception as problem:  # cyvcf2 raises plain Exception
        raise MatrixError(f"htslib cannot read it: {problem}", path=str(path)) from None
    return records.grid(cells)


def _reads_of_mixed_record(record: Variant) -> Iterator[list[int]]:
    """Yield the numbers of AD of the cells whose call has several alleles."""
    reads = record.format("AD")
    if reads is None or reads.dtype.kind != "i" or reads.shape[1] < 2:
        return
    alleles = record.genotype.array()[:, :-1]
    mixed = (alleles >= 0).all(axis=1) & (alleles != alleles[:, :1]).any(axis=1)
    yield from reads[mixed & (reads >= 0).all(axis=1)].tolist()


def _rows(
    record: Variant,
    options: ReadOptions,
    likely: Mapping[str, str],
    likelihoods: CallerLikelihoods,
    path: str,
) -> Callable[[int], Row]:
    """Return a function that returns the row of an alternate allele, from 1.

    Args:
        record, options, path: the record, the options, and the file for messages.
        likely: as `likelihood_fields` returns it; empty if likelihoods are not needed.
        likelihoods: those of the file, to which these are added.
    """
    name, where = (
        next((name for name in likely if name in record.FORMAT), None),
        f"{record.CHROM}:{record.POS}",
    )
    has_calls, alternates = "GT" in record.FORMAT, len(record.ALT)
    alleles = record.genotype.array()[:, :-1] if has_calls else None  # -1 is missing, -2 pads fewer copies
    numbers = _numbers_of(record, options)
    if name is not None:
        given = _given_numbers(record.format(name), signed=name == "GL")
        none_such = are_unspecified(record.ALT)
        found = genotype_likelihoods(likely[name], given, none_such, path, None, f"the record {where}")
        numbers = replace(numbers, likelihoods=found)
        none = np.full((len(given.table), 2), -1)
        pairs = none if alleles is None or alleles.shape[1] != 2 else alleles.astype(np.int64)
        likelihoods.add(likely[name], found, pairs)
    check_numbers(numbers, options, f"the record {where}", alternates, path)
    if alleles is None:
        return lambda number: Row(numbers.calls(number, options), numbers.evidence(number, options))
    if alleles.max(initial=0) > alternates:
        cell, copy = np.argwhere(alleles > alternates)[0].tolist()
        of_cell = f"the genotype of cell {cell + 1} in the record {where}"
        raise _no_such_allele(of_cell, int(alleles[cell, copy]), alternates, path)
    known, copies = (alleles >= 0).sum(axis=1), (alleles != -2).sum(axis=1)

    def row_of(number: int) -> Row:
        seen = (alleles == number).sum(axis=1)
        row = np.where(seen == 0, 0, np.where(seen == copies, 2, 1))
        values = np.where(known == 0, 3, row).astype(np.uint8)
        return Row(numbers.filtered(values, number, options), numbers.evidence(number, options))

    return row_of


def _given_numbers(found: NDArray[Any], *, signed: bool) -> GivenNumbers:
    """Return the numbers of a field by htslib, which has values for missing ones, and after the last one."""
    ends = found.view(np.int32) == (_END if found.dtype.kind == "i" else _END_OF_REALS)
    table = found.astype(np.float64)
    if not signed:
        table[table < 0] = np.nan
    table[ends] = np.nan
    return GivenNumbers(table, (~ends).sum(axis=1))


def _numbers_of(record: Variant, options: ReadOptions) -> Numbers:
    """Return those numbers of the cells in a record that the options need, likelihoods apart."""

    def table(wanted: bool, *names: str) -> NDArray[np.float64] | None:
        name = next((name for name in names if name in record.FORMAT), None) if wanted else None
        found = None if name is None else record.format(name)
        if found is None or found.dtype.kind not in "iuf":
            return None
        return np.where(found < 0, np.nan, found.astype(np.float64))  # htslib has negative numbers for "."

    share, reads = wants_share(options), options.evidence == "reads"
    depth = table(bool(options.min_depth) or share or reads, "DP")
    quality = table(options.min_gq is not None, "GQ")
    return Numbers(
        None if depth is None else depth[:, 0],
        None if quality is None else quality[:, 0],
        reads_of_alleles(
            partial(table, share or reads or bool(options.min_depth)), record.FORMAT, record.REF, record.ALT
        ),
        table(share, "AF", "VAF"),
    )
