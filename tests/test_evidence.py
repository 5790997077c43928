"""Inference with evidence in place of calls."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.figures.source import files_in_memory
from syclade.host.answer.output.result_files import multiqc_row
from syclade.host.answer.report.page import report_of
from syclade.host.answer.report.summary import quality_of
from syclade.host.chains.plan import make_plan
from syclade.host.chains.scores.score import all_attachments
from syclade.host.chains.search import find_tree
from syclade.host.chains.search.policy import expected_gain
from syclade.host.commands.main import cli
from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.levels import Levels, absent_logs, levels_of, log_odds_of
from syclade.host.data.model.likelihood import log_likelihood, summed_log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.reads import PARAMETERS, ReadLikelihood, fit_reads
from syclade.host.data.model.simulate import simulate
from syclade.host.data.model.simulate_reads import ReadModel as SimulatedModel
from syclade.host.data.model.simulate_reads import SimulatedReads, simulate_reads
from syclade.host.data.trees.cells import clades
from syclade.host.device.choice import choose_device
from syclade.host.findings import estimated_rates, weighed_matrix
from syclade.host.findings.evidence import EvidenceFinding
from syclade.host.findings.finding import CELLS, MUTATIONS, RESULT
from syclade.host.ground.errors import CheckpointError, MatrixError, OptionError, RatesError
from syclade.host.ground.signals import Stop
from syclade.quality.posterior.check import judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import make_target
from tests.golden.commands import call
from tests.support.evidence import random_evidence

FP, FN = 0.01, 0.2


def both(cells: int = 60, mutations: int = 14) -> tuple[Matrix, Matrix]:
    """Return calls, and the same as likelihoods."""
    calls = simulate(cells, mutations, FP, FN, 0.1, 3).matrix
    odds = Rates(FP, FN).weights()[calls.values]
    return calls, replace(calls, evidence=Likelihoods(odds))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"score": "sum", "steps": 500, "chains": 2, "samples": 20},
        {"score": "shares", "steps": 500, "chains": 2, "samples": 20},
        {"tree": "leaf", "steps": 500, "chains": 2},
        {"doublets": "learn", "steps": 300, "chains": 2},
        {"recurrent": "M3", "doublets": 0.1, "steps": 300, "chains": 2},
        {"recurrent": "M3", "max_trees": None, "steps": 300, "chains": 2},
    ],
)
def test_calls_as_likelihoods_give_the_same_bits(options: dict[str, Any]) -> None:
    calls, likelihoods = both()
    one = syclade.infer(calls, fp_rate=FP, fn_rate=FN, seed=5, device="native", **options)
    other = syclade.infer(likelihoods, seed=5, device="native", **options)
    assert isinstance(other.model, Levels)
    assert other.model.exact
    assert np.array_equal(one.parents, other.parents)
    assert np.array_equal(one.assignment.node, other.assignment.node)
    assert np.array_equal(one.assignment.ties, other.assignment.ties)
    assert one.moves == other.moves
    # Probabilities of both states add up to 1 in each entry, which adds a constant to log-likelihoods.
    known = calls.values != 3
    odds = log_odds_of(other.observed)[: len(known)][known]
    constant = (
        -np.logaddexp(0.0, odds).sum() - np.where(calls.values[known] == 1, np.log(FP), np.log1p(-FP)).sum()
    )
    assert other.log_likelihood - one.log_likelihood == pytest.approx(constant, abs=1e-8)
    for column in (column for finding in other.findings for column in finding.columns()):
        sizes = {CELLS: len(other.cells), MUTATIONS: len(other.mutations)}
        assert column.of == RESULT or len(column.values) == sizes[column.of]
    if one.samples is not None:
        assert other.samples is not None
        lines = [[line.split()[1:] for line in of.lines()] for of in (one.samples, other.samples)]
        assert lines[0] == lines[1]
    if not options:
        assert one.support is not None
        assert other.support is not None
        assert np.array_equal(one.support.edges, other.support.edges)
        assert np.array_equal(one.support.trees, other.support.trees)
        np.testing.assert_allclose(one.support.cells, other.support.cells, atol=1e-12)
        assert one.consensus is not None
        assert other.consensus is not None
        assert np.array_equal(one.consensus.tree.parents, other.consensus.tree.parents)


def test_searches_and_the_log_likelihood_are_of_the_evidence_and_not_of_its_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weighed_matrix, "levels_of", partial(levels_of, most=12))
    matrix, _ = random_evidence(30, 60, 2)
    found = syclade.infer(matrix, support="none", seed=1)
    assert isinstance(found.model, Levels)
    assert found.model.mean_error > 0.1
    exact = log_likelihood(matrix, found.model, found.parents)
    assert found.log_likelihood == exact
    assert max(search.log_likelihood for search in found.searches) == pytest.approx(exact, abs=0.01)


def test_searches_end_where_as_many_again_would_hardly_gain() -> None:
    """They say so, and the answer says by how much; no chains follow for a cell tree that is as likely."""
    matrix, _ = random_evidence(60, 90, 6)
    weak = replace(matrix, evidence=Likelihoods(log_odds_of(matrix) / 4.0))
    found = syclade.infer(weak, tree="leaf", support="none", seed=1)
    assert not found.converged
    scores = [one.log_likelihood for one in found.searches]
    assert found.agreeing == sum(score > max(scores) - 0.05 for score in scores)
    assert any(
        words.endswith(f"may find a better one, by {expected_gain(scores):.2f} nats on the mean")
        for words in found.warnings
    )
    assert expected_gain(scores) < 1.0


@pytest.mark.parametrize("options", [{}, {"tree": "leaf"}, {"recurrent": 3}])
def test_places_are_best_by_the_evidence_and_not_by_its_levels(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few levels, many best places by levels are not the best ones."""
    monkeypatch.setattr(weighed_matrix, "levels_of", partial(levels_of, most=3))
    matrix, _ = random_evidence(12, 60, 2)
    found = syclade.infer(matrix, support="none", seed=1, steps=2000, chains=2, **options)
    assert isinstance(found.model, Levels)
    assert not found.model.exact
    assert found.log_likelihood == pytest.approx(found.assignment.log_likelihood.sum(), abs=1e-6)
    if "tree" not in options:
        return
    odds = log_odds_of(found.observed)
    best = (clades(found.parents).astype(float) @ odds.T).max(axis=0) + absent_logs(odds).sum(axis=1)
    np.testing.assert_allclose(found.assignment.log_likelihood, best, atol=1e-6)


