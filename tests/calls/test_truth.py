"""Simulated truth: variants with known frequencies are found, and nothing else; LoFreq's way finds the
same."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from syclade.host.calls.reference import BASES
from syclade.host.cli.main import cli
from syclade.quality.calls.simulation import Simulated, simulate_reads, write_reads


def called(folder: Path, *options: str) -> dict[tuple[int, str], tuple[float, str]]:
    """Return frequency and filter of each record, by position and alternative."""
    given = ["call", "--quiet", *options, "-f", str(folder / "reference.fa"), str(folder / "reads.bam")]
    result = CliRunner().invoke(cli, given, catch_exceptions=False)
    found = {}
    for line in result.stdout.splitlines():
        if not line.startswith("#"):
            words = line.split("\t")
            info = dict(word.split("=") for word in words[7].split(";"))
            found[int(words[1]), words[4]] = float(info["AF"]), words[6]
    return found


def truth_of(made: Simulated) -> dict[tuple[int, str], float]:
    return {(one.position + 1, BASES[one.alternative]): one.frequency for one in made.variants}


@pytest.mark.statistical
@pytest.mark.parametrize(("depth", "least"), [(300, 0.1), (1000, 0.03), (3000, 0.01)])
def test_variants_are_found_and_nothing_else(tmp_path: Path, depth: int, least: float) -> None:
    made = simulate_reads(900, depth, [least, 2 * least, 0.3, 0.6, 1.0], seed=depth)
    write_reads(made, tmp_path)
    found, truth = called(tmp_path), truth_of(made)
    assert found.keys() == truth.keys()
    for place, (frequency, _) in found.items():
        assert frequency == pytest.approx(truth[place], abs=4 * (0.25 / depth) ** 0.5)
    assert called(tmp_path, "--compat").keys() == {
        place for place, (_, passed) in found.items() if passed == "PASS"
    }


@pytest.mark.statistical
def test_without_variants_nothing_is_called(tmp_path: Path) -> None:
    write_reads(simulate_reads(900, 2000, [], seed=1), tmp_path)
    assert called(tmp_path) == {}


@pytest.mark.statistical
def test_reads_of_one_strand_have_their_variants(tmp_path: Path) -> None:
    made = simulate_reads(600, 200, [0.2, 1.0], seed=5, one_way=True)
    write_reads(made, tmp_path)
    found = called(tmp_path)
    assert found.keys() == truth_of(made).keys()
    assert {passed for _, passed in found.values()} == {"PASS"}
