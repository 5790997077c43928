"""Simulated reads: their distribution, the files of a simulation, and their likelihoods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.simulate import simulate
from syclade.host.data.model.simulate_reads import ReadModel, SimulatedReads, genotype_phred, simulate_reads
from syclade.host.ground.errors import OptionError

BINOMIAL = {"overdispersion": 0.0, "error_overdispersion": 0.0}


def made(seed: int = 3, model: dict[str, Any] | None = None, **options: Any) -> SimulatedReads:
    given: dict[str, Any] = {"cells": 300, "mutations": 60, "missing": 0.0, "fp_rate": 0.1, "fn_rate": 0.1}
    return simulate_reads(simulate(**given | options, seed=seed), ReadModel(**model or {}), seed)


def test_distribution_of_reads() -> None:
    """Depth, lost alleles and errors have the frequencies of the model; all are within 5 standard errors."""
    simulated = made(model={"depth": 12.0, "allelic_dropout": 0.3, "seq_error": 0.02} | BINOMIAL)
    truth, reads = simulated.made.truth.astype(np.bool_), simulated.reads
    alternate, total = reads.alternate[truth], reads.total[truth]
    empty = 0.3**2 + 0.7 * 1.3 * (2 / 14) ** 2  # of the negative binomial of shape 2
    assert abs((reads.total == 0).mean() - empty) < 5 * np.sqrt(empty / reads.total.size)
    left = reads.total[reads.total > 0].mean() * (1 - (2 / 14) ** 2)
    assert abs(left - 12) < 5 * np.sqrt((12 + 72) / reads.total.size)
    wild = reads.alternate[~truth].sum() / reads.total[~truth].sum()
    assert abs(wild - 0.02) < 5 * np.sqrt(0.02 / reads.total[~truth].sum())
    deep = total > 20
    few, all_of_them = (
        (alternate[deep] < 0.25 * total[deep]).mean(),
        (alternate[deep] > 0.75 * total[deep]).mean(),
    )
    for share in (few, all_of_them):  # one allele is lost, of those where one is left; and tails of halves
        assert abs(share - 0.3 / 1.3) < 0.02 + 5 * np.sqrt(0.25 / deep.sum())
    spread = made(model={"depth": 60.0, "allelic_dropout": 0.0, "overdispersion": 0.1}).reads
    half = (spread.alternate / np.maximum(spread.total, 1))[(spread.total > 40) & truth]
    assert abs(half.var() - 0.25 * (0.1 + 0.9 / 70)) < 0.006


def test_the_same_seed_has_the_tree_of_calls_and_other_reads() -> None:
    one, again, other = made(), made(), made(seed=4)
    calls = simulate(300, 60, 0.1, 0.1, 0.0, 3)
    assert one.reads.sha256 == again.reads.sha256 != other.reads.sha256
    np.testing.assert_array_equal(one.made.parents, calls.parents)
    np.testing.assert_array_equal(one.made.attachments, calls.attachments)


def test_doublets_missing_values_and_mutations_without_information() -> None:
    simulated = made(
        doublets=0.5, missing=0.2, unplaced=2, model={"allelic_dropout_range": (0.1, 0.4), "seq_error": 0.0}
    )
    reads, truth = simulated.reads, simulated.made.truth
    assert not reads.alternate[truth == 0].any()
    hidden = reads.total[list(simulated.made.unplaced)]
    assert sorted((row > 0).any() for row in hidden) == [False, True]
    assert not reads.alternate[list(simulated.made.unplaced)].any()
    assert 0.1 <= simulated.dropout.min() < 0.15 < 0.35 < simulated.dropout.max() <= 0.4
    assert (reads.total == 0).mean() > 0.2
    quarter = (reads.alternate / np.maximum(reads.total, 1))[(reads.total > 15) & (truth == 1)]
    partner = (simulated.made.partners >= 0)[np.nonzero((reads.total > 15) & (truth == 1))[1]]
    assert quarter[partner].mean() < quarter[~partner].mean() - 0.05


def test_phred_likelihoods_are_those_of_the_model() -> None:
    """Of reads without overdispersion, by hand; deep ones are cut off, and no reads say nothing."""
    simulated = made(cells=8, mutations=5, model={"allelic_dropout": 0.2, "seq_error": 0.01} | BINOMIAL)
    phred, reads = genotype_phred(simulated), simulated.reads
    a, n, lost = reads.alternate, reads.total, 0.2 / 1.2
    wild, half, both = (share**a * (1.0 - share) ** (n - a) for share in (0.01, 0.5, 0.99))
    logs = -10 * np.log10(np.stack((wild, (1 - 2 * lost) * half + lost * (wild + both), both), axis=2))
    expected = np.minimum(np.rint(logs - logs.min(axis=2, keepdims=True)), 255)
    np.testing.assert_array_equal(phred, expected)
    assert not phred[n == 0].any()
    deep = made(cells=8, mutations=5, model={"depth": 1e6})
    assert genotype_phred(deep).max() == 255


def test_files_read_back_give_the_same_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder itself, the VCF, cellsnp-lite's files and AnnData; IDs are the names of the true tree."""
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    sizes = "--cells 9 --mutations 6 --missing 0.1 --seed 2"
    command = f"simulate --reads --depth 5 --allelic-dropout-range 0.1 0.3 {sizes} --out"
    done = CliRunner().invoke(cli, [*command.split(), str(tmp_path)])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "simulation.json").read_text())
    assert (report["depth"], report["seq_error"], len(report["allelic_dropouts"])) == (5.0, 0.01, 6)
    assert not {"log_likelihood", "fp_rate"} & report.keys()
    given = simulate_reads(
        simulate(9, 6, 0.01, 0.1, 0.1, 2), ReadModel(depth=5.0, allelic_dropout_range=(0.1, 0.3)), 2
    )
    options: tuple[tuple[Path, dict[str, Any]], ...] = (
        (tmp_path, {}),
        (tmp_path, {"format": "cellsnp", "name_by": "id"}),
        (tmp_path / "reads.vcf", {"name_by": "id"}),
        (tmp_path / "reads.h5ad", {"layer": "AD", "total_layer": "DP"}),
        (
            tmp_path / "alternate.tsv",
            {"format": "tsv", "rows": "mutations", "total_reads": tmp_path / "total.tsv"},
        ),
    )
    found: list[Matrix] = []
    for path, how in options:
        if path.suffix == ".h5ad":
            pytest.importorskip("anndata")
        found.append(syclade.read_matrix(path, evidence="reads", **how))
    for matrix in found:
        assert isinstance(matrix.evidence, Reads)
        assert matrix.evidence.sha256 == given.reads.sha256
        assert matrix.mutations == given.made.matrix.mutations
    assert found[0].values.tobytes() == given.made.matrix.values.tobytes()
    likely = syclade.read_matrix(tmp_path / "reads.vcf", evidence="likelihoods").evidence
    assert isinstance(likely, Likelihoods)
    sure = np.abs(likely.log_odds) > 3
    assert ((likely.log_odds > 0) == given.made.truth)[sure].mean() > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--depth 3", "--depth without --reads"),
        ("--seq-error 0.1", "--seq-error without --reads"),
        ("--reads --fp-rate 0.1", "--fp-rate does not go with --reads"),
        ("--reads --fn-range 0.1 0.2", "--fn-range does not go with --reads"),
        (
            "--reads --allelic-dropout 0.1 --allelic-dropout-range 0.1 0.2",
            "--allelic-dropout and --allelic-dropout-range are both given",
        ),
        ("--reads --depth 0", "depth is 0"),
        ("--reads --depth nan", "depth is nan"),
        ("--reads --allelic-dropout 1", "allelic_dropout is 1"),
        ("--reads --allelic-dropout-range 0.3 0.2", "allelic_dropout is 0.2"),
        ("--reads --seq-error 0.5", "seq_error is 0.5"),
        ("--reads --overdispersion 1", "overdispersion is 1"),
        ("", "--fp-rate is missing"),
    ],
)
def test_refused_options(tmp_path: Path, options: str, words: str) -> None:
    done = CliRunner().invoke(
        cli, ["simulate", "--cells", "3", "--mutations", "3", *options.split(), "--out", str(tmp_path / "x")]
    )
    written = str(done.exception) + done.output
    assert isinstance(done.exception, (OptionError, SystemExit, syclade.SycladeError))
    assert words in written
    assert not (tmp_path / "x").exists()