def test_chains_sample_the_posterior_of_the_evidence() -> None:
    """The posterior of chains is that of the log odds; a chain of the calls samples another."""
    matrix, _ = random_evidence(4, 8, 1)
    weak = replace(matrix, evidence=Likelihoods(log_odds_of(matrix) / 2.0))
    levels = syclade.infer(weak, steps=1, chains=1, device="numpy").model
    problem = make_problem(weak, levels, octaves=True)
    assert problem.classes > 20
    target = make_target(make_plan(problem, score=all_attachments(problem)))
    logs = np.array([summed_log_likelihood(weak, levels, np.array(tree)) for tree in target.trees])
    posterior = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(target.posterior, posterior, rtol=2e-3)
    device = choose_device("native")
    assert judge(target, sample_chain(target, device, "preorder", 5000, seed=1, slots=512)).holds
    calls = make_problem(weak, Rates(0.1, 0.3), octaves=True)
    other = replace(target, plan=make_plan(calls, score=all_attachments(calls)))
    assert not judge(other, sample_chain(other, device, "preorder", 5000, seed=1, slots=512)).holds


def test_resumed_runs_need_the_same_evidence_and_floor(tmp_path: Path) -> None:
    _, matrix = both(20, 8)
    kept = tmp_path / "run"
    options: dict[str, Any] = {"steps": 400, "chains": 2, "device": "native"}
    whole = syclade.infer(matrix, checkpoint=kept, checkpoint_every=0, **options)
    again = syclade.infer(matrix, resume=kept, **options)
    assert again.log_likelihood == whole.log_likelihood
    other = replace(matrix, evidence=Likelihoods(log_odds_of(matrix) * 1.5))
    with pytest.raises(CheckpointError):
        syclade.infer(other, resume=kept, **options)
    with pytest.raises(CheckpointError, match="floor"):
        syclade.infer(matrix, resume=kept, floor=0.01, **options)


