"""Filters of a VCF of `syclade call` or LoFreq: the command `syclade filter`, and `syclade.filter_calls`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.calls.alleles import Measured, bias_filter, biased, filter_lines, limit_filters
from syclade.host.calls.regions import VCF_FIELDS, fields_of, vcf_lines_of
from syclade.host.calls.vcf import check_vcf, write_vcf
from syclade.host.ground.errors import OptionError, ReadsError
from syclade.host.ground.options.calls import FILTERS, CallOptions, call_flag
from syclade.host.ground.options.types import AnyPath

__all__ = ["FilteredCalls", "filter_calls", "filter_vcf"]

_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True)
class FilteredCalls:
    """Result of `syclade.filter_calls`: a filtered VCF.

    Attributes:
        vcf: its text.
        records: number of records that were read.
        passed: number of those that pass.
        rejected: number of those that do not pass a filter, by its name.
        before: number of those that only a filter of the given VCF rejects.
        longest: length of the longest contig, or largest position if the header has no lengths.
        source: the given VCF.
    """

    vcf: str = field(repr=False)
    records: int
    passed: int
    rejected: dict[str, int]
    before: int
    longest: int
    source: Path

    def write(self, path: AnyPath, *, force: bool = False) -> list[Path]:
        """Write the VCF, compressed and with an index if the name ends in .vcf.gz; return the files.

        Args:
            path: the VCF.
            force: whether existing files may be replaced.

        Raises:
            OutputError: the files cannot be written, are the given VCF, or exist already.
        """
        inputs = {"the VCF": self.source}
        check_vcf(Path(path), self.longest, force, inputs)
        return write_vcf(Path(path), self.vcf, self.longest, force=force, protected=inputs)


def filter_calls(vcf: AnyPath, **given: Any) -> FilteredCalls:
    """Filter the records of a VCF of `syclade call` or `lofreq call`, as `syclade filter` does.

    Args:
        vcf: the VCF, plain or compressed.
        given: options of the command by name, such as `min_af=0.05`, `max_dp=290` or `drop_filtered=True`.

    Raises:
        OptionError: an option is unknown, or has a wrong value.
        ReadsError: the file is no VCF, or a record lacks a value that a filter needs.
    """
    known = (*FILTERS, "no_default_filter", "drop_filtered")
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise OptionError(f"there is no option {unknown[0]!r}", hint="options are those of syclade filter")
    return filter_vcf(Path(vcf), CallOptions(**given))


class _Record(NamedTuple):
    """A line of a VCF: its fields, its values in INFO, and its number."""

    fields: list[str]
    info: dict[str, str]
    line: int

    @property
    def is_indel(self) -> bool:
        """Return whether it is an insertion or a deletion."""
        return "INDEL" in self.info or len(self.fields[3]) != len(self.fields[4])


def filter_vcf(path: Path, options: CallOptions) -> FilteredCalls:
    """Filter the records of a VCF by the values of INFO: DP, AF, DP4, HRUN, and SB or FS.

    Names of filters that a record does not pass are added to its FILTER. The false discovery rate of strand
    bias is that of the records that passed before.

    Args:
        path: the VCF, plain or compressed.
        options: which filters, and whether records that do not pass are left out.

    Raises:
        ReadsError: the file is no VCF, or a record lacks a value that a filter needs.
    """
    head: list[str] = []
    records: list[_Record] = []
    for number, line in vcf_lines_of(path):
        if line.startswith("#"):
            head.append(line)
        else:
            records.append(_parsed(line, path, number))
    if not head or not head[-1].startswith("#CHROM"):
        raise ReadsError("the file has no line #CHROM", path=path, hint="is it a whole VCF?")
    limits = limit_filters(options)
    names = [
        [limit.name for limit in limits if limit.rejects(_measured(one, limit.value, path))]
        for one in records
    ]
    name = bias_filter(options)
    if name:
        chosen = [
            at
            for at, one in enumerate(records)
            if one.fields[6] in ("PASS", ".") and (options.sb_incl_indels or not one.is_indel)
        ]
        strands = [_strands(records[at], path)[2:] for at in chosen]
        biases = [_bias(records[at], path) for at in chosen]
        for at, found in zip(chosen, biased(biases, strands, options), strict=True):
            names[at] += [name] * found
    lines, passed, rejected_before = [], 0, 0
    for one, more in zip(records, names, strict=True):
        before = [] if one.fields[6] in ("PASS", ".") else one.fields[6].split(";")
        state = list(dict.fromkeys((*before, *more)))
        passed += not state
        rejected_before += bool(state and not more)
        if not state or not options.drop_filtered:
            lines.append("\t".join((*one.fields[:6], ";".join(state) or "PASS", *one.fields[7:])))
    new = [line for line in filter_lines(options) if line not in head]
    text = "".join(f"{line}\n" for line in (*head[:-1], *new, *head[-1:], *lines))
    rejected = Counter(one for more in names for one in more)
    return FilteredCalls(
        text, len(records), passed, dict(rejected), rejected_before, _longest(head, records), path
    )


def _parsed(line: str, path: Path, number: int) -> _Record:
    """Return a parsed record; refuse text that is no record, and records with several alternatives."""
    fields = fields_of(line, len(VCF_FIELDS), path, number)
    if "," in fields[4]:
        raise ReadsError(
            "the record has several alternatives",
            path=path,
            line=number,
            hint="split it: bcftools norm -m-",
        )
    pairs = (one.partition("=") for one in fields[7].split(";"))
    return _Record(fields, {name: value for name, _, value in pairs}, number)


def _number(record: _Record, names: tuple[str, ...], flag: str, path: Path) -> float:
    """Return the first of some values of INFO that a record has."""
    name = next((name for name in names if name in record.info), None)
    if name is None:
        raise ReadsError(
            f"INFO has no {' or '.join(names)}, which {flag} needs",
            path=path,
            line=record.line,
            hint="leave that filter out, or give a VCF of syclade call or lofreq call",
        )
    text = record.info[name]
    if not _NUMBER.fullmatch(text):
        raise ReadsError(f"{name} is {text!r}, not a number", path=path, line=record.line)
    return float(text)


def _measured(record: _Record, value: str, path: Path) -> Measured:
    """Return the one value of a record that a filter compares; others are 0."""
    if value == "DP":
        flag = f"{call_flag('min_dp')} (10 unless {call_flag('no_default_filter')} is given)"
        return Measured(int(_number(record, ("DP",), flag, path)), 0.0, 0, 0)
    if value == "AF":
        unknown = record.info.get("AF") == "."  # no base was counted
        found = 0.0 if unknown else _number(record, ("AF",), call_flag("min_af"), path)
        return Measured(0, found, 0, 0)
    if value == "DP4":
        return Measured(0, 0.0, sum(_strands(record, path)[2:]), 0)
    run = _number(record, ("HRUN",), call_flag("max_hrun"), path) if record.is_indel else 0.0
    return Measured(0, 0.0, 0, int(run))


def _strands(record: _Record, path: Path) -> tuple[int, int, int, int]:
    """Return DP4."""
    text = record.info.get("DP4", "")
    counts = text.split(",")
    if len(counts) != 4 or not all(map(str.isdecimal, counts)):
        raise ReadsError(
            f"DP4 is {text!r}, not four counts" if text else "INFO has no DP4, the counts on both strands",
            path=path,
            line=record.line,
            hint=f"{call_flag('no_default_filter')} leaves the filter by strand bias out",
        )
    first, second, third, fourth = map(int, counts)
    return first, second, third, fourth


def _bias(record: _Record, path: Path) -> float:
    flag = f"the filter by strand bias (unless {call_flag('no_default_filter')} is given)"
    return _number(record, ("FS", "SB"), flag, path)


def _longest(head: Sequence[str], records: Sequence[_Record]) -> int:
    """Return the length of the longest contig, by the header or by the records."""
    parts = (line.partition("length=")[2] for line in head if line.startswith("##contig="))
    lengths = [int(part.rstrip(">").split(",")[0]) for part in parts if part[:1].isdecimal()]
    return max((*lengths, *(int(one.fields[1]) for one in records)), default=0)
