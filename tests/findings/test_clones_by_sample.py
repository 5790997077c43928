"""Clones by sample: shares of clones in specimens, their changes, and their files."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import gammaln

import syclade
from syclade.host.chains.shares import CONCENTRATIONS, ROOT_CONCENTRATIONS
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import format_matrix, matrix_from_array
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.clones_by_sample import ClonesBySampleFinding
from syclade.host.findings.consensus.clone_tree import clone_tree_of, make_clone_tree
from syclade.host.findings.consensus.finding import PublishedTree
from syclade.host.findings.joint_shares import (
    JointShare,
    interval_of,
    joint_entries,
    joint_shares,
    joint_warnings,
    number_text,
    share_text,
)
from syclade.host.findings.specimen_changes import Change, changes_table, strongest
from syclade.host.findings.specimen_shares import draw_shares_of_specimens, nearest_clones
from tests.support.dirichlet import log_by_concentrations

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native"}
CLEAR = 50.0
"""Gain of a mutation that is certain."""


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_nearest_clones() -> None:
    """A slow definition agrees, on random trees and clones."""
    generator = np.random.Generator(np.random.PCG64(1))
    for _ in range(20):
        n = int(generator.integers(1, 9))
        parents = random_parents(n, generator)
        of = generator.integers(1, 4, n)
        tree = make_clone_tree(of.tolist(), [0, 0, 0, 2])
        has = ancestor_matrix(parents)[:n]
        for node, found in enumerate(nearest_clones(tree, parents).tolist()):
            above = {mutation for mutation in range(n) if has[mutation, node]}
            distances = []
            for clone in range(tree.clones):
                upper = [one for one in range(tree.clones) if tree.within[one, clone]]
                own = {mutation for one in upper for mutation in tree.members[one]}
                distances.append(len(above ^ own))
            best = [clone for clone, one in enumerate(distances) if one == min(distances)]
            own_clone = int(tree.clone_of[node]) if node < n else 0
            assert found == (own_clone if own_clone in best else best[0])


@pytest.mark.parametrize("doublets", [None, 1e-9])
def test_shares_of_clear_cells_are_exact(doublets: float | None) -> None:
    """With cells of known clones, the posterior is a mixture of Dirichlet distributions."""
    parents = np.array([2, 0, 2], np.int32)  # one mutation below the other
    counts = np.array([[3, 9, 28], [5, 0, 15]])  # the nodes' cells in two specimens; the root is last
    node = np.concatenate([np.repeat(np.arange(3), some) for some in counts])
    has = ancestor_matrix(parents)[:2][:, node]
    published = PublishedTree(
        clone_tree_of(parents), ("A", "B"), np.where(has, CLEAR, -CLEAR), parents[None], None, doublets
    )
    specimen_of = np.repeat([0, 1], counts.sum(axis=1))
    drawn = draw_shares_of_specimens(published, specimen_of, 2, seed=3)
    order = [2, 0, 1]  # clones are the root, A, B
    np.testing.assert_allclose(drawn.cells, counts[:, order], atol=1e-6)
    grid = np.array([(node, node, root) for node in CONCENTRATIONS for root in ROOT_CONCENTRATIONS])
    for found, cells in zip(drawn.shares.transpose(1, 0, 2), counts, strict=True):
        logs = log_by_concentrations(cells[None]).ravel()
        weights = np.exp(logs - logs.max())
        exact = weights @ ((cells + grid) / (cells + grid).sum(axis=1, keepdims=True)) / weights.sum()
        np.testing.assert_allclose(found.mean(axis=0), exact[order], atol=0.012)
        assert len(found) == 2000


@pytest.mark.parametrize("telling", [(0, 0, 0), (0, 3, 1)])
def test_shares_that_few_cells_tell(telling: tuple[int, int, int]) -> None:
    """Where no cell, or four of 300, tells A, B1 and B2 apart, draws have the exact mean and quantiles.

    They begin at shares that would be sure of B1.
    """
    parents, known, size = np.array([3, 0, 0, 3], np.int32), sum(telling), 300
    gains = np.zeros((3, size))
    gains[0] = CLEAR  # all cells have A
    gains[1:, :known] = -CLEAR
    gains[1, : telling[1]] = gains[2, telling[1] : known] = CLEAR
    start = np.array([[0.01, 0.97, 0.01, 0.01]])
    trees = np.repeat(parents[None], 60, axis=0)
    published = PublishedTree(
        clone_tree_of(parents), ("A", "B1", "B2"), gains, trees, start.repeat(60, axis=0), None
    )
    drawn = draw_shares_of_specimens(published, np.zeros(size, np.int64), 1, seed=3).shares[:, 0, 1:]
    node, root = (one.ravel() for one in np.meshgrid(CONCENTRATIONS, ROOT_CONCENTRATIONS))
    logs = gammaln(3 * node + size) - gammaln(3 * node + root + size) + gammaln(3 * node + root)
    logs -= gammaln(3 * node + known)
    for cells in telling:
        logs += gammaln(node + cells) - gammaln(node)
    weights = np.exp(logs - logs.max())
    generator = np.random.default_rng(1)
    at = generator.choice(len(node), 20_000, p=weights / weights.sum())
    parts = generator.standard_gamma(node[at][:, None] + np.array(telling))
    exact = parts / parts.sum(axis=1, keepdims=True)
    for row, cells in enumerate(telling):
        where = np.quantile(exact[:, row], [0.1, 0.25, 0.5, 0.75, 0.9])
        below = (drawn[:, row, None] <= where).mean(axis=0)
        np.testing.assert_allclose(below, (exact[:, row, None] <= where).mean(axis=0), atol=0.07)
        assert drawn[:, row].mean() == pytest.approx(exact[:, row].mean(), abs=0.04), cells


def test_shares_do_not_depend_on_where_they_begin() -> None:
    """Cells with A that miss B, at a rate of 0.7, hardly say whether they have it: Gibbs steps are short."""
    parents, size = np.array([2, 0, 2], np.int32), 600
    gains = np.stack([np.full(size, CLEAR), np.where(np.arange(size) < 90, 5.0, np.log(0.7))])
    found = []
    for start in ((0.01, 0.98, 0.01), (0.84, 0.15, 0.01)):
        trees, shares = np.repeat(parents[None], 100, axis=0), np.repeat(np.array([start]), 100, axis=0)
        published = PublishedTree(clone_tree_of(parents), ("A", "B"), gains, trees, shares, None)
        found.append(draw_shares_of_specimens(published, np.zeros(size, np.int64), 1, seed=3).shares[:, 0, 2])
    assert np.mean(found[0]) == pytest.approx(np.mean(found[1]), abs=0.05)
    quantiles = np.quantile(found, [0.1, 0.5, 0.9], axis=1)
    np.testing.assert_allclose(quantiles[:, 0], quantiles[:, 1], atol=0.07)


@pytest.fixture(scope="module")
def half_measured() -> syclade.Result:
    """A, then B1 or B2; S1 has mostly B1, and S2 mostly B2, but only A was measured in S2."""
    generator = np.random.default_rng(3)
    counts = {"S1": (15, 120, 15), "S2": (15, 15, 120)}
    columns, specimens = [], []
    for name, of in counts.items():
        has = np.repeat([[1, 0, 0], [1, 1, 0], [1, 0, 1]], of, axis=0)
        seen = np.where(generator.random(has.shape) < np.where(has, 0.1, 0.01), 1 - has, has)
        if name == "S2":
            seen[:, 1:] = 3
        columns.append(seen)
        specimens += [name] * len(has)
    matrix = matrix_from_array(np.concatenate(columns).T.astype(np.uint8), ("A", "B1", "B2"))
    labels = {f"s{cell}": name for cell, name in enumerate(specimens)}
    return syclade.infer(matrix, metadata=labels, genotypes=True, **RATES)


def test_mutations_that_a_specimen_did_not_measure(half_measured: syclade.Result) -> None:
    """Their shares are as uncertain as if the other specimen did not exist."""
    found, consensus = half_measured.clones_by_sample, half_measured.consensus
    assert found is not None
    assert consensus is not None
    assert found.mutations == ((), ("A",), ("B1",), ("B2",))
    assert (found.low[1, 1:] < 0.05).all()
    assert (found.high[1, 1:] > 0.9).all()
    assert found.low[0, 2] > 0.6  # control: measured
    assert found.identifiable.tolist() == [[True] * 4, [True, False, False, False]]
    assert found.unmeasured == ({}, {"B1": 0, "B2": 0})
    assert "sample S2 did not measure 2 mutations (of its 150 cells" in found.warnings[0]
    assert found.warnings[-1].startswith(
        "samples did not measure the same mutations: estimates of error rates"
    )
    (together,) = found.joint[1]
    assert together.clones == (1, 2, 3)
    assert together.share == pytest.approx(found.share[1, 1:].sum())
    assert together.low > 0.9, "that S2 has the clones together is sure"
    assert f"clones 1+2+3 (together {share_text(together.share)}, 90 %: " in found.warnings[0]
    table = list(csv.DictReader(found.to_table().splitlines(), delimiter="\t"))[4:]
    assert [row["identifiable"] for row in table] == ["yes", "no", "no", "no"]
    assert [row["joint"] for row in table] == ["", "1+2+3", "1+2+3", "1+2+3"]
    assert float(table[1]["joint_share"]) == pytest.approx(together.share, abs=1e-3)
    (change,) = found.changes
    assert change.groups == ((1, 2, 3),)
    assert change.identifiable.tolist() == [True, False, False, False]
    assert not change.sure.any(), "S2 tells nothing of clones 1 to 3"
    lines = [row.split("\t") for row in changes_table(found.changes, found.unions).splitlines()[1:]]
    assert [row[-1] for row in lines] == ["yes", "no", "no", "no", "yes"]
    assert [row[2] for row in lines] == ["0", "1", "2", "3", "1+2+3"]
    assert float(lines[-1][3]) == pytest.approx(change.own.mean[1:].sum(), abs=1e-3)
    assert float(lines[-1][6]) == pytest.approx(1.0 - change.own.grew[0], abs=0.02), "the rest is clone 0"
    assert "of 1 clone that both tell" in found.words[1]
    assert found.words[1].endswith("; 0 of 1 group of clones that is known only together changes")
    of_none = replace(found, changes=(change._replace(groups=((0, 1, 2, 3),)),))
    assert of_none.words[1].startswith(
        f"{change.first} to {change.second}: there is no clone that both tell; 0 of 1 "
    )
    union = replace(found, unions=frozenset({1}))
    of_union = list(csv.DictReader(union.to_table().splitlines(), delimiter="\t"))[1:3]
    assert [row["low"] + row["high"] == "" for row in of_union] == [True, False], "no interval of a union"
    assert json.dumps(union.to_dict()["low"]).startswith(f"[[{union.low[0, 0].round(6)}, null, ")
    of_s2 = consensus.cells.probability[1:, 150:]
    assert ((of_s2 > 0.2) & (of_s2 < 0.5)).mean() > 0.95
    width = consensus.cells.mixture.high - consensus.cells.mixture.low
    assert (width[1:] > 0.25).all()  # half of the cells say nothing


def test_unions_need_all_of_their_mutations() -> None:
    """A specimen that measured one of two mutations tells their clone if its cells have both or none."""
    tree = make_clone_tree([1, 2, 2], [0, 0, 1])  # A above a clone of B and C
    draws = np.array([[0.1, 0.2, 0.7], [0.2, 0.3, 0.5]])
    silent = np.array([False, False, True])
    assert joint_shares(tree, silent, draws) == ()
    (found,) = joint_shares(tree, silent, draws, {2})
    assert found.clones == (1, 2)
    assert found.share == pytest.approx(0.85)
    assert joint_shares(tree, np.zeros(3, np.bool_), draws, {2}) == ()


def test_intervals_contain_the_means() -> None:
    """Two draws of a hundred are far from the others, as where one chain has other trees."""
    draws = np.full((100, 2), 0.001)
    draws[:2, 0] = 0.9
    low, high = interval_of(draws, draws.mean(axis=0))
    assert np.quantile(draws[:, 0], 0.95) < draws[:, 0].mean(), "the control"
    assert (low <= draws.mean(axis=0)).all()
    np.testing.assert_allclose(high, [draws[:, 0].mean(), 0.001])


def test_shares_have_one_rounding() -> None:
    """Those of tables, which figures print, and those of a result are the same, rounded twice."""
    own = JointShare((0, 1), 0.878515, 0.12345, 0.99951)
    name, share, low, high = joint_entries([own], 1)
    of_table = JointShare.of_table(name, float(share), float(low), float(high))
    assert of_table != own
    assert joint_warnings("P1 does", [own]) == joint_warnings("P1 does", [of_table])
    assert own.mark == of_table.mark


def test_genotypes_of_unmeasured_mutations(half_measured: syclade.Result) -> None:
    """They are unknown; those that were measured are called."""
    found = half_measured.genotypes
    assert found is not None
    assert (found.called[1:, 150:] == 3).all()
    assert (found.called[0, 150:] == 1).mean() > 0.95
    assert 95 < (found.called[1, :150] == 1).sum() <= 121
    assert found.probability is not None
    assert (found.probability[1:, 150:] < 0.55).all()


def test_unmeasured_mutations_with_doublets() -> None:
    """Cells that may be two leave the same shares open."""
    parents, size = np.array([2, 0, 2], np.int32), 20
    gains = np.stack([np.full(size, CLEAR), np.zeros(size)])
    shares = np.array([[0.05, 0.9, 0.05]])
    published = PublishedTree(clone_tree_of(parents), ("A", "B"), gains, parents[None], shares, 0.1)
    drawn = draw_shares_of_specimens(published, np.zeros(size, np.int64), 1, seed=3).shares[:, 0]
    assert np.quantile(drawn[:, 2], 0.05) < 0.05
    assert np.quantile(drawn[:, 2], 0.95) > 0.9


@pytest.fixture(scope="module")
def made() -> Any:
    return simulate(90, 6, 0.01, 0.1, 0.0, 5, shares=0.5, samples=(40, 50))


@pytest.fixture(scope="module")
def labels(made: Any) -> dict[str, list[str]]:
    days = np.array(["9", "10"])[made.specimen_of].tolist()
    samples = np.array(["β two", "Ärm 1"])[made.specimen_of].tolist()
    return {"cell": [f"s{at}" for at in range(90)], "sample": samples, "day": days}


@pytest.fixture(scope="module")
def result(made: Any, labels: Any) -> syclade.Result:
    return syclade.infer(made.matrix, metadata=labels, time_column="day", **RATES)


def test_files_and_numbers(result: syclade.Result, made: Any, labels: Any, tmp_path: Path) -> None:
    found, consensus = result.clones_by_sample, result.consensus
    assert found is not None
    assert consensus is not None
    result.write(tmp_path, report=True)
    table = rows(tmp_path / "clones_by_sample.tsv")
    assert [row["sample"] for row in table[:: consensus.tree.clones]] == ["β two", "Ärm 1"]  # 9 before 10
    assert {row["time"] for row in table} == {"9", "10"}
    np.testing.assert_allclose(found.share.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.cells.sum(axis=1), [40, 50])
    assert ((found.low <= found.share) & (found.share <= found.high)).all()
    tree = made.parents if not result.unplaced.mutations else result.unplaced.of_tree(made.parents)
    clone_of = nearest_clones(consensus.tree, tree)
    truth = np.array([np.bincount(clone_of, some, consensus.tree.clones) for some in made.shares])
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.7
    changes = rows(tmp_path / "clone_changes.tsv")
    assert {(row["from"], row["to"]) for row in changes} == {("9", "10")}
    assert [float(row["grew"]) for row in changes] == pytest.approx(found.changes[0].own.grew, abs=1e-3)
    summary = json.loads((tmp_path / "summary.json").read_text())["clones_by_sample"]
    assert summary["cells_of"] == [40, 50]
    cells = rows(tmp_path / "cells.tsv")
    assert [row["sample"] for row in cells] == labels["sample"]
    assert all(row["runner_up"] != row["clone"] for row in cells)
    assert all(float(row["runner_up_probability"]) <= float(row["probability"]) for row in cells)
    page = (tmp_path / "report.html").read_text()
    assert ">Clones by sample</h3>" in page
    assert "β two" in page


def test_largest_changes_are_shown(result: syclade.Result) -> None:
    """Of many pairs, those with the largest sure changes are shown in their order, and the rest counted."""
    found = result.clones_by_sample
    assert found is not None
    (one,) = found.changes
    moved = (0.0, 0.1, 0.0, 0.5, -0.3, 0.0)
    many = replace(found, changes=tuple(changed_by(one, mean) for mean in moved))
    assert [it.own.mean[1] for it in strongest(many.changes)] == [0.1, 0.5, -0.3]
    assert many.words[-1] == (
        "clone_changes.tsv has 3 other pairs of time points, none of them with such a change"
    )
    more = replace(many, changes=(*many.changes, changed_by(one, 0.05)))
    assert more.words[-1].startswith("clone_changes.tsv has 4 other pairs of time points, 1 of them with")
    few = replace(many, changes=many.changes[:3])
    assert [it.own.mean[1] for it in strongest(few.changes)] == [0.0, 0.1, 0.0]
    assert "other" not in few.words[-1]


def test_report_and_text_round_a_share_alike(result: syclade.Result) -> None:
    """Figures read shares from tables, with four digits; so text and the report round these, too."""
    found = result.clones_by_sample
    assert found is not None
    share, ends = (np.full_like(found.share, value) for value in (0.916526, 0.25))
    table = ClonesBySampleFinding(replace(found, share=share, low=ends, high=ends)).section().table
    assert table is not None
    assert share_text(0.916526) == f"{float(number_text(0.916526)):.1%}" == "91.6%"
    assert {text for row in table.rows for text in row[2:4]} == {"91.6 (25.0 to 25.0)"}


def changed_by(one: Change, mean: float) -> Change:
    """Return a change in which one clone changes for sure, or none if its mean is 0."""
    size = len(one.own.mean)
    means, grew = np.full(size, 0.01), np.full(size, 0.5)
    means[1], grew[1] = mean, {-1: 0.0, 0: 0.5, 1: 1.0}[int(np.sign(mean))]
    return one._replace(own=one.own._replace(mean=means, grew=grew))


def test_equal_seeds_give_equal_shares(result: syclade.Result, made: Any, labels: Any) -> None:
    again = syclade.infer(made.matrix, metadata=labels, time_column="day", **RATES)
    assert again.summary() == result.summary()
    plain = syclade.infer(made.matrix, **RATES)
    assert plain.clones_by_sample is None
    assert plain.summary() == {k: v for k, v in again.summary().items() if k != "clones_by_sample"}


@pytest.mark.parametrize("options", [{"support": "none"}, {"doublets": 0.1}])
def test_other_models(made: Any, labels: Any, options: dict[str, Any]) -> None:
    found = syclade.infer(made.matrix, metadata=labels, **RATES, **options)
    shares = found.clones_by_sample
    assert shares is not None
    assert shares.samples == ("β two", "Ärm 1")
    clones = 7 if found.consensus is None else found.consensus.tree.clones
    assert shares.share.shape == (2, clones)
    assert shares.cells.sum() >= 90 - 1e-6
    assert len(shares.changes) == 1  # specimens without times are compared in pairs


def test_few_cells_and_mutations() -> None:
    for values, specimens in (([[1]], {"s0": "P"}), ([[1, 0, 1]], {"s0": "P", "s2": "Q"})):
        found = syclade.infer(values, metadata=specimens, support="none", **RATES).clones_by_sample
        assert found is not None
        assert found.cells_of.tolist() == [1] * len(specimens)
        assert "e-" not in found.to_table().replace("e-05", "").replace("e-06", "")
        if found.without:
            assert "; 1 cell without a sample)" in found.words[0]
        assert "\ttime\t" not in found.to_table()  # there are none
        assert found.without == len(values[0]) - len(specimens)


def test_command(tmp_path: Path) -> None:
    """Files of `simulate --samples` are those that `infer --metadata` takes."""
    truth, out = tmp_path / "truth", tmp_path / "out"
    size = ["--samples", "30,20", "--mutations", "4", "--shares", "zipf"]
    rates = ["--fp-rate", "0.01", "--fn-rate", "0.1"]
    run = CliRunner().invoke(cli, ["simulate", *size, *rates, "--out", str(truth)])
    assert run.exit_code == 0, run.output
    given = rows(truth / "true_shares.tsv")
    assert sum(float(row["share"]) for row in given if row["sample"] == "P2") == pytest.approx(1.0, abs=1e-4)
    assert [row["node"] for row in given[:5]] == ["M1", "M2", "M3", "M4", "root"]
    command = ["infer", str(truth / "matrix.csv"), *rates, "--device", "native", "--out", str(out)]
    run = CliRunner().invoke(cli, [*command, "--metadata", str(truth / "metadata.tsv")])
    assert run.exit_code == 0, run.output
    assert "clones by sample: 2 samples, in the order of the table (P1 30, P2 20 cells)" in run.output
    assert "P1 to P2: " in run.output
    record = json.loads((out / "run.json").read_text())
    assert {"clones_by_sample.tsv", "clone_changes.tsv"} <= set(record["files"])
    assert record["options"]["metadata"] == str(truth / "metadata.tsv")
    over = ["infer", str(truth / "matrix.csv"), *rates, "--out", str(truth), "--metadata"]
    run = CliRunner().invoke(cli, [*over, str(truth / "true_shares.tsv"), "--force"])
    assert run.exit_code != 0  # no such cells


SAMPLED: dict[str, Any] = {"steps": 2000, "chains": 4, "samples": 20}
"""Options of few samples, which is quick."""


def test_labels_without_specimens(tmp_path: Path) -> None:
    """Cells of a consensus have the labels of a table and of AnnData, also if none is of specimens."""
    matrix = simulate(40, 4, 0.01, 0.1, 0.0, 5).matrix
    cells = [f"s{cell}" for cell in range(40)]
    table = {"cell": cells, "cluster": ["A", "B"] * 20, "batch": ["x"] * 39 + [""]}
    for labels in ({"patient": ("P",) * 40, "leiden": ("0", "1") * 20}, {"sample": ("P",) * 40}):
        own = replace(matrix, cells=tuple(cells), labels=labels)
        consensus = syclade.infer(own, **RATES, **SAMPLED).consensus
        assert consensus is not None
        head, *lines = [line.split("\t") for line in consensus.to_cells().splitlines()]
        assert head[-len(labels) :] == list(labels)
        assert [tuple(line[-len(labels) :]) for line in lines] == list(zip(*labels.values(), strict=True))
    path, metadata = tmp_path / "matrix.csv", tmp_path / "metadata.tsv"
    path.write_text(format_matrix(matrix.values))
    columns = ([name, *texts] for name, texts in table.items())
    metadata.write_text("".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)))
    rates = ["--fp-rate", "0.01", "--fn-rate", "0.1", "--device", "native"]
    few = ["--steps", "2000", "--chains", "4", "--samples", "20", "--metadata", str(metadata)]
    for command, out in (("infer", tmp_path / "one"), ("batch", tmp_path / "many")):
        run = CliRunner().invoke(cli, [command, str(path), *rates, *few, "--out", str(out)])
        assert run.exit_code == 0, run.output
        written = rows((out if command == "infer" else out / "matrix") / "cells.tsv")
        assert [row["cluster"] for row in written] == table["cluster"]
        assert [row["batch"] for row in written] == table["batch"]


def test_sizes_of_samples() -> None:
    base = ["simulate", "--mutations", "3", "--fp-rate", "0.1", "--fn-rate", "0.1", "--out", "x"]
    for wrong, words in {
        "--samples 3,x": "--samples is 3,x",
        "--samples 3 --cells 3": "both given",
        "": "no number of cells",
    }.items():
        run = CliRunner().invoke(cli, [*base, *wrong.split()])
        assert words in str(run.exception) + run.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tree": "leaf", "steps": 100, "chains": 1}, "cell trees have no clones by sample"),
        ({"recurrent": 1, "steps": 100, "chains": 1}, "trees with a recurrent mutation have no clones"),
    ],
)
def test_trees_without_clones(
    made: Any, labels: Any, options: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = syclade.infer(made.matrix, metadata=labels, **RATES, **options)
    assert found.clones_by_sample is None
    assert words in caplog.text


def test_unmeasured_mutations_leave_shares_open() -> None:
    """Where a specimen has no value of two mutations, their shares there are those of the prior."""
    parents = np.array([3, 0, 0, 3], np.int32)  # A, and B and C below it
    has = np.repeat([[1, 0, 0], [1, 1, 0], [1, 0, 1]], [10, 60, 10], axis=0).T
    gains = np.tile(np.where(has == 1, 3.0, -5.0), 2)
    gains[1:, 80:] = 0.0
    published = PublishedTree(
        clone_tree_of(parents), ("A", "B", "C"), gains, np.repeat(parents[None], 100, axis=0), None, None
    )
    specimen_of = np.repeat([0, 1], 80)
    shares = draw_shares_of_specimens(published, specimen_of, 2, 1).shares
    clone = published.tree.clone_of[1]
    (low, unmeasured_low), (high, unmeasured_high) = np.quantile(shares[:, :, clone], (0.05, 0.95), axis=0)
    assert 0.6 < low < high < 0.9
    assert unmeasured_low < 0.1
    assert unmeasured_high > 0.9
