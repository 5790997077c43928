"""`syclade call`: its files, its options, and one clear message for each bad input."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pysam
import pytest
from click.testing import CliRunner, Result

from syclade.host.calls.kernels import place_of
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import read_bed, whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.calls.vcf import vcf_lines
from syclade.host.commands.main import cli
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import ReadsError, SycladeError
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import EXAMPLE, Read, write_bam, write_reference
from tests.support.did_all import assert_did_all

FASTA, BAM = EXAMPLE / "reference.fa", EXAMPLE / "reads.bam"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["call", *map(str, arguments)], catch_exceptions=False)


def refused(*arguments: object) -> str:
    """Return the message of a run that fails."""
    with pytest.raises(SycladeError) as caught:
        call(*arguments)
    return str(caught.value)


def records(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_the_example_has_its_variants(tmp_path: Path) -> None:
    out = tmp_path / "calls.vcf"
    result = call("-f", FASTA, "-o", out, "--json", BAM)
    truth = [line.split("\t") for line in (EXAMPLE / "truth.tsv").read_text().splitlines()[1:]]
    with pysam.VariantFile(str(out)) as vcf:
        assert list(vcf.header.contigs) == ["simulated"]
        assert list(vcf.header.samples) == ["example"]
        found = list(vcf)
    assert [(str(one.pos), one.ref, one.alts) for one in found] == [
        (p, ref, (alt,)) for _, p, ref, alt, _ in truth
    ]
    for one, (*_, frequency) in zip(found, truth, strict=True):
        sample = one.samples["example"]
        assert list(one.filter) == ["PASS"]
        assert sample["AD"][1] / sum(sample["AD"]) == pytest.approx(sample["VAF"][0], abs=0.02)
        assert sample["VAF"][0] == pytest.approx(float(frequency), abs=0.05)
        assert sample["GT"] == ((1, 1) if frequency == "1.0" else (0, 1))
    summary = json.loads(result.stdout)
    assert summary["files"] == [str(out)]
    assert summary["samples"][0]["passed"] == summary["records"] == 5
    assert summary["samples"][0]["tests"] == 3 * summary["samples"][0]["columns_tested"]


def test_standard_output_is_the_vcf(tmp_path: Path) -> None:
    out = tmp_path / "calls.vcf"
    call("-f", FASTA, "-o", out, BAM)
    assert call("-f", FASTA, "--quiet", BAM).stdout == out.read_text()


ON_DEVICES = [
    "native",
    "numpy",
    pytest.param("cpu", marks=pytest.mark.sycl),
    pytest.param("fpga-emu", marks=[pytest.mark.sycl, pytest.mark.emulator]),
]


@pytest.mark.parametrize("device", ON_DEVICES)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_device_gives_the_same_records(tmp_path: Path, device: str, threads: int) -> None:
    reference = Reference(FASTA)
    samples = samples_of([BAM], reference)
    options, lines = CallOptions(), []
    for where in ("auto", device):
        called = call_variants(
            reference,
            samples,
            whole(samples[0].contigs),
            options,
            threads=threads,
            place=place_of(where, threads),
        )
        lines.append("".join(vcf_lines(called, FASTA.name, options)))
    assert_did_all(called, device)
    assert {one.unit: one.count for one in called.work} == {"reads": called.reads[0].used, "columns": 5}
    assert lines[0] == lines[1]


@pytest.mark.sycl
def test_the_summary_names_the_devices(tmp_path: Path) -> None:
    given = ["-f", FASTA, "-o", tmp_path / "calls.vcf", "--json", BAM]
    result = call(*given, "--device", "cpu")
    summary = json.loads(result.stdout)
    device = choose_device("cpu").filter
    assert summary["counting"] == "native"
    assert [(one["unit"], one["device"], one[f"share_of_{one['unit']}"]) for one in summary["work"]] == [
        ("reads", device, 1.0),
        ("columns", device, 1.0),
    ]
    assert result.stderr.count("as requested") == 1
    without = json.loads(call(*given, "--force", "-B", "--device", "cpu").stdout)
    assert [one["unit"] for one in without["work"]] == ["columns"]


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    assert "there is no device 'none'" in refused(
        "-f", FASTA, "-o", tmp_path / "calls.vcf", "--device", "none", BAM
    )
    assert not list(tmp_path.iterdir())


def test_a_compressed_vcf_has_an_index(tmp_path: Path) -> None:
    plain, packed = tmp_path / "calls.vcf", tmp_path / "calls.vcf.gz"
    call("-f", FASTA, "-o", plain, BAM)
    call("-f", FASTA, "-o", packed, BAM)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "calls.vcf",
        "calls.vcf.gz",
        "calls.vcf.gz.tbi",
    ]
    with pysam.VariantFile(str(packed)) as vcf:
        assert len(list(vcf.fetch("simulated", 200, 400))) == 2
    with pysam.BGZFile(str(packed)) as file:
        assert file.read().decode() == plain.read_text()


def test_an_existing_vcf_is_replaced_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "calls.vcf"
    out.write_text("old")
    assert "already has calls.vcf" in refused("-f", FASTA, "-o", out, BAM)
    assert out.read_text() == "old"
    call("-f", FASTA, "-o", out, "--force", BAM)
    assert len(records(out)) == 5


def test_inputs_are_never_overwritten(tmp_path: Path) -> None:
    for name in ("reads.bam", "reads.bam.bai"):
        shutil.copy(EXAMPLE / name, tmp_path)
    reads = tmp_path / "reads.bam"
    content = reads.read_bytes()
    assert "would be overwritten" in refused("-f", FASTA, "-o", reads, "--force", reads)
    assert reads.read_bytes() == content


def test_a_limit_of_the_size_of_files_is_named(tmp_path: Path) -> None:
    """It counts for the copy of reads in memory: the file of reads is fine."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, before[1]))
    try:
        found = refused("-f", FASTA, "-o", tmp_path / "x.vcf", BAM)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot be copied into memory: File too large\nhint: a limit of the size of files" in found