def test_options_of_calls_are_refused() -> None:
    calls, matrix = both(20, 8)
    for of_reads in ({"seq_error": 0.1}, {"dropout": "per-mutation"}):
        with pytest.raises(OptionError, match="does not go with --evidence likelihoods"):
            syclade.infer(matrix, **of_reads)
    for options in ({"fp_rate": 0.1}, {"fn_rate": 0.1}, {"merge_homozygous": True}, {"recurrent": "all"}):
        with pytest.raises(OptionError, match="does not go with --evidence likelihoods"):
            syclade.infer(matrix, **options)
    with pytest.raises(OptionError, match="--floor"):
        syclade.infer(calls, floor=0.1)


def test_the_command_takes_likelihoods_of_a_file(tmp_path: Path) -> None:
    matrix, _ = random_evidence(8, 12, 4)
    wild = 1.0 / (1.0 + np.exp(log_odds_of(matrix)))
    lines = [
        " ".join([name, *map(repr, row)]) for name, row in zip(matrix.mutations, wild.tolist(), strict=True)
    ]
    path = tmp_path / "probabilities.txt"
    path.write_text(
        "\n".join([" ".join(["HAPLOID", "8", "12", *(f"c{i}" for i in range(12))]), *lines]) + "\n"
    )
    out = tmp_path / "out"
    arguments = ["infer", str(path), "--evidence", "likelihoods", "--out", str(out), "--report"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["fp_rate"] is None
    assert summary["evidence"]["kind"] == "likelihoods"
    table = (out / "evidence.tsv").read_text().splitlines()
    assert len(table) == 1 + 12 + 8
    assert "levels of log odds" in (out / "report.html").read_text()
    tree = ["score", str(path), str(out / "tree.newick")]
    scored = CliRunner().invoke(cli, [*tree, "--evidence", "likelihoods", "--json"])
    assert scored.exit_code == 0, scored.output
    assert json.loads(scored.output)["log_likelihood"] == pytest.approx(summary["log_likelihood"], abs=1e-9)
    refused = CliRunner().invoke(cli, tree)
    assert isinstance(refused.exception, RatesError)
    assert "--fp-rate is missing" in str(refused.exception)


def test_tables_count_what_the_evidence_says_whatever_the_calls() -> None:
    """Genotypes, the table of quality and `seen` count by the sign of the evidence: calls are all 0 here."""
    matrix = both()[1]
    blank = replace(matrix, values=np.zeros_like(matrix.values))
    found, of_calls = (syclade.infer(one, genotypes=True) for one in (blank, matrix))
    assert found.genotypes is not None
    assert of_calls.genotypes is not None
    assert found.consensus is not None
    assert of_calls.consensus is not None
    states = np.where(matrix.values == 3, 3, matrix.values != 0)
    np.testing.assert_array_equal(found.genotypes.observed, states)
    assert found.genotypes.to_dict() == of_calls.genotypes.to_dict()
    np.testing.assert_array_equal(found.consensus.seen, of_calls.consensus.seen)
    assert found.consensus.seen.min() > 0.0
    assert quality_of(files_in_memory(found)) == quality_of(files_in_memory(of_calls))


def with_reads(cells: int = 80, mutations: int = 16, depth: float = 8.0, **options: Any) -> SimulatedReads:
    made = simulate(cells, mutations, 1e-9, 1e-9, 0.05, 4)
    return simulate_reads(made, SimulatedModel(depth=depth, **options), 4)


def test_reads_are_inferred_with_estimated_parameters() -> None:
    """The tree of the reads is nearer to the true one than that of their calls; parameters are near."""
    sim = with_reads(overdispersion=0.03)
    matrix, true = sim.made.matrix, sim.made.parents
    found = syclade.infer(matrix, seed=1, true_tree=true)
    calls = replace(matrix, evidence=None)
    of_calls = syclade.infer(calls, seed=1, true_tree=true, merge_homozygous=True, support="none")
    assert found.true_tree is not None
    assert of_calls.true_tree is not None
    assert found.true_tree["ancestors"]["distance"] < of_calls.true_tree["ancestors"]["distance"]
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    assert finding.reads is not None
    assert finding.estimated == PARAMETERS
    assert 0.005 < finding.reads.seq_error < 0.02
    assert 0.12 < finding.reads.allelic_dropout < 0.3
    assert not finding.cells.listed
    assert not finding.mutations.listed
    given = {name: getattr(finding.reads, name) for name in PARAMETERS}
    again = syclade.infer(matrix, seed=1, support="none", **given)
    assert again.log_likelihood == found.log_likelihood
    assert syclade.score(matrix, found.parents, **given) == pytest.approx(found.log_likelihood, abs=1e-9)
    with pytest.raises(OptionError, match="--allelic-dropout does not go with --dropout per-mutation"):
        syclade.infer(matrix, allelic_dropout=0.2, dropout="per-mutation")
    with pytest.raises(OptionError, match="reads need --seq-error, --allelic-dropout"):
        syclade.score(matrix, found.parents)
    with pytest.raises(OptionError, match="--seq-error without --evidence"):
        syclade.infer(calls, seq_error=0.1)


@pytest.mark.parametrize("given", [PARAMETERS, ("allelic_dropout",)])
def test_given_parameters_of_reads_are_not_rounded(given: tuple[str, ...]) -> None:
    """Also beside others that are estimated, which have three digits."""
    matrix = with_reads().made.matrix
    exact = dict(zip(PARAMETERS, (0.0123456, 0.234567, 0.1, 0.01), strict=True))
    options: dict[str, Any] = {name: exact[name] for name in given}
    found = syclade.infer(matrix, support="none", **options)
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    model = finding.reads
    assert model is not None
    for name in PARAMETERS:
        own = getattr(model, name)
        assert own == (exact[name] if name in given else float(f"{own:.3g}"))
    used: dict[str, Any] = {name: getattr(model, name) for name in PARAMETERS}
    assert syclade.score(matrix, found.parents, **used) == pytest.approx(found.log_likelihood, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"tree": "leaf"}, {"doublets": 0.1}, {"score": "sum", "steps": 9}])
