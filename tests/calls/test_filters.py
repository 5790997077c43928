"""Filters of `syclade call`, and `syclade filter`, which applies them to a VCF."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import syclade
from syclade.host.calls.filter_calls import filter_vcf
from syclade.host.commands.main import cli
from syclade.host.ground.errors import OptionError, OutputError, ReadsError
from syclade.host.ground.options.calls import CallOptions, call_flag
from syclade.quality.calls.random_reads import write_random_reads

HEAD = (
    "##fileformat=VCFv4.2\n##contig=<ID=one,length=900>\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
)  # fmt: skip
PLAIN = "DP=50;AF=0.200000;SB=0;DP4=20,20,5,5"


def filtered(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["filter", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def vcf(folder: Path, *records: str) -> Path:
    """Write a VCF; records are FILTER and INFO, or INFO alone, of an SNV, or of a deletion with INDEL."""
    lines = []
    for at, record in enumerate(records, 1):
        state, _, info = record.rpartition(" ")
        ref = "AC" if "INDEL" in info else "A"
        lines.append(f"one\t{at}\t.\t{ref}\t{'A' if len(ref) > 1 else 'C'}\t60\t{state or '.'}\t{info}\n")
    path = folder / "calls.vcf"
    path.write_text(HEAD + "".join(lines))
    return path


def states(text: str) -> list[str]:
    return [line.split("\t")[6] for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("options", "info", "state"),
    [
        ({}, PLAIN, "PASS"),
        ({}, PLAIN.replace("DP=50", "DP=9"), "min_dp_10"),
        ({"min_dp": 51}, PLAIN, "min_dp_51"),
        ({"min_dp": 0}, PLAIN.replace("DP=50", "DP=1"), "PASS"),
        ({"no_default_filter": True}, PLAIN.replace("DP=50", "DP=1"), "PASS"),
        ({"max_dp": 49}, PLAIN, "max_dp_49"),
        ({"min_af": 0.2}, PLAIN, "PASS"),
        ({"min_af": 0.21}, PLAIN, "min_af_0.210000"),
        ({"min_af": 0.21}, PLAIN.replace("0.200000", "."), "min_af_0.210000"),
        ({"max_af": 0.19}, PLAIN, "max_af_0.190000"),
        ({"min_alt": 10}, PLAIN, "PASS"),
        ({"min_alt": 11}, PLAIN, "min_alt_11"),
        ({"min_alt": 11, "max_dp": 9}, PLAIN, "max_dp_9;min_alt_11"),
        ({"max_hrun": 4}, PLAIN + ";INDEL;HRUN=5", "max_hrun_4"),
        ({"max_hrun": 5}, PLAIN + ";INDEL;HRUN=5", "PASS"),
        ({"max_hrun": 1}, PLAIN, "PASS"),
        ({"max_sb": 40}, "DP=50;AF=0.2;SB=41;DP4=20,20,10,0", "max_sb_40"),
        ({"max_sb": 41}, "DP=50;AF=0.2;FS=41;DP4=20,20,10,0", "PASS"),
        ({"max_sb": 40}, "DP=50;AF=0.2;FS=40.001;DP4=20,20,10,0", "max_sb_40"),
        ({"max_sb": 40}, "DP=50;AF=0.2;SB=41;DP4=20,20,8,2", "PASS"),
        ({"max_sb": 40, "sb_no_compound": True}, "DP=50;AF=0.2;SB=41;DP4=20,20,8,2", "max_sb_40"),
        ({"max_sb": 40, "no_default_filter": True}, "DP=5;AF=0.2;SB=41;DP4=20,20,10,0", "max_sb_40"),
        ({"max_sb": 40}, "DP=50;AF=0.2;SB=41;DP4=20,20,10,0;INDEL;HRUN=1", "PASS"),
        (
            {"max_sb": 40, "sb_incl_indels": True},
            "DP=50;AF=0.2;SB=41;DP4=20,20,10,0;INDEL;HRUN=1",
            "max_sb_40",
        ),
        ({}, "DP=50;AF=0.2;SB=31;DP4=20,20,10,0", "sb_fdr"),
        ({}, "DP=50;AF=0.2;SB=30;DP4=20,20,10,0", "PASS"),
        ({"sb_alpha": 0.01}, "DP=50;AF=0.2;SB=21;DP4=20,20,10,0", "sb_fdr"),
        ({"min_alt": 11}, "low;old " + PLAIN, "low;old;min_alt_11"),
        ({}, "PASS " + PLAIN, "PASS"),
    ],
)
def test_each_filter(tmp_path: Path, options: dict[str, Any], info: str, state: str) -> None:
    path, words = vcf(tmp_path, info), []
    for name, value in options.items():
        words += [call_flag(name)] if value is True else [call_flag(name), value]
    text = filtered(path, *words).stdout
    assert states(text) == [state]
    for name in set(state.split(";")) - {"PASS", "low", "old"}:
        assert text.count(f"##FILTER=<ID={name},") == 1
    assert filter_vcf(path, CallOptions(**options, drop_filtered=True)).vcf.count("\none\t") == (
        state == "PASS"
    )


def test_the_false_discovery_rate_is_of_those_that_passed(tmp_path: Path) -> None:
    """Beside three others, a p-value of 10^-3.1 is not below a quarter of 0.001."""
    biased, even = "DP=50;AF=0.2;SB=31;DP4=20,20,10,0", PLAIN
    assert states(filtered(vcf(tmp_path, biased, even, even, even)).stdout)[0] == "PASS"
    assert states(filtered(vcf(tmp_path, biased, *[f"old {even}"] * 3)).stdout)[0] == "sb_fdr"


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with random reads, some of whose variants are biased or shallow."""
    folder = tmp_path_factory.mktemp("reads")
    write_random_reads(folder, 4, skips=0)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_af": 0.2, "min_alt": 9, "max_af": 0.8},
        {"max_hrun": 2, "max_dp": 120, "min_dp": 30},
        {"max_sb": 10, "sb_incl_indels": True, "sb_no_compound": True},
    ],
    ids=str,
)
def test_filtering_later_is_filtering_at_once(tmp_path: Path, reads: Path, options: dict[str, Any]) -> None:
    def called(**given: Any) -> syclade.Calls:
        return syclade.call(reads / "reads.bam", reads / "reference.fa", call_indels=True, **given)

    at_once, later = called(**options), called(no_default_filter=True)
    later.write(tmp_path / "calls.vcf.gz")
    found = filter_vcf(tmp_path / "calls.vcf.gz", CallOptions(**options))
    parts = [text.split("#CHROM") for text in (found.vcf, at_once.vcf)]
    assert parts[0][1] == parts[1][1]
    assert sorted(parts[0][0].splitlines()) == sorted(parts[1][0].splitlines())
    assert 0 < found.passed < found.records