def test_regions_and_positions_limit_the_calls(tmp_path: Path) -> None:
    out, bed = tmp_path / "calls.vcf", tmp_path / "places.bed"
    call("-f", FASTA, "-o", out, "-r", "simulated:200-400", BAM)
    assert [line.split("\t")[1] for line in records(out)] == ["236", "349"]
    bed.write_text("simulated\t230\t240\nsimulated\t235\t300\nsimulated 469\n")
    call("-f", FASTA, "-o", out, "--force", "-l", bed, BAM)
    assert [line.split("\t")[1] for line in records(out)] == ["236", "469"]
    call("-f", FASTA, "-o", out, "--force", "-l", bed, "-r", "simulated:300-", BAM)
    assert [line.split("\t")[1] for line in records(out)] == ["469"]


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ("other", "no contig 'other'"),
        ("simulated:0-5", "is empty"),
        ("simulated:9-8", "is empty"),
        ("simulated:701-", "is empty"),
        (
            "simulated:241",
            "one position\nhint: give simulated:241-241 for this position, or simulated:241-",
        ),
        ("simulated:241-701", "ends after simulated\nhint: positions of simulated are 1 to 700"),
    ],
)
def test_a_wrong_region_is_refused(region: str, message: str) -> None:
    assert message in refused("-f", FASTA, "-r", region, BAM)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("other\t1\t2", "1: there is no contig 'other'"),
        ("simulated\tx\t2", "1: this is neither a region nor a position"),
        ("simulated", "1: this is neither a region nor a position"),
        ("simulated\t5\t5", "1: simulated has no positions"),
        ("simulated\t5\t701", "1: simulated has no positions"),
        ("# nothing", "there are no regions"),
    ],
)
def test_a_wrong_line_of_regions_is_named(tmp_path: Path, line: str, message: str) -> None:
    bed = tmp_path / "places.bed"
    bed.write_text(line + "\n")
    assert message in refused("-f", FASTA, "-l", bed, BAM)


