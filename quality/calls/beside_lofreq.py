"""Records of --compat beside those of a LoFreq 2.1.5 binary, over each of its options."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syclade.host.calls.library import pysam_of
from syclade.host.calls.options import CallOptions
from syclade.host.calls.place import Place
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Interval, intersected, merged, parse_region, read_bed, whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.calls.vcf import vcf_lines
from syclade.host.options.calls import CALL_OPTIONS, call_flag

__all__ = ["SETTINGS", "Difference", "Setting", "compare", "records_of", "run_lofreq"]

Record = tuple[str, ...]
"""The eight columns of a record, CHROM to INFO."""


@dataclass(frozen=True)
class Setting:
    """Options to compare.

    Attributes:
        option: LoFreq's name of the option, as in the table of the documentation.
        given: options of both programs, by name.
        region: a region of both; None without.
        bed: regions of both, as lines of BED; empty without.
        reads: which reads LoFreq gets: `reads`, those of `indelqual`, or those of `alnqual`.
        own: which reads syclade gets; the same if empty.
    """

    option: str
    given: tuple[tuple[str, Any], ...] = ()
    region: str | None = None
    bed: tuple[str, ...] = ()
    reads: str = "reads"
    own: str = ""

    @property
    def options(self) -> CallOptions:
        """The options of syclade."""
        return CallOptions(**{**dict(self.given), "compat": True, "drop_filtered": True})

    @property
    def label(self) -> str:
        """The options as users type them."""
        words = [_flag(name) + ("" if value is True else f" {value}") for name, value in self.given]
        words += [f"-r {self.region}"] if self.region else []
        words += ["-l BED"] if self.bed else []
        return " ".join(words)


@dataclass(frozen=True)
class Difference:
    """How the records of two programs differ.

    Attributes:
        lofreq: number of LoFreq's records.
        missing: its records at places where syclade has none.
        extra: records of syclade alone.
        changed: pairs of records of one allele that differ, LoFreq's first.
        failed: why LoFreq ended without records; empty if it did not.
    """

    lofreq: int
    missing: tuple[Record, ...]
    extra: tuple[Record, ...]
    changed: tuple[tuple[Record, Record], ...]
    failed: str = ""

    @property
    def number(self) -> int:
        """Number of records that differ."""
        return len(self.missing) + len(self.extra) + len(self.changed)


def _one(name: str, value: Any, *more: tuple[str, Any], reads: str = "reads", own: str = "") -> Setting:
    return Setting(name, ((name, value), *more), reads=reads, own=own)


_INDELS = ("call_indels", True)
_OPEN = ("no_default_filter", True)

SETTINGS = (
    Setting("default"),
    Setting("region", region="first:101-500"),
    Setting("region", region="second"),
    Setting("bed", bed=("first\t50\t300", "first\t320\t321", "second\t0\t200")),
    _one("min_bq", 20, ("min_alt_bq", 20)),
    _one("min_bq", 3, ("min_alt_bq", 30)),
    _one("min_alt_bq", 25),
    _one("def_alt_bq", 20),
    _one("def_alt_bq", -1),
    _one("def_alt_bq", -1, ("no_baq", True), ("no_mq", True), _OPEN),
    _one("min_jq", 12),
    _one("min_jq", 20, ("no_baq", True), ("no_mq", True)),
    _one("min_alt_jq", 15),
    _one("min_alt_jq", 15, _OPEN),
    _one("def_alt_jq", 15),
    _one("def_alt_jq", 30, ("min_alt_jq", 10), _OPEN),
    _one("no_baq", True),
    _one("no_baq", True, _OPEN),
    _one("no_idaq", True, _INDELS, reads="indelqual"),
    _one("no_ext_baq", True),
    _one("no_ext_baq", True, _INDELS, _OPEN, reads="indelqual"),
    _one("del_baq", True, reads="alnqual"),
    _one("del_baq", True, _INDELS, reads="alnqual"),
    _one("min_mq", 20),
    _one("max_mq", 30),
    _one("max_mq", 30, ("min_mq", 10)),
    _one("no_mq", True),
    _one("no_mq", True, _INDELS, reads="indelqual"),
    Setting("call_indels", (_INDELS,), reads="indelqual"),
    Setting("call_indels", (_INDELS,), reads="indelqual", own="reads"),
    Setting("call_indels", (_INDELS,), reads="alnqual"),
    Setting("call_indels", (_INDELS, _OPEN, ("sig", 0.5)), reads="indelqual"),
    _one("only_indels", True, _INDELS, reads="indelqual"),
    _one("sig", 0.05),
    _one("sig", 0.5, _OPEN),
    _one("bonf", 1),
    _one("bonf", 100000, _INDELS, reads="indelqual"),
    _one("bonf", 1, _OPEN),
    _one("min_cov", 60),
    _one("min_cov", 60, _INDELS, reads="indelqual"),
    _one("max_depth", 30),
    _one("max_depth", 60, _INDELS, reads="indelqual"),
    _one("max_depth", 20, _OPEN),
    Setting("max_depth", (("max_depth", 25), _OPEN), region="first:301-700"),
    _one("use_orphan", True),
    _one("use_orphan", True, ("max_mq", 30)),
    _one("no_default_filter", True),
)
"""Settings to compare: each option of `lofreq call` that changes records, alone and with others."""


def _flag(name: str) -> str:
    return f"-{CALL_OPTIONS[name].short}" if CALL_OPTIONS[name].short else call_flag(name)


def run_lofreq(program: str, setting: Setting, folder: Path) -> tuple[str, str]:
    """Return the VCF that LoFreq writes, and why it failed; one of both is empty.

    Args:
        program: the binary; `lofreq filter`, which it starts, must be it, too.
        setting: the options.
        folder: the folder of the reads.
    """
    arguments = [program, "call", "-f", str(folder / "reference.fa")]
    for name, value in setting.given:
        arguments += [_flag(name)] if value is True else [_flag(name), str(value)]
    arguments += ["-r", setting.region] if setting.region else []
    if setting.bed:
        arguments += ["-l", str(_bed(setting, folder))]
    arguments.append(str(_prepared(program, setting.reads, folder)))
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
    lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
    return (done.stdout, "") if done.returncode == 0 else ("", lines[-1])


def _bed(setting: Setting, folder: Path) -> Path:
    path = folder / "regions.bed"
    path.write_text("\n".join(setting.bed) + "\n")
    return path


def _prepared(program: str, kind: str, folder: Path) -> Path:
    """Return the reads with the tags of one of LoFreq's programs, made once, with their index."""
    path = folder / f"{kind}.bam"
    if path.exists():
        return path
    reads, reference = folder / "reads.bam", folder / "reference.fa"
    tagged = folder / "tagged.bam"
    if kind == "indelqual" and tagged.exists():  # `indelqual` takes no skips
        return tagged
    if kind == "indelqual":
        command = [program, "indelqual", "--dindel", "-f", str(reference), "-o", str(path), str(reads)]
        subprocess.run(command, check=True, capture_output=True)
    else:
        source = _prepared(program, "indelqual", folder)
        command = [program, "alnqual", "-b", str(source), str(reference)]
        path.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    pysam_of().index(str(path))
    return path


