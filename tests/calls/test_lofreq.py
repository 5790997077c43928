"""With --compat, LoFreq 2.1.5's records: equal from CHROM to INFO on every set of reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pysam
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.device.choice import choose_device

LONG = [
    ("d1k", "default"), ("d1k", "nofilter"), ("vpipe_mt007544", "nofilter"), ("a200k", "default"),
    ("czb_artic1", "default"),
]  # fmt: skip
"""Sets with these options are large, and `make test` has each of the options on other sets, and all sets.

The records of czb_artic1 by default are also those of the default mode that pass: a test below compares them.
"""

SETS = [
    pytest.param(name, kind, id=f"{name}.{kind}", marks=[pytest.mark.verification] * ((name, kind) in LONG))
    for name in ("hg00100", "czb_artic1", "vpipe_mt007544", "d1k", "a200k")
    for kind in ("default", "noBAQ", "nofilter")
    if (name, kind) != ("a200k", "nofilter")
]
OPTIONS = {"default": [], "noBAQ": ["-B"], "nofilter": ["--no-default-filter"]}


@pytest.fixture(scope="module")
def reads_of(shared_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the function that gives the reads of a set.

    Those of hg00100 name the MD5 of the whole chromosome, of which the reference is a part: it is left out.
    """
    made = tmp_path_factory.mktemp("reads")

    def of(name: str) -> Path:
        path = shared_dir / "variants" / f"{name}.bam"
        with pysam.AlignmentFile(str(path)) as reads:
            header = reads.header.to_dict()
            if not any("M5" in contig for contig in header["SQ"]):
                return path
            for contig in header["SQ"]:
                contig.pop("M5", None)
            with pysam.AlignmentFile(str(made / path.name), "wb", header=header) as out:
                for read in reads:
                    out.write(read)
        pysam.index(str(made / path.name))
        return made / path.name

    return of


def records(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.shared
@pytest.mark.parametrize(("name", "kind"), SETS)
def test_records_are_lofreqs(shared_dir: Path, reads_of: Callable[[str], Path], name: str, kind: str) -> None:
    folder = shared_dir / "variants"
    reference = folder / ("human17.fasta" if name == "hg00100" else "MN908947.3.fasta")
    given = ["call", "--compat", "--quiet", "-f", reference, *OPTIONS[kind], reads_of(name)]
    result = CliRunner().invoke(cli, [str(one) for one in given], catch_exceptions=False)
    expected = records((folder / f"{name}.{kind}.vcf").read_text())
    assert records(result.stdout) == expected
    assert len(expected) > 5


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "stored"),
    [
        pytest.param("hg00100", False, id="hg00100-computed"),
        pytest.param("hg00100", True, id="hg00100-stored"),
        pytest.param("czb_artic1", False, id="czb_artic1-computed"),
        pytest.param("czb_artic1", True, id="czb_artic1-stored", marks=pytest.mark.verification),
        pytest.param("vpipe_mt007544", False, id="vpipe_mt007544-computed", marks=pytest.mark.verification),
        pytest.param("vpipe_mt007544", True, id="vpipe_mt007544-stored"),
    ],
)
def test_records_with_indels_are_lofreqs(
    shared_dir: Path, reads_of: Callable[[str], Path], name: str, stored: bool
) -> None:
    """LoFreq needs reads with the qualities of `indelqual`; here they are computed where they are not
    stored."""
    folder = shared_dir / "variants"
    reference = folder / ("human17.fasta" if name == "hg00100" else "MN908947.3.fasta")
    reads = reads_of(f"{name}{'.dindel' if stored else ''}")
    given = ["call", "--compat", "--call-indels", "--quiet", "-f", reference, reads]
    result = CliRunner().invoke(cli, [str(one) for one in given], catch_exceptions=False)
    text = (folder / f"{name}.indel.vcf").read_text()
    assert records(result.stdout) == records(text)
    limits = [line for line in text.splitlines() if line.startswith("##FILTER=<ID=min_")]
    assert [line for line in result.stdout.splitlines() if line.startswith("##FILTER=<ID=min_")] == limits
    assert sum("INDEL" in line for line in records(text)) > (0 if name == "hg00100" else 100)


def on(device: str, name: str, kind: str, *, brief: bool = False) -> Any:
    """Return a parameter of the test below; only brief ones belong to `make test`."""
    marks = [] if brief else [pytest.mark.verification]
    marks += [pytest.mark.sycl] if device in ("cpu", "fpga-emu") else []
    marks += [pytest.mark.emulator] if device == "fpga-emu" else []
    return pytest.param(device, name, kind, marks=marks, id=f"{device}-{name}.{kind}")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("device", "name", "kind"),
    [
        on("cpu", "hg00100", "indel", brief=True),
        on("fpga-emu", "hg00100", "indel", brief=True),
        on("numpy", "hg00100", "indel", brief=True),
        on("cpu", "vpipe_mt007544", "indel", brief=True),
        *(on(device, "vpipe_mt007544", "indel") for device in ("fpga-emu", "numpy")),
        *(on(device, "czb_artic1", "indel") for device in ("cpu", "fpga-emu")),
        *(on(device, name, "default") for device in ("cpu", "fpga-emu") for name in ("d1k", "a200k")),
    ],
)
def test_records_of_devices_are_lofreqs(
    shared_dir: Path, reads_of: Callable[[str], Path], device: str, name: str, kind: str
) -> None:
    """The device that was requested computes all alignment qualities and tests."""
    folder = shared_dir / "variants"
    reference = folder / ("human17.fasta" if name == "hg00100" else "MN908947.3.fasta")
    given = ["call", "--compat", "--json", "--quiet", "-f", reference, "--device", device]
    given += ["--call-indels"] if kind == "indel" else []
    result = CliRunner().invoke(cli, [*map(str, given), str(reads_of(name))], catch_exceptions=False)
    assert records(result.stdout) == records((folder / f"{name}.{kind}.vcf").read_text())
    work = json.loads(result.stderr)["work"]
    units = ["reads", "gaps", "columns"] if kind == "indel" else ["reads", "columns"]
    assert sorted(one["unit"] for one in work) == sorted(units)
    assert {one["device"] for one in work} == {choose_device(device).filter}


@pytest.mark.shared
def test_without_alignment_qualities_of_gaps_records_differ(shared_dir: Path) -> None:
    folder = shared_dir / "variants"
    given = ["call", "--compat", "--call-indels", "-A", "--quiet", "-f", folder / "MN908947.3.fasta"]
    result = CliRunner().invoke(
        cli, [*map(str, given), str(folder / "vpipe_mt007544.bam")], catch_exceptions=False
    )
    text = (folder / "vpipe_mt007544.indel.vcf").read_text()
    assert records(result.stdout) != records(text)


@pytest.mark.shared
def test_the_default_mode_has_lofreqs_records_and_more(shared_dir: Path) -> None:
    """Records that pass are LoFreq's; others are tagged, and all have a sample column."""
    folder = shared_dir / "variants"
    given = ["call", "--quiet", "-f", folder / "MN908947.3.fasta", folder / "czb_artic1.bam"]
    result = CliRunner().invoke(cli, [str(one) for one in given], catch_exceptions=False)
    found = [line.split("\t") for line in records(result.stdout)]
    lofreq = {
        tuple(line.split("\t")[:6]) for line in records((folder / "czb_artic1.default.vcf").read_text())
    }
    assert {tuple(words[:6]) for words in found if words[6] == "PASS"} == lofreq
    assert len(found) == 43
    assert all(len(words) == 10 for words in found)
