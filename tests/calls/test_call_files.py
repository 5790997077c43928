"""Files of `syclade call`: a reference whose index or sequence does not fit, and outputs that are refused."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pysam
import pytest

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.reference import Reference, problem_of_index
from syclade.host.ground.errors import ReadsError
from tests.calls.support import EXAMPLE, Read, write_bam, write_reference
from tests.support.commands import printed_by

FASTA, BAM = EXAMPLE / "reference.fa", EXAMPLE / "reads.bam"


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Return status, standard output and standard error of `syclade call`."""
    status, lines, said = printed_by(capsys, "call", *arguments)
    return status, "\n".join(lines), said


def records(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


# ---- the index of the reference

LETTERS = pysam.FastaFile(str(FASTA)).fetch("simulated")


def fasta(path: Path, letters: str = LETTERS, header: str = "simulated", end: str = "\n") -> Path:
    lines = [letters[at : at + 60] for at in range(0, len(letters), 60)]
    path.write_bytes(end.join((f">{header}", *lines, "")).encode())
    return path


STALE: dict[str, Callable[[Path], object]] = {
    "longer header": lambda path: fasta(path, header="simulated plasmid, second version"),
    "shorter header": lambda path: fasta(path, header="simulated"),
    "other name": lambda path: path.write_text(path.read_text().replace(">simulated ", ">simulatedx ")),
    "one base more before": lambda path: path.write_text(">first\nACGT\n" + path.read_text()),
    "one more sequence": lambda path: path.write_text(path.read_text() + ">last\nACGT\n"),
    "longer": lambda path: fasta(path, LETTERS + "ACGT", "simulated a"),
    "shorter": lambda path: fasta(path, LETTERS[:-3], "simulated a"),
    "nothing": lambda path: Path(f"{path}.fai").write_text("nothing\n"),
    "not text": lambda path: Path(f"{path}.fai").write_bytes(b"\xff\x00"),
    "empty": lambda path: Path(f"{path}.fai").write_text(""),
}


@pytest.mark.parametrize("how", STALE)
@pytest.mark.parametrize("is_older", [True, False])
def test_an_index_that_does_not_fit_is_not_used(tmp_path: Path, how: str, is_older: bool) -> None:
    """Another one is made, and the user's files stay as they are."""
    path = fasta(tmp_path / "reference.fa", header="simulated a")
    pysam.faidx(str(path))
    index = Path(f"{path}.fai")
    STALE[how](path)
    if is_older:
        os.utime(index, (10**9, 10**9))
    before = index.read_bytes()
    reference = Reference(path)
    assert reference.index_problem is not None
    expected = {line[1:].split()[0] for line in path.read_text().splitlines() if line[0] == ">"}
    assert {*reference.lengths} == expected
    name = next(one for one in expected if one.startswith("simulated"))
    letters = LETTERS[:-3] if how == "shorter" else LETTERS
    assert reference.sequence(name)[: len(letters)] == letters
    made = reference.readable.parent
    assert made != tmp_path
    reference.close()
    assert not made.exists()
    assert index.read_bytes() == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n\n"])
def test_an_old_index_that_fits_is_used(tmp_path: Path, end: str, last: str) -> None:
    """Copies often have later times than their indexes; the file may have empty lines and sequences."""
    path = fasta(tmp_path / "reference.fa", LETTERS[:180], "one with words", end)
    second = fasta(tmp_path / "second.fa", LETTERS[:61], "two", end).read_bytes()
    path.write_bytes(path.read_bytes() + f">empty{end}".encode() + second + last.encode())
    pysam.faidx(str(path))
    os.utime(f"{path}.fai", (10**9, 10**9))
    reference = Reference(path)
    assert (reference.index_problem, reference.readable) == (None, path)
    assert reference.lengths == {"one": 180, "two": 61}
    assert reference.sequence("two") == LETTERS[:61]


def test_a_sequence_without_a_line_end_has_a_fitting_index(tmp_path: Path) -> None:
    path = tmp_path / "reference.fa"
    path.write_text(f">one\n{LETTERS[:60]}")
    pysam.faidx(str(path))
    assert problem_of_index(path, Path(f"{path}.fai")) is None


def test_a_compressed_reference_needs_an_index_that_is_not_older(tmp_path: Path) -> None:
    plain, path = fasta(tmp_path / "plain.fa"), tmp_path / "reference.fa.gz"
    pysam.tabix_compress(str(plain), str(path))
    assert Reference(path).index_problem is None
    assert sorted(one.name for one in tmp_path.iterdir()) == ["plain.fa", "reference.fa.gz"]
    pysam.faidx(str(path))
    assert Reference(path).readable == path
    os.utime(f"{path}.fai", (10**9, 10**9))
    reference = Reference(path)
    assert reference.index_problem == "is older than the file"
    assert reference.sequence("simulated") == LETTERS


def test_letters_that_are_no_bases_are_named(tmp_path: Path) -> None:
    path = fasta(tmp_path / "reference.fa", "ACGTNRYacgt" + "PL")
    with pytest.raises(ReadsError, match="simulated has the letter 'P' at position 12, which is not a base"):
        Reference(path).sequence("simulated")


def test_calls_with_a_stale_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The header became longer after the index was made: its sequences would have letters of the header."""
    path = fasta(tmp_path / "reference.fa", header="simulated")
    pysam.faidx(str(path))
    fasta(path, header="simulated my plasmid, second version")
    status, text, said = called(capsys, "-f", path, BAM)
    assert status == 0
    assert records(text) == records(called(capsys, "-f", FASTA, BAM)[1])
    assert f"warning: the index {path}.fai does not fit the file, where simulated is elsewhere" in said
    assert f"samtools faidx {path}" in said


# ---- outputs


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with reads and reference, and their indexes."""
    for name in ("reads.bam", "reads.bam.bai", "reference.fa"):
        shutil.copy(EXAMPLE / name, tmp_path)
    pysam.faidx(str(tmp_path / "reference.fa"))
    (tmp_path / "regions.bed").write_text("simulated\t0\t700\n")
    (tmp_path / "link.vcf").symlink_to("reads.bam.bai")
    return tmp_path


@pytest.mark.parametrize("name", [".", "pipe", "link"])
def test_outputs_that_are_no_files_are_refused(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A directory without a name, a pipe and a link to one stay, also with --force."""
    monkeypatch.chdir(place)
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    assert called(capsys, "-f", "reference.fa", "-o", "calls.vcf", "reads.bam")[0] == 0
    for command in (("call", "-f", "reference.fa", "reads.bam"), ("filter", "calls.vcf")):
        status, _, said = printed_by(capsys, *command, "-o", name, "--force")
        assert status == 2
        assert ("is a directory" if name == "." else "is a device or a pipe") in said
    assert Path("link").is_symlink()
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


@pytest.mark.parametrize(
    "name",
    [
        "reads.bam",
        "reads.bam.bai",
        "reads.bai",
        "reference.fa",
        "reference.fa.fai",
        "regions.bed",
        "link.vcf",
    ],
)
def test_no_input_and_no_index_of_one_is_overwritten(
    place: Path, capsys: pytest.CaptureFixture[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before anything is computed."""
    monkeypatch.setattr("syclade.host.calls.run.call_variants", None)
    before = contents(place)
    given = ("-f", place / "reference.fa", "-l", place / "regions.bed", place / "reads.bam")
    status, _, said = called(capsys, *given, "-o", place / name, "--force")
    assert status == 2
    assert f"{name} is also the " in said
    assert contents(place) == before


def test_the_index_of_the_vcf_is_no_input(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "calls.vcf.gz.tbi").hardlink_to(place / "reads.bam")
    given = ("-f", place / "reference.fa", place / "reads.bam", "-o", place / "calls.vcf.gz", "--force")
    status, _, said = called(capsys, *given)
    assert (status, "calls.vcf.gz.tbi is also the reads" in said) == (2, True)


def test_a_vcf_that_is_a_link_is_replaced(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = place / "other.vcf"
    other.write_text("mine")
    (place / "calls.vcf").symlink_to(other)
    given = ("-f", FASTA, BAM, "-o", place / "calls.vcf")
    assert called(capsys, *given)[0] == 2
    assert called(capsys, *given, "--force")[0] == 0
    assert other.read_text() == "mine"
    assert len(records((place / "calls.vcf").read_text())) == 5


# ---- the MD5 of the reference


def with_digest(folder: Path, digest: str) -> Path:
    """Copy the reads, with the MD5 of their reference in the header."""
    path = folder / "reads.bam"
    with pysam.AlignmentFile(str(BAM)) as source:
        header = source.header.to_dict()
        header["SQ"][0]["M5"] = digest
        with pysam.AlignmentFile(str(path), "wb", header=header) as sink:
            for read in source:
                sink.write(read)
    pysam.index(str(path))
    return path


def test_a_reference_with_another_digest_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = hashlib.md5(LETTERS.encode()).hexdigest()
    path = with_digest(tmp_path, digest.upper())
    assert called(capsys, "-f", fasta(tmp_path / "lower.fa", LETTERS.lower()), path)[0] == 0
    other = fasta(tmp_path / "other.fa", LETTERS.translate(str.maketrans("ACGT", "CGTA")))
    status, text, said = called(capsys, "-f", other, path)
    assert (status, text) == (2, "")
    assert "reads.bam: simulated of " in said
    assert f"the header of the reads (@SQ M5) says {digest}" in said
    for flag in ("--ignore-md5", "--compat"):
        status, _, said = called(capsys, "-f", other, flag, path)
        assert status == 0
        assert "warning: simulated of " in said
        assert "in 699 of 699 columns, most bases differ from the reference" in said


def test_a_header_with_names_that_are_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reads.bam"
    with pysam.BGZFile(str(BAM)) as source, pysam.BGZFile(str(path), "wb") as sink:
        sink.write(source.read().replace(b"simulated\0", b"simulat\xc9d\0"))
    shutil.copy(f"{BAM}.bai", f"{path}.bai")
    with pytest.raises(ReadsError, match="its header is damaged"), open_alignments(path, Reference(FASTA)):
        pass


# ---- the VCF in other programs

TRACK = "".join(np.random.default_rng(9).choice(list("ACGT"), 200))


def mixture(folder: Path, *shares: int) -> tuple[Path, Path]:
    """Write 100 reads whose bases at one position are the reference's and others, in these shares."""
    reads = []
    others = [base for base in "ACGT" if base != TRACK[100]]
    for base, share in zip((TRACK[100], *others), shares, strict=False):
        for number in range(share):
            letters = TRACK[60:100] + base + TRACK[101:140]
            reads.append(("one", Read(60, letters, "80M", [37] * 80, 16 * (number % 2))))
    path = write_reference(folder / "mixture.fa", {"one": TRACK})
    return path, write_bam(folder / "mixture.bam", {"one": 200}, reads)


@pytest.mark.parametrize(
    ("shares", "expected", "joined"),
    [
        ((90, 10), ["0/1"], {0, 1}),
        ((2, 98), ["1/1"], {1}),
        ((80, 12, 8), ["0/1", "./0"], {0, 1}),
        ((80, 8, 12), ["./0", "0/1"], {0, 2}),
        ((10, 50, 40), ["1/0", "0/1"], {1, 2}),
        ((10, 40, 50), ["1/0", "0/1"], {1, 2}),
        ((10, 20, 30, 40), ["./0", "1/0", "0/1"], {2, 3}),
        ((0, 96, 4), ["1/1", "./0"], {1}),
    ],
)
def test_genotypes_of_a_position_can_be_joined(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    shares: tuple[int, ...],
    expected: list[str],
    joined: set[int],
) -> None:
    """Joined, they are the two most frequent alleles. Joining keeps what is not missing and no reference."""
    path, reads = mixture(tmp_path, *shares)
    found = [line.split("\t") for line in records(called(capsys, "-f", path, reads)[1])]
    genotypes = [line[9].split(":")[0] for line in found]
    assert genotypes == expected
    parts = [
        {number * int(one) for one in text.split("/") if one != "."}
        for number, text in enumerate(genotypes, 1)
    ]
    alternatives = set().union(*parts) - {0}
    assert (alternatives if len(alternatives) == 2 or "1/1" in genotypes else alternatives | {0}) == joined


def test_no_tag_is_ambiguous_or_reserved_for_other_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DP is in both, as in all VCFs; SB has four values in other programs."""
    out = tmp_path / "calls.vcf"
    assert called(capsys, "-f", FASTA, "-o", out, "--call-indels", BAM)[0] == 0
    with pysam.VariantFile(str(out)) as vcf:
        assert {*vcf.header.info} & {*vcf.header.formats} == {"DP"}
        assert not {"SB"} & ({*vcf.header.info} | {*vcf.header.formats})
        for one in vcf:
            (sample,) = one.samples.values()
            assert sample["VAF"] == pytest.approx(one.info["AF"])
            assert one.info["FS"] >= 0
