"""`syclade quality calls`: random reads, and the comparison with a program that stands in for LoFreq."""

from __future__ import annotations

import json
from pathlib import Path

import pysam
import pytest

from syclade.host.calls.reference import Reference
from syclade.host.commands.main import main
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.calls import OWN_OPTIONS
from syclade.quality.calls import beside_lofreq as module
from syclade.quality.calls.beside_lofreq import BesideLoFreq, beside_lofreq, difference_of
from syclade.quality.calls.random_reads import CONTIGS, write_random_reads
from syclade.quality.calls.settings import SETTINGS, Setting

PROGRAM = """#!/bin/sh
case $1 in
version) echo "version: 2.1.5" ;;
call) cat "{vcf}" ;;
indelqual) cp "$7" "$6" ;;
alnqual) cat "$3" ;;
esac
"""
FEW = (Setting(), Setting((("call_indels", True),), reads="alnqual"), Setting(region="first:1-20"))


def program(folder: Path, records: str) -> str:
    """Return a program that writes the same records for all reads."""
    vcf, path = folder / "stored.vcf", folder / "lofreq"
    vcf.write_text(f"##fileformat=VCFv4.0\n{records}")
    path.write_text(PROGRAM.format(vcf=vcf))
    path.chmod(0o755)
    return str(path)


def test_random_reads_have_what_reads_can_have(tmp_path: Path) -> None:
    path = write_random_reads(tmp_path, 7)
    with pysam.AlignmentFile(str(path)) as file:
        reads = list(file)
        assert dict(zip(file.references, file.lengths, strict=True)) == CONTIGS
    operations = {operation for read in reads for operation, _ in read.cigartuples or ()}
    assert operations == {0, 1, 2, 3, 4, 5}
    assert {read.is_reverse for read in reads} == {read.is_proper_pair for read in reads} == {True, False}
    assert any(read.is_duplicate for read in reads)
    assert dict(Reference(tmp_path / "reference.fa").lengths) == CONTIGS
    with pysam.AlignmentFile(str(tmp_path / "tagged.bam")) as file:
        assert all(len(str(read.get_tag("BI"))) == read.query_length for read in file)


def test_a_seed_gives_the_same_reads(tmp_path: Path) -> None:
    texts = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        texts.append(pysam.view(str(write_random_reads(folder, 3, skips=0))))
    assert texts[0] == texts[1]
    assert not (tmp_path / "0" / "tagged.bam").exists()


def test_records_are_equal_missing_extra_or_changed() -> None:
    def record(position: int, quality: int) -> tuple[str, ...]:
        return "c", str(position), ".", "A", "C", str(quality), "PASS", "DP=10"

    theirs = [record(1, 50), record(2, 60), record(3, 70)]
    own = [record(1, 50), record(3, 71), record(4, 80)]
    found = difference_of(theirs, own, "reads", Setting())
    assert found.missing == (theirs[1],)
    assert found.extra == (own[2],)
    assert found.changed == ((theirs[2], own[1]),)
    assert not BesideLoFreq("", (found,)).holds
    equal = difference_of(theirs, theirs, "reads", Setting())
    assert BesideLoFreq("", (equal,)).holds
    assert not BesideLoFreq("", (difference_of((), (), "reads", Setting()),)).holds
    table = BesideLoFreq("", (found, equal)).markdown()
    assert [word.strip() for word in table.splitlines()[2].split("|")[1:-1]] == [
        "`none`", "reads", "2", "6", "4", "1", "1", "1",
    ]  # fmt: skip


def test_the_command_compares_and_writes_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "SETTINGS", FEW)
    lofreq = program(tmp_path, "first\t1\t.\tA\tC\t50\tPASS\tDP=1\n")
    with pytest.raises(SystemExit) as ended:
        main(["quality", "calls", "--lofreq", lofreq, "--inputs=1", "--seed=2", f"--out={tmp_path / 'out'}"])
    assert ended.value.code == 1
    report = json.loads((tmp_path / "out" / "calls.json").read_text())
    assert [one["setting"] for one in report["settings"]] == ["none", "--call-indels", "-r"]
    assert [len(one["missing"]) for one in report["settings"]] == [1, 1, 1]
    assert len(report["settings"][0]["extra"]) > 0
    assert (tmp_path / "out" / "calls.md").read_text() in capsys.readouterr().out


def test_given_reads_are_compared_without_regions(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    path = write_random_reads(made, 2, skips=0)
    found = beside_lofreq(program(tmp_path, ""), given=[path], reference=made / "reference.fa", settings=FEW)
    assert [one.setting for one in found.differences] == ["none", "--call-indels"]
    assert not any(one.missing or one.changed for one in found.differences)


@pytest.mark.parametrize(("text", "said"), [("#!/bin/sh\necho version: 2.1.4\n", "version: 2.1.4"), ("", "")])
def test_other_programs_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    path.chmod(0o755 if text else 0o644)
    with pytest.raises(OptionError, match=r"is not LoFreq 2\.1\.5|cannot be run") as caught:
        beside_lofreq(str(path), inputs=1)
    assert said in str(caught.value)


def test_a_failure_of_lofreq_is_told(tmp_path: Path) -> None:
    path = Path(program(tmp_path, ""))
    path.write_text(path.read_text().replace("call) cat", "call) echo no memory >&2; exit 3; cat"))
    with pytest.raises(OptionError, match="LoFreq failed: no memory"):
        beside_lofreq(str(path), inputs=1, settings=FEW)


def test_each_option_that_changes_records_is_compared() -> None:
    compared = {name for setting in SETTINGS for name, _ in setting.given}
    assert compared | set(OWN_OPTIONS) == set(Setting().options.table)
    assert not compared & set(OWN_OPTIONS)