def run_own(setting: Setting, folder: Path, threads: int = 1, place: Place | None = None) -> str:
    """Return the VCF of syclade."""
    reference = Reference(folder / "reference.fa")
    name = setting.own or setting.reads
    if name == "indelqual" and (folder / "tagged.bam").exists():
        name = "tagged"
    samples = samples_of([folder / f"{name}.bam"], reference)
    contigs = samples[0].contigs
    intervals: list[Interval] = whole(contigs)
    if setting.bed:
        intervals = read_bed(_bed(setting, folder), contigs)
    intervals = merged(intervals, contigs)
    if setting.region:
        intervals = intersected(intervals, parse_region(setting.region, contigs))
    called = call_variants(reference, samples, intervals, setting.options, threads=threads, place=place)
    reference.close()
    return "".join(vcf_lines(called, "reference.fa", setting.options))


def records_of(text: str) -> list[Record]:
    """Return the records of a VCF."""
    return [tuple(line.split("\t")[:8]) for line in text.splitlines() if line and line[0] != "#"]


def compare(program: str, setting: Setting, folder: Path) -> Difference:
    """Return how the records of LoFreq and of syclade differ on the reads of a folder."""
    theirs, failed = run_lofreq(program, setting, folder)
    if failed:
        return Difference(0, (), (), (), failed)
    return difference_of(records_of(theirs), records_of(run_own(setting, folder)))


def difference_of(theirs: Sequence[Record], own: Sequence[Record]) -> Difference:
    """Return how two lists of records differ."""
    by_allele = {_allele(record): record for record in theirs}
    ours = {_allele(record): record for record in own}
    both = by_allele.keys() & ours.keys()
    return Difference(
        len(theirs),
        tuple(record for record in theirs if _allele(record) not in both),
        tuple(record for record in own if _allele(record) not in both),
        tuple(
            (by_allele[one], ours[one]) for one in by_allele if one in both and by_allele[one] != ours[one]
        ),
    )


def _allele(record: Record) -> Record:
    return (*record[:2], *record[3:5])