@pytest.mark.parametrize("size", [0.0, 1e-6])
def test_likelihoods_that_say_nothing_are_refused(size: float, options: dict[str, Any]) -> None:
    odds = np.where(np.eye(4, 5) > 0, size, -size)
    silent = replace(matrix_from_array(np.eye(4, 5, dtype=np.uint8)), evidence=Likelihoods(odds))
    with pytest.raises(MatrixError, match="the evidence says nothing of the tree: both states of each"):
        syclade.infer(silent, **options)


def test_reads_that_say_nothing_are_refused(tmp_path: Path) -> None:
    """Those of files, too, also by `score`, and by each replicate of a bootstrap."""
    none = np.zeros((4, 5), np.int32)
    silent = replace(matrix_from_array(np.eye(4, 5, dtype=np.uint8)), evidence=Reads(none, none))
    with pytest.raises(MatrixError, match="the evidence says nothing of the tree: no entry has a read"):
        syclade.infer(silent)
    given: dict[str, Any] = {
        "seq_error": 0.01,
        "allelic_dropout": 0.2,
        "overdispersion": 0.03,
        "error_overdispersion": 0.02,
    }
    with pytest.raises(MatrixError, match="says nothing of the tree"):
        syclade.score(silent, [4, 4, 4, 4, 4], **given)
    path = tmp_path / "x.hap"
    path.write_text("HAPLOID 2 3 a b c\nm1 0.5 0.5 0.5\nm2 0.5 0.5 0.5\n")
    for words in (["infer"], ["bootstrap", "--resample", "cells", "--replicates", "1"]):
        command = [*words, str(path), "--evidence", "likelihoods", "--out", str(tmp_path / words[0])]
        run = call(command)
        assert run.status != 0
        assert "the evidence says nothing of the tree: both states of each entry" in run.messages