def test_a_byte_order_mark_is_no_part_of_a_contig(tmp_path: Path) -> None:
    bed = tmp_path / "places.bed"
    bed.write_bytes(b"\xef\xbb\xbfsimulated\t5\t9\n")
    assert [str(one) for one in read_bed(bed, {"simulated": 700})] == ["simulated:6-9"]
    packed = tmp_path / "places.bed.gz"
    packed.write_bytes(gzip.compress(bed.read_bytes()))
    assert read_bed(packed, {"simulated": 700}) == read_bed(bed, {"simulated": 700})
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(ReadsError, match="cannot be read"):
        read_bed(packed, {"simulated": 700})


def test_sites_have_records_in_any_case(tmp_path: Path) -> None:
    sites, out = tmp_path / "sites.vcf", tmp_path / "calls.vcf"
    base = pysam.FastaFile(str(FASTA)).fetch("simulated", 9, 10)
    other = "ACGT".replace(base, "")[0]
    sites.write_text(
        f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\nsimulated\t10\t.\t{base}\t{other},{base}A\n"
    )
    result = call("-f", FASTA, "-o", out, "--sites", sites, BAM)
    assert "1 allele of " in result.stderr
    first = records(out)[0].split("\t")
    assert first[:2] + first[3:5] == ["simulated", "10", base, other]
    assert first[6].startswith("min_snvqual_")
    assert first[9].startswith("0/0:")
    assert len(records(out)) == 6


def sites_of(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "sites.vcf"
    body = "".join(line.replace(" ", "\t") + "\n" for line in lines)
    path.write_text(f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n{body}")
    return path


def test_forced_indels_have_records_with_ids(tmp_path: Path) -> None:
    """Also indels that no read has, and those that the VCF has in a longer form or further to the right."""
    contig = "GATTACACACAGGCTTAACCGGATCGTACGATCCATTTTGCAGTCAGGATACC"
    write_reference(tmp_path / "reference.fa", {"c": contig})
    deleted = contig[:4] + contig[6:46]
    reads = [("c", Read(0, contig[:44], "44M", [35] * 44, 16 * (at % 2))) for at in range(30)]
    reads += [("c", Read(0, deleted, "4M2D40M", [35] * 44, 16 * (at % 2))) for at in range(30)]
    bam = write_bam(tmp_path / "reads.bam", {"c": len(contig)}, reads)
    sites = sites_of(
        tmp_path,
        "c 9 rs1 ACA A",
        "c 21 rs2 G GTT",
        "c 25 rs3 CGT CGA",
        "c 31 . A AT",
        "c 31 rs4 A AT",
        "c 41 . CAG GTC",
    )
    given = ["-f", tmp_path / "reference.fa", "--quiet", "--sites", sites, bam]
    result = call("--call-indels", *given)
    lines = [line.split("\t") for line in result.stdout.splitlines() if line[0] != "#"]
    found = {tuple(words[1:5]): words for words in lines}
    assert list(found) == [
        ("4", "rs1", "TAC", "T"),
        ("21", "rs2", "G", "GTT"),
        ("27", "rs3", "T", "A"),
        ("31", "rs4", "A", "AT"),
    ]
    called, absent = found["4", "rs1", "TAC", "T"], found["21", "rs2", "G", "GTT"]
    assert called[6] == "PASS"
    assert called[9].startswith("0/1:30,30:60:")
    assert absent[5] == "0"
    assert "DP=60;AF=0.000000;" in absent[7]
    assert absent[9].startswith("0/0:60,0:60:")
    assert "1 allele of " in result.stderr
    assert "not single bases or indels" in result.stderr
    plain = [line.split("\t")[1:5] for line in call(*given).stdout.splitlines() if line[0] != "#"]
    assert plain == [["27", "rs3", "T", "A"]]
    only = call("--call-indels", "--only-indels", *given).stdout
    assert [line.split("\t")[2] for line in only.splitlines() if line[0] != "#"] == ["rs1", "rs2", "rs4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no VCF\n", "1: this is not a VCF"),
        ("##fileformat=VCFv4.2\nsimulated\t10\n", "2: this is not a record"),
        ("##fileformat=VCFv4.2\nsimulated\t10\t.\tN\tA\n", "2: REF is 'N'"),
        (
            "##fileformat=VCFv4.2\nother\t10\t.\tN\tA\n",
            "2: the reference has no position 10 of a contig 'other'",
        ),
        ("##fileformat=VCFv4.2\nsimulated\t10\t.\tA\tC,\n", "2: ALT 'C,' has an empty allele"),
        ("##fileformat=VCFv4.2\n", "there are no records"),
    ],
)
def test_wrong_sites_are_refused(tmp_path: Path, text: str, message: str) -> None:
    sites = tmp_path / "sites.vcf"
    sites.write_text(text)
    assert message in refused("-f", FASTA, "--sites", sites, BAM)


