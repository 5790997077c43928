"""Several files of reads in one VCF: values of each sample, and a tree of cells from their reads."""

from __future__ import annotations

import random
import resource
from pathlib import Path

import pysam
import pytest

import syclade
from syclade.host.calls import pieces
from syclade.host.ground import limits
from syclade.host.ground.errors import ReadsError
from tests.calls.support import Read, write_bam, write_reference

LENGTH, SPACE, CENTRE = 61, 100, 30
CARRIERS = {"first": "bcdef", "second": "cd", "third": "ef"}
"""Cells a to f that carry each mutation: the second and the third one come after the first."""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reads of six cells, 24 over each of three places; c has no reads over the second."""
    folder = tmp_path_factory.mktemp("cells")
    sequence = "".join(random.Random(5).choices("ACGT", k=SPACE * len(CARRIERS)))
    write_reference(folder / "reference.fa", {"one": sequence})
    for cell in "abcdef":
        reads = []
        for number, (name, carriers) in enumerate(CARRIERS.items()):
            begin = SPACE * number + 10
            for at in range(0 if (cell, name) == ("c", "second") else 24):
                letters = list(sequence[begin : begin + LENGTH])
                if cell in carriers and at < 12:
                    letters[CENTRE] = "ACGT"["ACGT".index(letters[CENTRE]) ^ 1]
                read = Read(begin, "".join(letters), f"{LENGTH}M", [37] * LENGTH, 16 * (at % 2), name=str(at))
                reads.append(("one", read))
        write_bam(folder / f"{cell}.bam", {"one": len(sequence)}, reads)
    return folder


def joint(cells: Path) -> syclade.Calls:
    return syclade.call([cells / f"{name}.bam" for name in "abcdef"], cells / "reference.fa")


def test_each_sample_has_its_values_at_sites_called_in_any(tmp_path: Path, cells: Path) -> None:
    joint(cells).write(tmp_path / "joint.vcf")
    alone: dict[tuple[str, int], syclade.CallRecord] = {}
    for name in "abcdef":
        made = syclade.call(cells / f"{name}.bam", cells / "reference.fa")
        alone |= {(name, one.position): one for one in made.records}
    with pysam.VariantFile(str(tmp_path / "joint.vcf")) as vcf:
        assert list(vcf.header.samples) == list("abcdef")
        records = list(vcf)
    assert len(records) == len(CARRIERS)
    for record, (name, carriers) in zip(records, CARRIERS.items(), strict=True):
        for cell, sample in record.samples.items():
            found = alone.get((cell, record.pos))
            reads = 0 if (cell, name) == ("c", "second") else 24
            assert sample["DP"] == sum(sample["AD"]) == reads
            assert sample["AD"][1] == (12 if cell in carriers and reads else 0)
            assert sample["VQ"] == (0 if found is None else found.quality)
            assert (found is not None) == (sample["AD"][1] > 0)
        assert record.qual == max(sample["VQ"] for sample in record.samples.values())


def test_a_tree_follows_from_the_reads_of_cells(tmp_path: Path, cells: Path) -> None:
    joint(cells).write(tmp_path / "joint.vcf.gz")
    matrix = syclade.read_matrix(tmp_path / "joint.vcf.gz", evidence="reads")
    assert matrix.cells == tuple("abcdef")
    result = syclade.infer(matrix, device="native", support="none")
    assert result.parents.tolist() == [3, 0, 0, 3]


def test_threads_are_as_many_as_the_open_files_allow(
    monkeypatch: pytest.MonkeyPatch, cells: Path
) -> None:  # fmt: skip
    monkeypatch.setattr(pieces, "open_files", lambda wanted: 600)
    assert [pieces.fitting_threads(8, samples) for samples in (1, 40, 200)] == [8, 6, 1]
    assert pieces.fitting_threads(2, 40) == 2
    monkeypatch.setattr(pieces, "open_files", lambda wanted: 70)
    with pytest.raises(ReadsError, match="6 files of reads need 76 open files at a time") as caught:
        joint(cells)
    assert "ulimit -n 76" in str(caught.value.hint)


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: given.append(pair))
    assert [limits.open_files(wanted) for wanted in (1000, 2000, 9000)] == [1000, 2000, 4096]
    assert given == [(2000, 4096), (4096, 4096)]

    def refuse(_: int, _pair: tuple[int, int]) -> None:
        raise OSError

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert limits.open_files(9000) == 1024