def test_dropouts_of_mutations_are_written() -> None:
    """The file has the dropout of each mutation, of which the summary has the lowest, mean and highest."""
    matrix = with_reads(allelic_dropout_range=(0.01, 0.5), depth=20.0).made.matrix
    found = syclade.infer(matrix, seed=1, support="none", dropout="per-mutation")
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    assert finding.reads is not None
    assert finding.reads.dropouts is not None
    lines = str(finding.files()["dropout.tsv"]).splitlines()
    assert lines[0] == "mutation\tallelic_dropout"
    rows = [line.split("\t") for line in lines[1:]]
    assert [name for name, _ in rows] == list(found.mutations)
    np.testing.assert_allclose([float(rate) for _, rate in rows], finding.reads.dropouts)
    assert "see dropout.tsv" in finding.lines[0]
    shared = syclade.infer(matrix, seed=1, support="none", dropout="shared")
    (finding,) = (one for one in shared.findings if isinstance(one, EvidenceFinding))
    assert set(finding.files()) == {"evidence.tsv"}


def test_an_estimate_is_reported_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several searches estimate the parameters, each with levels of its own; a large matrix takes long."""
    caplog.set_level("INFO", "syclade")
    matrix = with_reads(overdispersion=0.03).made.matrix
    monkeypatch.setattr(weighed_matrix, "levels_of", partial(levels_of, most=50))  # which are not exact
    syclade.infer(matrix, seed=1, support="none")
    assert sum("levels of log odds" in words for words in caplog.messages) == 1
    assert not any(words.startswith("estimating") for words in caplog.messages)
    monkeypatch.setattr(estimated_rates, "_LARGE", 100)
    caplog.clear()
    syclade.infer(matrix, seed=1, support="none", seq_error=0.01)
    (words,) = [one for one in caplog.messages if one.startswith("estimating")]
    assert "--allelic-dropout, --overdispersion, --error-overdispersion first, by searches and fits" in words
    assert "--seq-error" not in words


def test_cells_and_mutations_against_the_tree_are_listed() -> None:
    """The reads of one cell, and of one mutation, are of no tree: only these are listed."""
    sim = with_reads(depth=20.0)
    draw = np.random.default_rng(1)
    alternate, total = sim.reads.alternate.copy(), sim.reads.total.copy()
    total[:, 5] = total[3] = 40
    alternate[:, 5] = np.where(draw.random(16) < 0.5, 20, 0)
    alternate[3] = np.where(draw.random(80) < 0.4, 20, 0)
    matrix = replace(sim.made.matrix, evidence=Reads(alternate, total))
    found = syclade.infer(matrix, seed=1, support="none", allelic_dropout=0.1)
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    assert finding.cells.named == [found.cells[5]]
    assert finding.mutations.named == [found.mutations[3]]
    assert any("the evidence of 1 cell contradicts the tree" in one for one in found.warnings)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_stop_ends_an_estimate_and_is_reported(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stop ends the fit after a round, or comes with the first or second search."""
    matrix, stop = with_reads().made.matrix, Stop()
    fits: list[ReadLikelihood] = []

    def fit(*given: Any, **options: Any) -> ReadLikelihood:
        stop.wanted = len(fits) >= after
        fits.append(fit_reads(*given, **options))
        return fits[-1]

    monkeypatch.setattr(weighed_matrix, "fit_reads", fit)
    searches = Mock(wraps=find_tree.find)
    monkeypatch.setattr(find_tree, "find", searches)
    with caplog.at_level(logging.WARNING, logger="syclade"):
        found = syclade.infer(matrix, seed=1, support="none", stop=stop, checkpoint=tmp_path / "kept")
    assert ("no checkpoint was written" in caplog.text) is not (tmp_path / "kept").exists()
    assert searches.call_count == max(1, after)  # the tree of the estimate is taken, if there is one
    assert found.options["method"] == "search"
    assert len(fits) == after + 1
    assert found.interrupted
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    words = (
        "the estimate of --seq-error, --allelic-dropout, --overdispersion, --error-overdispersion was stopped"
    )
    assert finding.warnings[0].startswith(words)
    assert "Convergence" in report_of(found)
    assert (multiqc_row(found)["agreeing"] == 0) is bool(after)
    assert (found.runs == "no whole search") is bool(after)
    assert json.loads(json.dumps(finding.summary()))["evidence"]["estimate_stopped"] is True