@pytest.mark.parametrize(
    "flag", ["-s", "--src-qual", "-S no.vcf", "-T 20", "--plp-summary-only", "--no-indel-aq"]
)
def test_other_options_of_lofreq_are_refused_with_what_to_use(flag: str) -> None:
    """Also where a value follows, which is not taken for a file of reads."""
    result = call(*flag.split(), "-f", FASTA, BAM)
    assert result.exit_code == 2
    assert "of LoFreq is not supported" in result.stderr
    assert any(word in result.stderr for word in ("samtools view", "samtools mpileup", "-A"))


@pytest.mark.parametrize(
    "given",
    [
        ["-q", "94"],
        ["-m", "-1"],
        ["-a", "0"],
        ["-b", "x"],
        ["-C", "0"],
        ["--max-sb", "x"],
        ["--min-af", "1.5"],
    ],
)
def test_wrong_values_are_refused(given: list[object]) -> None:
    assert call("-f", FASTA, *given, BAM).exit_code == 2


@pytest.mark.parametrize(
    "letters", [["q", "6"], ["Q", "6"], ["j", "0"], ["J", "0"], ["R", "0"], ["M", "255"], ["d", "1000000"]]
)
def test_defaults_can_be_given(tmp_path: Path, letters: list[str]) -> None:
    default = call("-f", FASTA, "--quiet", BAM).stdout
    assert call("-f", FASTA, "--quiet", f"-{letters[0]}", letters[1], BAM).stdout == default


def test_qualities_of_illumina_1_3_are_31_lower(tmp_path: Path) -> None:
    raised = tmp_path / "example.bam"
    with pysam.AlignmentFile(str(BAM)) as file, pysam.AlignmentFile(str(raised), "wb", template=file) as out:
        for read in file:
            read.query_qualities = pysam.qualitystring_to_array(
                "".join(chr(33 + 31 + one) for one in read.query_qualities or ())
            )
            out.write(read)
    pysam.index(str(raised))
    assert (
        call("-f", FASTA, "--quiet", "--illumina-1.3", raised).stdout
        == call("-f", FASTA, "--quiet", BAM).stdout
    )


def test_options_change_what_they_say(tmp_path: Path) -> None:
    """Each is checked by its effect on the number of tests, or on the records."""

    def summary(*given: object) -> dict[str, int]:
        made = json.loads(
            call("-f", FASTA, "-o", tmp_path / "x.vcf", "--force", "--json", *given, BAM).stdout
        )
        sample: dict[str, int] = made["samples"][0]
        return sample

    default = summary()
    assert summary("-q", 38)["columns_tested"] < default["columns_tested"]
    assert summary("-Q", 38)["columns_tested"] < default["columns_tested"]
    assert summary("-j", 30)["columns_tested"] < default["columns_tested"]
    assert summary("-J", 30)["columns_tested"] < default["columns_tested"]
    assert summary("-C", 100)["columns_tested"] < default["columns_tested"]
    assert summary("-m", 61)["columns_tested"] == 0
    assert summary("-b", 10**9)["min_quality"] == 110
    assert summary("-a", 1e-9)["min_quality"] > default["min_quality"] + 60
    assert summary("-d", 5)["variants"] < default["variants"]

    def first(*given: object) -> int:
        return int(call("-f", FASTA, "--quiet", *given, BAM).stdout.splitlines()[-1].split("\t")[5])

    assert first("-B") != first() != first("-N")
    assert first("-M", 10) < first() != first("-R", 20)
    assert first("-R", -1) >= first("-R", 20)


