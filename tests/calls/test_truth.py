"""Simulated truth: variants with known frequencies are found, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.calls.reference import BASES
from syclade.host.commands.main import cli
from syclade.quality.calls.random_reads import random_indels, repetitive_reference
from syclade.quality.studies.calls.indels import write_indel_reads
from syclade.quality.studies.calls.simulation import Simulated, simulate_reads, write_reads


def called(folder: Path, *options: str) -> dict[tuple[int, str], tuple[float, str]]:
    """Return frequency and filter of each record, by position and alternative."""
    given = ["call", "--quiet", *options, "-f", str(folder / "reference.fa"), str(folder / "reads.bam")]
    result = CliRunner().invoke(cli, given, catch_exceptions=False)
    found = {}
    for line in result.stdout.splitlines():
        if not line.startswith("#"):
            words = line.split("\t")
            info = dict(word.split("=") for word in words[7].split(";") if "=" in word)
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


def indels_called(folder: Path, depth: int, frequencies: list[float], errors: float, *options: str) -> Any:
    """Return the simulated indels as (position, deleted, inserted), and those called with their frequency."""
    rng = np.random.default_rng(depth)
    reference = repetitive_reference(800, rng)
    indels = random_indels(reference, frequencies, rng)
    write_indel_reads(reference, indels, depth, folder, seed=depth, errors=errors)
    given = ["-f", str(folder / "reference.fa"), str(folder / "reads.bam")]
    result = CliRunner().invoke(
        cli, ["call", "--quiet", "--call-indels", *options, *given], catch_exceptions=False
    )
    truth = {
        (one.position + 1, one.deleted, "".join(BASES[base] for base in one.inserted)): one.frequency
        for one in indels
    }
    found = {}
    for line in result.stdout.splitlines():
        if not line.startswith("#"):
            words = line.split("\t")
            info = dict(word.split("=") for word in words[7].split(";") if "=" in word)
            found[int(words[1]), len(words[3]) - 1, words[4][1:]] = float(info["AF"])
    return truth, found


@pytest.mark.statistical
@pytest.mark.parametrize(("depth", "least"), [(300, 0.08), (1000, 0.03), (3000, 0.01)])
def test_indels_are_found_and_nothing_else(tmp_path: Path, depth: int, least: float) -> None:
    """Insertions and deletions in turns, of one to six bases; none is in the first or last bases of reads."""
    truth, found = indels_called(tmp_path, depth, [least, 2 * least, 0.3, 0.6], 1.0)
    assert found.keys() == truth.keys()
    for place, frequency in found.items():
        assert frequency == pytest.approx(0.83 * truth[place], abs=4 * (0.25 / depth) ** 0.5)


@pytest.mark.statistical
def test_errors_of_sequencers_are_no_indels(tmp_path: Path) -> None:
    """If they are as frequent as the model says, not if they are thirty times as frequent."""
    _, found = indels_called(tmp_path, 2000, [], 1.0)
    assert found == {}
    _, found = indels_called(tmp_path, 2000, [], 30.0)
    assert len(found) > 5
