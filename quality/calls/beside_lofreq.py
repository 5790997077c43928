"""Records of syclade in LoFreq's way beside those that a LoFreq 2.1.5 program writes, over its options."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Interval, intersected, merged, parse_region, read_bed, whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.calls.vcf import vcf_lines
from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import pysam_of
from syclade.quality.calls.random_reads import write_random_reads
from syclade.quality.calls.settings import SETTINGS, Setting
from syclade.quality.text_table import text_table
from syclade.quality.work import Progress

__all__ = ["BesideLoFreq", "Difference", "Record", "beside_lofreq", "compare", "difference_of"]

VERSION = "2.1.5"
MOST_SECONDS = 3600
"""Time that a run of LoFreq may take."""

SKIPS = (0, 40)
"""Longest skips (N) of the random reads, in turns."""

Record = tuple[str, ...]
"""The eight columns of a record, CHROM to INFO."""


@dataclass(frozen=True)
class Difference:
    """Differences of the records for one setting and input.

    Attributes:
        reads: the input: a seed, or a file.
        setting: the options.
        tags: which reads LoFreq got.
        lofreq: number of its records.
        missing: those at places where syclade has none.
        extra: records of syclade alone.
        changed: pairs of records of one allele that differ, LoFreq's first.
    """

    reads: str
    setting: str
    tags: str
    lofreq: int
    missing: tuple[Record, ...]
    extra: tuple[Record, ...]
    changed: tuple[tuple[Record, Record], ...]

    @property
    def number(self) -> int:
        """Number of records that differ."""
        return len(self.missing) + len(self.extra) + len(self.changed)


@dataclass(frozen=True)
class BesideLoFreq:
    """Outcome of the comparison.

    Attributes:
        lofreq: what the program says of its version.
        differences: those of each setting and input.
    """

    lofreq: str
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Return whether there are records, and all are equal."""
        return any(one.lofreq for one in self.differences) and not any(one.number for one in self.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "check": "calls",
            "holds": self.holds,
            "lofreq": self.lofreq,
            "settings": [asdict(one) for one in self.differences],
        }

    def markdown(self) -> str:
        """Return the number of equal and other records for each setting, as a table."""
        rows = []
        for setting, tags in dict.fromkeys((one.setting, one.tags) for one in self.differences):
            here = [one for one in self.differences if (one.setting, one.tags) == (setting, tags)]
            lofreq, missing, changed, extra = (
                sum(counts)
                for counts in zip(
                    *((one.lofreq, len(one.missing), len(one.changed), len(one.extra)) for one in here),
                    strict=True,
                )
            )
            numbers = (len(here), lofreq, lofreq - missing - changed, changed, missing, extra)
            rows.append([f"`{setting}`", tags, *map(str, numbers)])
        heads = ["options", "reads", "inputs", "records of LoFreq", "equal", "changed", "missing", "extra"]
        return text_table(heads, rows)


def beside_lofreq(
    program: str,
    *,
    inputs: int = 20,
    seed: int = 1,
    given: Sequence[Path] = (),
    reference: Path | None = None,
    settings: Sequence[Setting] | None = None,
    progress: Progress | None = None,
) -> BesideLoFreq:
    """Compare the records of both programs.

    Args:
        program: a LoFreq program.
        inputs: number of random inputs.
        seed: seed of the first one.
        given: files of reads to compare instead.
        reference: their reference.
        settings: options to compare, `SETTINGS` by default; those with regions are left out for given reads.

    Raises:
        OptionError: the program cannot be run, or is another version, or fails.
    """
    version = _version_of(program)
    sources: list[Path | int] = [*given] if given else list(range(seed, seed + inputs))
    differences = []
    for at, source in enumerate(sources):
        with _folder_of(source, reference) as folder:
            usable = [one for one in settings or SETTINGS if _is_usable(one, source, folder)]
            for number, setting in enumerate(usable):
                if progress is not None:
                    progress(f"{source}: {setting.label}", at + number / len(usable), len(sources))
                differences.append(compare(program, setting, folder, str(source)))
    return BesideLoFreq(version, tuple(differences))


def _version_of(program: str) -> str:
    try:
        done = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise OptionError(f"{program} cannot be run: {problem}", hint="give a LoFreq program") from problem
    if f"version: {VERSION}" not in done.stdout:
        said = (done.stdout or done.stderr).strip().splitlines()
        raise OptionError(
            f"{program} is not LoFreq {VERSION}: it says {said[0] if said else 'nothing'}",
            hint=f"give the program of LoFreq {VERSION}",
        )
    return ", ".join(done.stdout.strip().splitlines())