def copied(folder: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(EXAMPLE / name, folder)
    return folder / names[0]


def test_a_missing_index_is_named(tmp_path: Path) -> None:
    message = refused("-f", FASTA, copied(tmp_path, "reads.bam"))
    assert "there is no index" in message
    assert "samtools index" in message


def test_a_reference_with_other_contigs_is_named(tmp_path: Path) -> None:
    short = write_reference(tmp_path / "short.fa", {"simulated": "ACGT" * 10})
    assert "contig simulated has 700 positions, and 40 in the reference" in refused("-f", short, BAM)
    other = write_reference(tmp_path / "other.fa", {"other": "ACGT" * 10})
    assert "contig simulated is not in the reference" in refused("-f", other, BAM)


def test_files_that_are_no_reads_are_named(tmp_path: Path) -> None:
    assert "no such file" in refused("-f", FASTA, tmp_path / "absent.bam")
    assert "cannot be read as BAM or CRAM" in refused("-f", FASTA, FASTA)
    assert "no such file" in refused("-f", tmp_path / "absent.fa", BAM)
    assert "not a FASTA file" in refused("-f", BAM, BAM)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "reference.fa: the file is empty"),
        (b"ACGT\n", "reference.fa: this is not a FASTA file"),
        (
            b">a\nACGT\nACGTACGT\n",
            "reference.fa:3: this line has 8 letters, and the first one of its sequence 4",
        ),
        (b">\nACGT\nACGTACGT\n", "reference.fa:3: this line has 8 letters"),
        (b">a\nACGT\nAC\nACGT\n", "reference.fa:4: the line before this one is shorter"),
        (b">a\nACGT\n\nACGT\n", "reference.fa:4: the line before this one is shorter"),
        (
            gzip.compress(b">a\nACGT\n", mtime=0),
            "reference.fa: this is not a FASTA file, or not compressed by bgzip",
        ),
    ],
)
def test_a_wrong_reference_is_described(tmp_path: Path, content: bytes, message: str) -> None:
    """The message names the file and the line, and no temporary file."""
    path = tmp_path / "reference.fa"
    path.write_bytes(content)
    found = refused("-f", path, BAM)
    assert message in found
    assert "reference.fai" not in found
    assert "samtools returned" not in found


def test_unsorted_reads_are_named(tmp_path: Path) -> None:
    reads = [("one", Read(at, "ACGT", "4M", [30] * 4)) for at in (50, 10)]
    path = write_bam(tmp_path / "reads.bam", {"one": 100}, reads, index=False, order="unsorted")
    fasta = write_reference(tmp_path / "reference.fa", {"one": "A" * 100})
    assert "the reads are not sorted" in refused("-f", fasta, path)


@pytest.mark.parametrize(
    "end", [b"", bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")]
)
def test_a_truncated_file_is_named_and_leaves_no_vcf(tmp_path: Path, end: bytes) -> None:
    """Without the mark of the end of a BAM, and with one after a block that is cut."""
    path = copied(tmp_path, "reads.bam", "reads.bam.bai")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + end)
    out = tmp_path / "out" / "calls.vcf"
    out.parent.mkdir()
    message = refused("-f", FASTA, "-o", out, path)
    assert "cannot be read" in message
    assert "truncated" in message
    assert list(out.parent.iterdir()) == []


LETTERS = "".join(np.random.default_rng(4).choice(list("ACGT"), 200))
"""A reference without repeats, in which alignment qualities are high."""


def altered(position: int, length: int, at: int, *, cigar: str = "", quality: int = 37, **other: Any) -> Read:
    """Return a read of LETTERS with another base at a position of the reference."""
    letters = list(LETTERS[position : position + length])
    letters[at - position] = other_base(at)
    return Read(position, "".join(letters), cigar or f"{length}M", [quality] * length, **other)


def other_base(at: int) -> str:
    return "CGTA"["ACGT".index(LETTERS[at])]


