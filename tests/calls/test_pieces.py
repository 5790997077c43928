"""Calling by the workers of an executor: the same records, also after workers were lost."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pysam
import pytest

from syclade.host.calls.alleles import KINDS
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Site, Sites, whole
from syclade.host.calls.run import Called, call_variants, samples_of
from syclade.host.calls.vcf import vcf_lines
from syclade.host.device.choice import choose_device
from syclade.host.device.cluster.job_pool import JobPool
from syclade.host.device.cluster.jobs import host_name
from syclade.host.device.cluster.workers import Workers
from syclade.host.ground.errors import ReadsError
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import EXAMPLE, Read, write_bam, write_reference

FASTA = EXAMPLE / "reference.fa"
BAM = EXAMPLE / "reads.bam"
LETTER = "".join(FASTA.read_text().splitlines()[1:])[17]
SITES: Sites = {"simulated": {17: tuple(Site(LETTER, one, "rs1") for one in "ACGT".replace(LETTER, ""))}}


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def called_by(
    place: Workers | None, bams: list[Path], fasta: Path = FASTA, sites: Sites | None = None
) -> tuple[Called, list[str]]:
    reference, options = Reference(fasta), CallOptions(call_indels=True)
    samples = samples_of(bams, reference)
    found = call_variants(
        reference, samples, whole(samples[0].contigs), options, sites=sites, threads=2, place=place
    )
    return found, list(vcf_lines(found, fasta.name, options))


@pytest.fixture
def long_genome(tmp_path: Path) -> tuple[Path, list[Path]]:
    """Return a reference of two contigs, and two samples with a variant every 1000 bases."""
    letters = "ACGTTGCAAC" * 2000
    fasta = write_reference(tmp_path / "long.fa", {"one": letters, "two": letters[:7000]})
    bams = []
    for number in range(2):
        reads = []
        for contig, size in (("one", 20_000), ("two", 7000)):
            for at in range(0, size - 100, 500):
                bases = list(letters[at : at + 100])
                if at % 1000 == 0:
                    bases[30] = "T" if bases[30] != "T" else "G"
                read = Read(at, "".join(bases), "100M", [30 + number] * 100)
                reads += [(contig, read)] * 30
        bams.append(tmp_path / f"sample{number}.bam")
        write_bam(bams[-1], {"one": 20_000, "two": 7000}, reads)
        named = tmp_path / f"named{number}.bam"
        pysam.addreplacerg("-r", f"ID:{number}", "-r", f"SM:sample{number}", "-o", str(named), str(bams[-1]))
        named.replace(bams[-1])
        pysam.index(str(bams[-1]))
    return fasta, bams


def test_workers_give_the_same_records(processes: ProcessPoolExecutor) -> None:
    one, lines = called_by(None, [BAM], sites=SITES)
    other, same = called_by(Workers(processes), [BAM], sites=SITES)
    assert same == lines
    assert [found.calls[0].allele.position for found in one.variants if found.site].count(17) == 3
    assert (other.reads, other.columns, other.tested) == (one.reads, one.columns, one.tested)
    assert {work.unit: work.count for work in other.work} == {work.unit: work.count for work in one.work}
    assert all(work.executor.kind == "native" for work in other.work)
    assert all(work.executor.name.endswith(f", on {host_name()}") for work in other.work)


@pytest.mark.sycl
def test_workers_use_the_device(processes: ProcessPoolExecutor) -> None:
    found, lines = called_by(Workers(processes, "cpu"), [BAM])
    assert lines == called_by(None, [BAM])[1]
    assert {work.executor.filter for work in found.work} == {choose_device("cpu").filter}


def test_many_pieces_are_in_order(
    long_genome: tuple[Path, list[Path]], processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fasta, bams = long_genome
    given: list[int] = []
    submit = JobPool.submit

    def count(*arguments: object) -> None:
        given.append(len(arguments[3][0]))  # type: ignore[index]
        submit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(JobPool, "submit", count)
    found, lines = called_by(Workers(processes), bams, fasta)
    assert len(given) > 4
    expected, same = called_by(None, bams, fasta)
    assert lines == same
    assert len(expected.variants) > 20
    assert found.tested == expected.tested
    assert found.work
    for kind in KINDS:
        assert {one.calls[0].allele.kind is kind for one in found.variants} <= {True, False}


def die_once(place: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Kill this process at the first call."""
    try:
        place.touch(exist_ok=False)
    except FileExistsError:
        return function(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class Deadly(ProcessPoolExecutor):
    """A pool of which one process is killed while it has a job."""

    place: Path

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return super().submit(die_once, self.place, function, *arguments, **named)


def test_lost_workers_change_nothing(long_genome: tuple[Path, list[Path]], tmp_path: Path) -> None:
    fasta, bams = long_genome
    expected = called_by(None, bams, fasta)[1]
    with Deadly(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        executor.place = tmp_path / "killed"
        workers = Workers(executor)
        found = called_by(workers, bams, fasta)[1]
        assert workers.pool is not executor, "it was replaced"
        workers.close()
    assert executor.place.exists()
    assert found == expected


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    """The threads of a pool have one process, which keeps files open between runs."""
    with ThreadPoolExecutor(1) as executor:
        fasta = write_reference(tmp_path / "short.fa", {"one": "ACGTTGCAAC" * 20})
        before = None
        for letter in "GC":
            reads = [("one", Read(0, f"ACG{letter}TGCAAC", "10M", [40] * 10))] * 40
            write_bam(tmp_path / "reads.bam", {"one": 200}, reads)
            found = called_by(Workers(executor), [tmp_path / "reads.bam"], fasta)[1]
            records = [line for line in found if not line.startswith("#")]
            assert [line.split("\t")[4] for line in records] == [letter]
            assert records != before
            before = records


def test_errors_come_back_whole(tmp_path: Path, processes: ProcessPoolExecutor) -> None:
    broken = tmp_path / "reads.bam"
    content = BAM.read_bytes()
    broken.write_bytes(content[: len(content) // 2])
    shutil.copy(f"{BAM}.bai", f"{broken}.bai")
    raised = []
    for place in (None, Workers(processes)):
        with pytest.raises(ReadsError) as problem:
            called_by(place, [broken])
        raised.append(str(problem.value))
    assert raised[0] == raised[1]
    assert str(broken) in raised[0]