@contextmanager
def _folder_of(source: Path | int, reference: Path | None) -> Iterator[Path]:
    """Yield a folder with `reference.fa` and `reads.bam`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if isinstance(source, int):
            write_random_reads(folder, source, skips=SKIPS[source % len(SKIPS)])
        else:
            if reference is None:
                raise OptionError("the reads have no reference", hint="give a reference, too")
            shutil.copyfile(source, folder / "reads.bam")
            shutil.copyfile(reference, folder / "reference.fa")
            pysam_of().index(str(folder / "reads.bam"))
            pysam_of().faidx(str(folder / "reference.fa"))
        yield folder


def _is_usable(setting: Setting, source: Path | int, folder: Path) -> bool:
    """Return whether a setting goes with an input: given reads have other contigs, and with skips, LoFreq's
    qualities of indels are not those that syclade computes."""
    if setting.region or setting.bed:
        return isinstance(source, int)
    return not (setting.own and (folder / "tagged.bam").exists())


def compare(program: str, setting: Setting, folder: Path, name: str = "reads") -> Difference:
    """Return how the records of both programs differ on the reads of a folder.

    Raises:
        OptionError: LoFreq fails.
    """
    reads = _reads_of(program, setting.reads, folder)
    theirs = _records_of(_run_lofreq(program, setting, folder, reads))
    own = _records_of(_run_own(setting, folder, folder / f"{setting.own}.bam" if setting.own else reads))
    return difference_of(theirs, own, name, setting)


def difference_of(theirs: Sequence[Record], own: Sequence[Record], name: str, setting: Setting) -> Difference:
    """Return how LoFreq's records and our own differ."""
    by_allele = {_allele(record): record for record in theirs}
    ours = {_allele(record): record for record in own}
    both = [one for one in by_allele if one in ours]
    return Difference(
        name,
        setting.label,
        setting.own or setting.reads,
        len(theirs),
        tuple(record for one, record in by_allele.items() if one not in ours),
        tuple(record for one, record in ours.items() if one not in by_allele),
        tuple((by_allele[one], ours[one]) for one in both if by_allele[one] != ours[one]),
    )


def _run_lofreq(program: str, setting: Setting, folder: Path, reads: Path) -> str:
    """Return the VCF that LoFreq writes."""
    arguments = ["call", "-f", str(folder / "reference.fa"), *setting.words]
    arguments += ["-r", setting.region] if setting.region else []
    arguments += ["-l", str(_bed(setting, folder))] if setting.bed else []
    return _output_of(program, *arguments, str(reads)).decode()


def _output_of(program: str, *arguments: str) -> bytes:
    found = Path(shutil.which(program) or program)
    path = f"{found.resolve().parent}{os.pathsep}{os.environ.get('PATH', '')}"  # it starts itself by its name
    done = subprocess.run(
        [found, *arguments],
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
        env={**os.environ, "PATH": path},
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise OptionError(
            f"LoFreq failed: {said[-1] if said else done.returncode}",
            hint=f"it ran as {' '.join((program, *arguments))}",
        )
    return done.stdout


def _bed(setting: Setting, folder: Path) -> Path:
    path = folder / "regions.bed"
    path.write_text("\n".join(setting.bed) + "\n")
    return path


def _reads_of(program: str, tags: str, folder: Path) -> Path:
    """Return the reads with LoFreq's tags, made once, with their index."""
    path, reads, reference = folder / f"{tags}.bam", folder / "reads.bam", str(folder / "reference.fa")
    if tags == "indelqual" and (folder / "tagged.bam").exists():  # LoFreq's program fails at skips
        return folder / "tagged.bam"
    if path.exists():
        return path
    if tags == "indelqual":
        _output_of(program, "indelqual", "--dindel", "-f", reference, "-o", str(path), str(reads))
    else:
        source = _reads_of(program, "indelqual", folder)
        path.write_bytes(_output_of(program, "alnqual", "-b", str(source), reference))
    pysam_of().index(str(path))
    return path


def _run_own(setting: Setting, folder: Path, reads: Path) -> str:
    """Return the VCF of syclade."""
    reference = Reference(folder / "reference.fa")
    samples = samples_of([reads], reference)
    contigs = samples[0].contigs
    intervals: list[Interval] = read_bed(_bed(setting, folder), contigs) if setting.bed else whole(contigs)
    intervals = merged(intervals, contigs)
    if setting.region:
        intervals = intersected(intervals, parse_region(setting.region, contigs))
    called = call_variants(reference, samples, intervals, setting.options)
    reference.close()
    return "".join(vcf_lines(called, "reference.fa", setting.options))


def _records_of(text: str) -> list[Record]:
    return [tuple(line.split("\t")[:8]) for line in text.splitlines() if line and line[0] != "#"]


def _allele(record: Record) -> Record:
    return (*record[:2], *record[3:5])