def found_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[0] != "#"]


def small(folder: Path, *reads: Read, length: int = 100) -> tuple[Path, Path]:
    """Write reads of a contig `one`."""
    fasta = write_reference(folder / "reference.fa", {"one": LETTERS[:length]})
    return fasta, write_bam(folder / "reads.bam", {"one": length}, [("one", read) for read in reads])


def test_reads_without_qualities_are_named(tmp_path: Path) -> None:
    fasta, path = small(tmp_path, Read(10, "ACGT", "4M", [30] * 4), Read(20, "ACGT", "4M", None, name="bare"))
    assert "read 'bare' at one:21 has no base qualities" in refused("-f", fasta, path)


def test_reads_without_bases_are_left_out_with_a_warning(tmp_path: Path) -> None:
    fasta, path = small(tmp_path, Read(10, None, "4M"), Read(20, "AAAA", "4M", [30] * 4))
    result = call("-f", fasta, path)
    assert "1 read without bases was left out" in result.stderr
    assert result.exit_code == 0


def test_skipped_positions_have_no_depth(tmp_path: Path) -> None:
    """Reads with N in their CIGAR are used, and their alternatives called."""
    reads = []
    for number in range(40):
        read = altered(10, 60, 30, cigar="30M90N30M", name=str(number))
        assert read.bases is not None
        read.bases = read.bases[:30] + LETTERS[130:160]
        reads.append(read)
    fasta, path = small(tmp_path, *reads, length=200)
    (record,) = found_in(call("-f", fasta, "--quiet", path).stdout)
    assert record.startswith(f"one\t31\t.\t{LETTERS[30]}\t{other_base(30)}\t")
    summary = json.loads(call("-f", fasta, "-o", tmp_path / "x.vcf", "--json", path).stdout)
    assert summary["covered"] == 60


def test_files_without_reads_have_no_records(tmp_path: Path) -> None:
    fasta, path = small(tmp_path)
    result = call("-f", fasta, path)
    assert result.exit_code == 0
    assert not [line for line in result.stdout.splitlines() if line[0] != "#"]
    compat = call("-f", fasta, "--compat", path)
    assert "min_snvqual_20" in compat.stdout


def test_fixed_variants_of_one_strand_pass(tmp_path: Path) -> None:
    """LoFreq gives them a strand bias of 2147483647, and drops them."""
    fasta, path = small(tmp_path, *[altered(10, 60, 40, name=str(at)) for at in range(40)])
    (record,) = found_in(call("-f", fasta, "--quiet", path).stdout)
    assert record.split("\t")[6] == "PASS"
    assert ";FS=0;" in record
    assert "1/1:0,40:40:1.000000" in record
    assert not found_in(call("-f", fasta, "--quiet", "--compat", path).stdout)
    unfiltered = call("-f", fasta, "--quiet", "--compat", "--no-default-filter", path).stdout
    assert ";SB=2147483647;" in unfiltered


def test_filters_tag_or_drop(tmp_path: Path) -> None:
    fasta, path = small(tmp_path, *[altered(10, 60, 40, name=str(at)) for at in range(6)])
    (record,) = found_in(call("-f", fasta, "--quiet", path).stdout)
    assert record.split("\t")[6] == "min_dp_10"
    assert not found_in(call("-f", fasta, "--quiet", "--drop-filtered", path).stdout)
    (record,) = found_in(call("-f", fasta, "--quiet", "--no-default-filter", path).stdout)
    assert record.split("\t")[6] == "PASS"


def test_frequency_by_pileup_and_by_quality(tmp_path: Path) -> None:
    """Bases of low quality count in AF, not in AFQ."""
    reads = [altered(10, 60, 40, name=str(at)) for at in range(40)]
    for read in reads[:20]:
        read.qualities = [37] * 30 + [4] + [37] * 29
    reads += [Read(11, LETTERS[11:71], "60M", [37] * 60, 16, name=f"r{at}") for at in range(40)]
    fasta, path = small(tmp_path, *reads)
    (record,) = found_in(call("-f", fasta, "--quiet", path).stdout)
    assert "AF=0.500000;AFQ=0.333333;" in record
    assert ";AF=0.250000;" in call("-f", fasta, "--quiet", "--compat", "--no-default-filter", path).stdout