@pytest.mark.parametrize("limit", ["_MOST_MUTATIONS", "_MOST_ENTRIES"])
def test_parameters_of_many_mutations_are_estimated_by_those_with_most_reads(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches see the best covered mutations alone; the estimate is near, and each has its own dropout."""
    made = simulate(80, 30, 1e-9, 1e-9, 0.0, 4)
    sim = simulate_reads(made, SimulatedModel(allelic_dropout_range=(0.01, 0.5)), 4)
    total, alternate = sim.reads.total.copy(), sim.reads.alternate.copy()
    total[::3, 10:] = alternate[::3, 10:] = 0
    matrix = replace(sim.made.matrix, evidence=Reads(alternate, total))
    entries = int((total[np.arange(30) % 3 > 0] > 0).sum())
    monkeypatch.setattr(weighed_matrix, limit, 20 if limit == "_MOST_MUTATIONS" else entries)
    monkeypatch.setattr(weighed_matrix, "_LEAST_MUTATIONS", 2)
    sizes: list[int] = []
    search = estimated_rates.ShortRuns.search

    def searched(runs: estimated_rates.ShortRuns, rates: Levels) -> Any:
        sizes.append(runs.matrix.n_mutations)
        assert set(runs.matrix.mutations) == set(np.delete(matrix.mutations, np.s_[::3]))
        return search(runs, rates)

    monkeypatch.setattr(estimated_rates.ShortRuns, "search", searched)
    found = syclade.infer(matrix, seed=1, support="none", dropout="per-mutation")
    assert set(sizes) == {20}
    (finding,) = (one for one in found.findings if isinstance(one, EvidenceFinding))
    assert finding.reads is not None
    assert finding.reads.dropouts is not None
    assert len(finding.reads.dropouts) == 30
    assert 0.003 < finding.reads.seq_error < 0.03
    assert not finding.stopped


def test_a_stopped_estimate_of_many_mutations_has_a_tree_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutations that no search saw are where the cells have them: nearer to the truth than a star."""
    sim = with_reads(depth=20.0)
    total, alternate = sim.reads.total.copy(), sim.reads.alternate.copy()
    total[::4, 60:] = alternate[::4, 60:] = 0
    matrix, stop = replace(sim.made.matrix, evidence=Reads(alternate, total)), Stop()
    monkeypatch.setattr(weighed_matrix, "_MOST_MUTATIONS", 12)
    search = estimated_rates.ShortRuns.search

    def searched(runs: estimated_rates.ShortRuns, rates: Levels) -> Any:
        found = search(runs, rates)
        stop.wanted = True
        return found

    monkeypatch.setattr(estimated_rates.ShortRuns, "search", searched)
    found = syclade.infer(matrix, seed=1, support="none", stop=stop, true_tree=sim.made.parents)
    assert found.interrupted
    assert found.true_tree is not None
    assert found.true_tree["ancestors"]["recall"] > 0.7
    assert found.true_tree["ancestors"]["precision"] > 0.6
