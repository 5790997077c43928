"""`syclade call --normal`: each status, its test, options that do not go together, and the study."""

from __future__ import annotations

import gzip
import json
import math
import pickle
import random
from fractions import Fraction
from functools import partial
from pathlib import Path

import pysam
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.calls.somatic import log_binomial_tail, tumour_options
from syclade.host.commands.main import cli
from syclade.host.ground.errors import OptionError, ReadsError, SycladeError
from syclade.host.ground.options.calls import CallOptions
from syclade.quality.studies.__main__ import studies
from syclade.quality.studies.somatic.api import somatic_study
from tests.calls.support import EXAMPLE, Read, write_bam, write_reference

LENGTH, SPACE = 61, 100
"""Length of the reads, which all begin at the same place of an amplicon, and of an amplicon."""

CENTRE = 30
AMPLICONS = ("somatic", "in_normal", "uncertain", "known", "trace", "deletion", "other_gap")


def _reads(
    sequence: str, number: int, depth: int, changed: int, change: str, quality: int = 37
) -> list[tuple[str, Read]]:
    """Return reads of an amplicon, the first ones with a change: a base, `del`, or `ins`."""
    begin = SPACE * number + 10
    found = []
    for at in range(depth):
        letters, cigar = sequence[begin : begin + LENGTH], f"{LENGTH}M"
        if at < changed and change == "del":
            letters = sequence[begin : begin + CENTRE + 1] + sequence[begin + CENTRE + 4 : begin + LENGTH + 3]
            cigar = f"{CENTRE + 1}M3D{LENGTH - CENTRE - 1}M"
        elif at < changed and change == "ins":
            letters = letters[: CENTRE + 1] + "GATTC" + letters[CENTRE + 1 : LENGTH]
            cigar = f"{CENTRE + 1}M5I{LENGTH - CENTRE - 1}M"
        elif at < changed:
            letters = letters[:CENTRE] + change + letters[CENTRE + 1 :]
        name = f"{number}-{at}"
        found.append(("one", Read(begin, letters, cigar, [quality] * len(letters), 16 * (at % 2), name=name)))
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tumour and a normal sample of seven amplicons, and a VCF of germline variants."""
    folder = tmp_path_factory.mktemp("pair")
    sequence = "".join(random.Random(5).choices("ACGT", k=SPACE * len(AMPLICONS)))
    write_reference(folder / "reference.fa", {"one": sequence})
    normal = {
        "in_normal": (30, 12), "uncertain": (5, 0), "trace": (60, 1), "other_gap": (30, 9),
    }  # fmt: skip
    reads: dict[str, list[tuple[str, Read]]] = {"tumour": [], "normal": []}
    places = {}
    for number, name in enumerate(AMPLICONS):
        at = SPACE * number + 10 + CENTRE
        other = "ACGT"["ACGT".index(sequence[at]) ^ 1]
        places[name] = at + 1, sequence[at], other
        gap = name in ("deletion", "other_gap")
        reads["tumour"] += _reads(sequence, number, 40, 20, "del" if gap else other)
        depth, changed = normal.get(name, (30, 0))
        change = "ins" if name == "other_gap" else other
        reads["normal"] += _reads(sequence, number, depth, changed, change, 20 if name == "trace" else 37)
    for name, made in reads.items():
        write_bam(folder / f"{name}.bam", {"one": len(sequence)}, made)
    position, ref, alt = places["known"]
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    lines += [f"one\t{position}\trs1\t{ref}\tN,{alt}\t.\t.\t.", f"one\t{position + 1}\trs2\tA\tC\t.\t.\t."]
    (folder / "known.vcf").write_text("\n".join(lines) + "\n")
    pysam.tabix_compress(str(folder / "known.vcf"), str(folder / "packed.vcf.gz"))
    pysam.tabix_index(str(folder / "packed.vcf.gz"), preset="vcf")
    (folder / "places.json").write_text(json.dumps(places))
    return folder


def _called(pair: Path, **options: object) -> dict[str, syclade.CallRecord]:
    """Return the record of each amplicon."""
    made = syclade.call(
        pair / "tumour.bam", pair / "reference.fa", normal=pair / "normal.bam", **options  # type: ignore[arg-type]
    )  # fmt: skip
    return {AMPLICONS[(one.position - 1) // SPACE]: one for one in made.records}


@pytest.mark.parametrize("known", ["known.vcf", "packed.vcf.gz"])
def test_each_status(pair: Path, known: str) -> None:
    found = _called(pair, dbsnp=pair / known, call_indels=True)
    assert {name: one.status for name, one in found.items()} == {
        "somatic": "somatic", "in_normal": "in_normal", "uncertain": "uncertain", "known": "known",
        "trace": "somatic", "deletion": "somatic", "other_gap": "in_normal",
    }  # fmt: skip
    assert {name for name, one in found.items() if one.passed} == {"somatic", "trace", "deletion"}
    assert all(one.passed or one.filters == (one.status,) for one in found.values())
    assert found["in_normal"].alternate_reads == (20, 12)
    assert found["other_gap"].alternate_reads == (20, 0), "another indel at the same position"
    assert found["uncertain"].depth == (40, 5)


def test_without_germline_variants_none_is_known(pair: Path) -> None:
    assert _called(pair)["known"].status == "somatic"


@pytest.mark.parametrize(
    ("options", "name", "status"),
    [
        ({"normal_alpha": 0.05}, "uncertain", "somatic"),
        ({"normal_sig": 1e-60}, "in_normal", "uncertain"),
        ({"normal_af": 0.02}, "somatic", "uncertain"),
        ({"normal_af": 0.0}, "somatic", "somatic"),
        ({"normal_af": 0.03}, "trace", "uncertain"),
    ],
)
def test_options_of_the_normal(pair: Path, options: dict[str, float], name: str, status: str) -> None:
    assert _called(pair, **options)[name].status == status


def test_the_tumour_needs_fewer_reads_and_one_false_call(pair: Path) -> None:
    """Its limits are those of lofreq somatic: 7 reads, p-value times tests below 1, single ones 0.01."""
    made = syclade.call(pair / "tumour.bam", pair / "reference.fa", normal=pair / "normal.bam")
    assert "ID=min_dp_7," in made.vcf
    assert "ID=min_snvqual_20," in made.vcf
    assert (
        "ID=min_snvqual_42,"
        in syclade.call(
            pair / "tumour.bam", pair / "reference.fa", normal=pair / "normal.bam", bonf=15462
        ).vcf
    )
    assert (
        "ID=min_dp_9,"
        in syclade.call(pair / "tumour.bam", pair / "reference.fa", normal=pair / "normal.bam", min_dp=9).vcf
    )


def test_somatic_variants_that_do_not_pass_are_counted(tmp_path: Path, pair: Path) -> None:
    given = [
        "call",
        "-f",
        str(pair / "reference.fa"),
        "--normal",
        str(pair / "normal.bam"),
        "--min-af",
        "0.6",
    ]
    result = CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "x.vcf"), str(pair / "tumour.bam")])
    assert ": 0 somatic, 1 in normal, 1 uncertain, 0 known, 3 somatic but filtered\n" in result.stderr


def test_the_vcf_has_both_samples(tmp_path: Path, pair: Path) -> None:
    out = tmp_path / "somatic.vcf"
    given = ["call", "-f", str(pair / "reference.fa"), "--normal", str(pair / "normal.bam"), "--json"]
    result = CliRunner().invoke(cli, [*given, "-o", str(out), str(pair / "tumour.bam")])
    assert result.exception is None, result.output
    assert json.loads(result.stdout)["somatic"] == {
        "somatic": 3, "in_normal": 1, "uncertain": 1, "known": 0, "somatic_but_filtered": 0,
    }  # fmt: skip
    made = syclade.call(pair / "tumour.bam", pair / "reference.fa", normal=pair / "normal.bam")
    assert out.read_text() == made.vcf
    assert made.samples == ("tumour", "normal")
    with pysam.VariantFile(str(out)) as vcf:
        assert list(vcf.header.samples) == ["tumour", "normal"]
        for record, one in zip(vcf, made.records, strict=True):
            assert ("SOMATIC" in record.info) == one.passed == (list(record.filter) == ["PASS"])
            assert record.info["STATUS"] == one.status
            assert ("UQ" in record.info) == (one.status != "in_normal")
            assert record.info["DP"] == one.depth[0], "INFO is of the tumour"
            assert tuple(record.samples[name]["AD"][1] for name in made.samples) == one.alternate_reads
            assert record.samples["tumour"]["VQ"] == one.quality
            if one.status == "uncertain":
                assert record.info["UQ"] == int(-10 * math.log10(0.5**5))


def test_records_that_do_not_pass_can_be_left_out(pair: Path) -> None:
    assert set(_called(pair, drop_filtered=True)) == {"somatic", "known", "trace"}


@pytest.mark.parametrize(("most", "trials", "p"), [(0, 5, 0.5), (3, 40, 0.3), (39, 40, 0.99), (7, 7, 0.1)])
def test_the_binomial_test_is_its_definition(most: int, trials: int, p: float) -> None:
    exact = Fraction(p)
    tail = sum(
        math.comb(trials, k) * exact**k * (1 - exact) ** (trials - k) for k in range(most + 1)
    )  # fmt: skip
    assert log_binomial_tail(most, trials, p) == pytest.approx(math.log(tail), rel=1e-12, abs=1e-12)


def test_the_binomial_test_goes_below_the_smallest_number() -> None:
    assert log_binomial_tail(0, 100000, 0.5) == pytest.approx(100000 * math.log(0.5))


REFUSED = [
    ({"reads": 2}, "takes one BAM of a tumour"),
    ({"compat": True}, "--compat does not go with --normal"),
    ({"sites": EXAMPLE / "truth.tsv"}, "--sites does not go with --normal"),
    ({"sig": 0.05}, "--sig does not go with --normal"),
    ({"normal": None, "normal_af": 0.3}, "--normal-af does not go without --normal"),
    ({"normal": None, "dbsnp": EXAMPLE / "truth.tsv"}, "--dbsnp does not go without --normal"),
    ({"normal_af": 1.5}, "--normal-af is 1.5"),
    ({"normal_sig": 0.0}, "--normal-sig is 0.0"),
    ({"no_such": 1}, "no option 'no_such'"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_does_not_go_together_is_refused(given: dict[str, object], message: str) -> None:
    options: dict[str, object] = {"normal": EXAMPLE / "normal.bam", **given}
    reads = [EXAMPLE / "reads.bam"] * options.pop("reads", 1)  # type: ignore[operator]
    with pytest.raises(OptionError, match=message):
        syclade.call(reads, EXAMPLE / "reference.fa", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no VCF\n", "this is not a VCF"),
        ("##fileformat=VCFv4.2\nsimulated\tx\t.\tA\tC\n", ":2: this is not a record of a VCF"),
        ("##fileformat=VCFv4.2\nchr7\t5\t.\tA\tC\t.\t.\t.\n", "no contig of the reference, but 'chr7'"),
    ],
)
def test_a_wrong_file_of_germline_variants_is_named(tmp_path: Path, text: str, message: str) -> None:
    def called(name: str) -> syclade.Calls:
        return syclade.call(
            EXAMPLE / "reads.bam", EXAMPLE / "reference.fa", normal=EXAMPLE / "normal.bam",
            dbsnp=tmp_path / name,
        )  # fmt: skip

    (tmp_path / "known.vcf").write_text(text)
    with pytest.raises(ReadsError, match=message):
        called("known.vcf")
    if "chr7" in text:
        pysam.tabix_compress(str(tmp_path / "known.vcf"), str(tmp_path / "packed.vcf.gz"))
        pysam.tabix_index(str(tmp_path / "packed.vcf.gz"), preset="vcf")
        with pytest.raises(ReadsError, match=message):
            called("packed.vcf.gz")


def test_options_of_the_tumour_go_to_workers() -> None:
    options = tumour_options(CallOptions(somatic_sig=0.5, min_bq=20))
    same = pickle.loads(pickle.dumps(options))
    assert same == options
    assert (same.least_depth, same.min_cov, same.min_bq, same.level_of(False)) == (7, 7, 20, 0.5)


def test_the_same_sample_twice_is_refused() -> None:
    with pytest.raises(SycladeError, match="its sample 'example' is that of another file"):
        syclade.call(EXAMPLE / "reads.bam", EXAMPLE / "reference.fa", normal=EXAMPLE / "reads.bam")


def test_the_study_compares_with_lofreq(tmp_path: Path) -> None:
    """A program in place of LoFreq's, which calls nothing but one false variant."""
    lines = "##fileformat=VCFv4.0\nsimulated\t1\t.\tA\tC\t50\tPASS\t.\n"
    (tmp_path / "calls.vcf.gz").write_bytes(gzip.compress(lines.encode()))
    program = tmp_path / "lofreq"
    program.write_text(f'#!/bin/sh\ncp {tmp_path}/calls.vcf.gz "$9/somatic_final.snvs.vcf.gz"\n')
    program.chmod(0o755)
    result = somatic_study(lofreq=str(program), depths=[40], inputs=1, length=2000)
    own, other, _ = result.scores
    assert (other.right, other.false, other.calls, other.shared) == (0, 1, 1, 0)
    assert own.right > own.truth // 2
    assert own.germline == own.false == 0
    assert result.holds
    assert f"{own.right} of 30" in result.markdown()
    program.write_text("#!/bin/sh\necho no memory >&2; exit 3\n")
    with pytest.raises(OptionError, match="lofreq somatic failed: no memory"):
        somatic_study(lofreq=str(program), depths=[30], inputs=1, length=1000)


def test_the_study_writes_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = partial(somatic_study, depths=[30], length=1500)
    monkeypatch.setattr("syclade.quality.studies.somatic.api.somatic_study", small)
    result = CliRunner().invoke(studies, ["somatic", "--inputs", "1", "--out", str(tmp_path / "out")])
    assert result.exception is None, result.output
    (score,) = json.loads((tmp_path / "out" / "somatic.json").read_text())["results"]
    assert (score["depth"], score["program"], score["truth"]) == (30, "syclade", 30)
    assert f"| {score['right']} of 30 " in (tmp_path / "out" / "somatic.md").read_text()