def test_several_files_are_samples(tmp_path: Path) -> None:
    fasta = write_reference(tmp_path / "reference.fa", {"one": LETTERS})
    paths = []
    for name, at in (("a", 40), ("b", 45), ("c", None)):
        reads = [("one", altered(10, 60, at, name=str(number))) for number in range(40) if at is not None]
        paths.append(write_bam(tmp_path / f"{name}.bam", {"one": len(LETTERS)}, reads))
    out = tmp_path / "calls.vcf"
    call("-f", fasta, "-o", out, *paths)
    with pysam.VariantFile(str(out)) as vcf:
        assert list(vcf.header.samples) == ["a", "b", "c"]
        first, second = vcf
    assert [(one.pos, one.alts) for one in (first, second)] == [
        (41, (other_base(40),)),
        (46, (other_base(45),)),
    ]
    genotypes = [[one.samples[name]["GT"] for name in "abc"] for one in (first, second)]
    assert genotypes == [[(1, 1), (0, 0), (None, None)], [(0, 0), (1, 1), (None, None)]]
    assert first.info["DP"] == 80
    assert "is that of another file" in refused("-f", fasta, paths[0], paths[0])


def test_threads_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for threads in (1, 2, 5):
        monkeypatch.setenv("SYCLADE_THREADS", str(threads))
        monkeypatch.setattr("syclade.host.calls.run.usable_cores", lambda threads=threads: threads)
        texts.append(call("-f", FASTA, "--quiet", BAM).stdout)
    assert texts[0] == texts[1] == texts[2] != ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_a_full_disk_is_named() -> None:
    command = [sys.executable, "-m", "syclade", "call", "-f", str(FASTA), "--quiet", str(BAM)]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 2
    assert "cannot write to standard output: No space left" in run.stderr


def test_a_full_disk_leaves_no_vcf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "calls.vcf.gz"
    assert "No space left" in refused("-f", FASTA, "-o", out, BAM)
    assert list(tmp_path.iterdir()) == []


def test_cram_has_the_same_calls(tmp_path: Path) -> None:
    cram = tmp_path / "reads.cram"
    with (
        pysam.AlignmentFile(str(BAM)) as source,
        pysam.AlignmentFile(str(cram), "wc", template=source, reference_filename=str(FASTA)) as sink,
    ):
        for read in source:
            sink.write(read)
    pysam.index(str(cram))
    assert call("-f", FASTA, "--quiet", cram).stdout == call("-f", FASTA, "--quiet", BAM).stdout


def test_sam_is_refused(tmp_path: Path) -> None:
    sam = tmp_path / "reads.sam"
    with pysam.AlignmentFile(str(BAM)) as source, pysam.AlignmentFile(str(sam), "w", template=source) as sink:
        for read in source:
            sink.write(read)
    assert "this is a SAM file" in refused("-f", FASTA, sam)


def test_a_reference_without_index_is_read_and_left_alone(tmp_path: Path) -> None:
    fasta = copied(tmp_path, "reference.fa")
    assert call("-f", fasta, "--quiet", BAM).stdout == call("-f", FASTA, "--quiet", BAM).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["reference.fa"]


def test_several_contigs_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    contigs = {name: LETTERS[:100] for name in ("two", "one", "empty")}
    fasta = write_reference(tmp_path / "reference.fa", contigs)
    reads = [
        (name, altered(10, 60, at, name=str(number)))
        for name, at in (("two", 50), ("one", 30))
        for number in range(30)
    ]
    path = write_bam(tmp_path / "reads.bam", {name: 100 for name in contigs}, reads)
    found = [line.split("\t")[:2] for line in found_in(call("-f", fasta, "--quiet", path).stdout)]
    assert found == [["two", "51"], ["one", "31"]]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysam", None)
    message = refused("-f", FASTA, BAM)
    assert "needs pysam" in message
    assert "calls" in message