def test_records_that_did_not_pass_before_are_counted(tmp_path: Path) -> None:
    """Also those that pass the new filters."""
    few = PLAIN.replace("DP=50", "DP=9")
    path = vcf(tmp_path, PLAIN, few, f"in_normal {PLAIN}", f"in_normal {few}")
    said = filtered(path, "-o", tmp_path / "out.vcf").stderr
    assert "1 of 4 records pass; rejected: 2 min_dp_10, 1 by filters of the given VCF; wrote" in said


def test_a_filtered_vcf_is_written_with_its_index(tmp_path: Path) -> None:
    path, out = vcf(tmp_path, PLAIN, PLAIN.replace("DP=50", "DP=9")), tmp_path / "out.vcf.gz"
    result = filtered(path, "-o", out)
    assert "1 of 2 records pass; rejected: 1 min_dp_10; wrote" in result.stderr
    assert gzip.decompress(out.read_bytes()).decode() == filtered(path).stdout
    assert (tmp_path / "out.vcf.gz.tbi").exists()
    assert json.loads(filtered(path, "-o", out, "--force", "--json").stdout) == {
        "records": 2, "passed": 1, "rejected": {"min_dp_10": 1}, "rejected_before": 0,
        "files": [str(out), f"{out}.tbi"],
    }  # fmt: skip
    with pytest.raises(OutputError, match="already has"):
        filtered(path, "-o", out)
    with pytest.raises(OutputError, match="would be overwritten"):
        filtered(path, "-o", path, "--force")


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        ("AF=0.2;SB=0;DP4=1,1,1,1", {}, r":4.* INFO has no DP, which --min-dp \(10 unless"),
        ("DP=20;SB=0;DP4=1,1,1,1", {"min_af": 0.1}, "INFO has no AF, which --min-af needs"),
        ("DP=20;AF=0.1;DP4=1,1,1,1", {}, "INFO has no FS or SB"),
        ("DP=20;AF=0.1;SB=1", {}, "INFO has no DP4"),
        ("DP=20;AF=0.1;SB=1;DP4=1,2,3", {}, "DP4 is '1,2,3', not four counts"),
        ("DP=x;AF=0.1;SB=1;DP4=1,2,3,4", {}, "DP is 'x', not a number"),
        ("DP=nan;AF=0.1;SB=1;DP4=1,2,3,4", {}, "DP is 'nan', not a number"),
        ("DP=20;AF=0.1;SB=inf;DP4=1,2,3,4", {}, "SB is 'inf', not a number"),
        (PLAIN + ";INDEL", {"max_hrun": 3}, "INFO has no HRUN"),
    ],
)
def test_a_record_without_what_a_filter_needs_is_named(
    tmp_path: Path, record: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReadsError, match=message):
        filter_vcf(vcf(tmp_path, record), CallOptions(**options))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("one\t5\t.\tA\tC,G\t9\t.\tDP=20", "several alternatives"),
        ("one\t5\t.\tA\tC\t9", "not a record of a VCF"),
        ("one\tx\t.\tA\tC\t9\t.\tDP=20", "not a record of a VCF"),
    ],
)
def test_what_is_no_record_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "calls.vcf").write_text(HEAD + line + "\n")
    with pytest.raises(ReadsError, match=message):
        filter_vcf(tmp_path / "calls.vcf", CallOptions())


def test_the_help_names_options_that_the_command_has() -> None:
    shown = CliRunner().invoke(cli, ["filter", "--help"]).output
    assert "auto: 10, with --no-default-filter" in " ".join(shown.split())
    assert "--normal" not in shown


def test_python_filters_as_the_command(tmp_path: Path) -> None:
    path = vcf(tmp_path, PLAIN, PLAIN.replace("DP=50", "DP=9"), f"old {PLAIN}")
    for options in ({}, {"max_dp": 49}, {"min_af": 0.3, "drop_filtered": True}):
        found = syclade.filter_calls(path, **options)
        words = [
            call_flag(name) if value is True else f"{call_flag(name)}={value}"
            for name, value in options.items()
        ]
        assert found.vcf == filtered(path, *words).stdout
        assert found.passed == states(found.vcf).count("PASS")
    found = syclade.filter_calls(str(path))
    assert (found.records, found.passed, found.rejected, found.before) == (3, 1, {"min_dp_10": 1}, 1)
    assert "AF=" not in repr(found)
    files = found.write(tmp_path / "out.vcf.gz")
    assert [one.name for one in files] == ["out.vcf.gz", "out.vcf.gz.tbi"]
    assert gzip.decompress(files[0].read_bytes()).decode() == found.vcf
    with pytest.raises(OutputError, match="out"):
        found.write(tmp_path / "out.vcf.gz")
    with pytest.raises(OutputError, match="the VCF"):
        found.write(path, force=True)
    with pytest.raises(OptionError, match="there is no option 'min_bq'"):
        syclade.filter_calls(path, min_bq=3)


@pytest.mark.parametrize("text", ["", "##fileformat=VCFv4.2\n", HEAD.replace("#CHROM", "##CHROM")])
def test_a_part_of_a_vcf_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "calls.vcf").write_text(text)
    with pytest.raises(ReadsError, match="the file has no line #CHROM"):
        filter_vcf(tmp_path / "calls.vcf", CallOptions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_dp": 9, "max_dp": 8}, "--min-dp 9 is above --max-dp 8"),
        ({"min_af": 0.9, "max_af": 0.1}, "--min-af 0.9 is above --max-af 0.1"),
        ({"min_af": -0.1}, "--min-af is -0.1"),
        ({"sb_alpha": 0.5, "max_sb": 9}, "--sb-alpha has no effect with --max-sb"),
        ({"sb_no_compound": True, "no_default_filter": True}, "--sb-no-compound has no effect with"),
        ({"min_alt": 2, "compat": True}, "--min-alt does not go with --compat"),
    ],
)
def test_nonsense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        CallOptions(**options)
