"""Genotypes of cells: by the published tree, conflict-free, with probabilities over sampled trees."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.likelihood import presence
from syclade.host.data.model.pairs import pair_presence
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.genotypes import Genotypes

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "device": "native"}


def table(path: Path) -> tuple[list[str], list[str], np.ndarray[Any, Any]]:
    """Return the header, the names of the rows, and the other fields of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter="\t")
    return head, [row[0] for row in rows], np.array([row[1:] for row in rows])


def conflict_free(values: np.ndarray[Any, Any]) -> bool:
    """Return whether no two columns have rows 01, 10 and 11."""
    one = values.astype(np.int64)
    return not ((one.T @ one > 0) & (one.T @ (1 - one) > 0) & ((1 - one).T @ one > 0)).any()


@pytest.fixture(scope="module")
def made() -> Any:
    return simulate(60, 8, 0.01, 0.2, 0.1, 4, shares="zipf", unplaced=1)


def test_files(made: Any, tmp_path: Path) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    matrix.write_text(format_matrix(made.matrix.values))
    rates = ["--fp-rate", "0.01", "--fn-rate", "0.2"]
    command = ["infer", str(matrix), *rates, "--device", "native", "--genotypes", "--anndata"]
    run = CliRunner().invoke(cli, [*command, "--out", str(out)])
    assert run.exit_code == 0, run.output
    head, cells, called = table(out / "genotypes.tsv")
    gone = made.unplaced[0]
    assert head == ["cell", *(str(number + 1) for number in range(8))]
    assert set(called[:, gone]) == {"3"}
    assert set(np.delete(called, gone, axis=1).ravel()) == {"0", "1"}
    head, kept, free = table(out / "genotypes.CFMatrix")
    assert head[0] == "cellIDxmutID"
    assert kept == cells
    assert conflict_free(free)
    again = syclade.read_matrix(out / "genotypes.CFMatrix")
    np.testing.assert_array_equal(again.values.T, free.astype(np.uint8))
    truth = np.delete(made.truth, gone, axis=0).T
    called = np.delete(called, gone, axis=1)
    seen = np.delete(made.matrix.values, gone, axis=0).T == 1
    assert (called.astype(np.int64) != truth).sum() <= (seen != truth).sum()
    head, clones, of_clones = table(out / "clone_genotypes.tsv")
    with (out / "cells.tsv").open() as file:
        of_cells = [int(row["clone"]) for row in csv.DictReader(file, delimiter="\t")]
    assert clones[0] == "0"
    np.testing.assert_array_equal(of_clones[of_cells], free)
    data = pytest.importorskip("anndata").read_h5ad(out / "result.h5ad")
    np.testing.assert_array_equal(data.layers["genotype"].astype(str), table(out / "genotypes.tsv")[2])
    assert data.obs["clone"].astype(int).tolist() == of_cells
    _, _, texts = table(out / "genotype_probabilities.tsv")
    assert set(texts[:, gone]) == {""}
    probability = np.delete(texts, gone, axis=1).astype(np.float64)
    assert ((probability >= 0) & (probability <= 1)).all()
    np.testing.assert_array_equal(called == "1", probability > 0.5)
    assert abs(probability.mean() - truth.mean()) < 0.03
    sure = (probability > 0.95) | (probability < 0.05)
    assert ((probability > 0.5) == truth)[sure].mean() > 0.97
    summary = json.loads((out / "summary.json").read_text())["genotypes"]
    values = np.delete(made.matrix.values, gone, axis=0).T
    assert summary["missing"] == int(((values == 3) & (called == "1")).sum())
    assert summary["seen_against_tree"] == int(((values == 1) & (called == "0")).sum())
    assert f"genotypes: {summary['mutated']} of 480 entries are mutated" in run.output
    assert "genotypes.CFMatrix" in json.loads((out / "run.json").read_text())["files"]


@pytest.mark.parametrize("support", ["quick", "none"])
def test_doublets_have_the_mutations_of_two_clones(support: str) -> None:
    """Cells of two lineages together have both; the conflict-free matrix leaves them out."""
    values = np.repeat([[1, 0, 1], [0, 1, 1]], [20, 20, 4], axis=1).reshape(2, -1)
    result = syclade.infer(
        values, fp_rate=1e-4, fn_rate=0.01, doublets=0.1, device="native", genotypes=True, support=support
    )
    found = result.genotypes
    assert found is not None
    assert (found.probability is None) == (support == "none")
    assert found.doublet.tolist() == [False] * 40 + [True] * 4
    np.testing.assert_array_equal(found.called, values)
    if found.probability is not None:
        assert (np.abs(found.probability - values) < 0.05).all()
    assert len(found.to_cf_matrix().splitlines()) == 41
    assert "4 cells are two" in found.words


def test_what_is_placed_is_in_the_conflict_free_matrix_though_its_genotypes_are_open() -> None:
    tree = np.array([[1, 1, 3], [0, 1, 3], [3, 3, 3]], np.uint8)
    found = Genotypes(
        mutations=("A", "B", "C"), cells=("x", "y", "z"), called=np.full((3, 3), 3, np.uint8), by_tree=tree,
        doublet=np.zeros(3, np.bool_), single_tree=True, clones=None, placed=("A", "B"), probability=None,
        observed=np.full((3, 3), 3, np.uint8),
    )  # fmt: skip
    assert found.to_cf_matrix() == "cellIDxmutID\tA\tB\nx\t1\t0\ny\t1\t1\n"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"support": "none"}, {"genotypes.tsv", "genotypes.CFMatrix", "clone_genotypes.tsv"}),
        ({"tree": "leaf", "steps": 500, "chains": 2}, {"genotypes.tsv", "genotypes.CFMatrix"}),
        ({"recurrent": 1, "steps": 500, "chains": 2}, {"genotypes.tsv"}),
    ],
)
def test_trees_without_samples(made: Any, options: dict[str, Any], names: set[str], tmp_path: Path) -> None:
    result = syclade.infer(made.matrix, genotypes=True, **RATES, **options)
    files = set(result.write(tmp_path))
    assert {name for name in files if "genotype" in name} == names
    head, cells, called = table(tmp_path / "genotypes.tsv")
    assert (len(head), len(cells)) == (9, 60)
    expected = result.kind.genotypes(result.tree)[:8].T.astype(np.int64)
    known = called != "3"
    np.testing.assert_array_equal(called[known].astype(np.int64), expected[known])
    assert known.mean() > 0.8


@pytest.mark.parametrize("n", [1, 2, 5])
def test_presence_in_pairs(n: int) -> None:
    """The definition agrees: a sum over all nodes, and over all ordered pairs of nodes."""
    generator = np.random.Generator(np.random.PCG64(n))
    parents, weights = random_parents(n, generator), generator.normal(0.0, 4.0, (n, 6))
    shares = generator.dirichlet(np.ones(n + 1))
    has, rate = ancestor_matrix(parents)[:n].astype(bool), 0.2
    sums, total = np.zeros((n, 6)), np.zeros(6)
    for v in range(n + 1):
        one = (1 - rate) * shares[v] * np.exp2(has[:, v] @ weights)
        total += one
        sums += np.outer(has[:, v], one)
    for v, w in itertools.product(range(n + 1), repeat=2):
        either = has[:, v] | has[:, w]
        one = rate * shares[v] * shares[w] * np.exp2(either @ weights)
        total += one
        sums += np.outer(either, one)
    np.testing.assert_allclose(pair_presence(parents, weights, shares, rate), sums / total, atol=1e-12)
    alone = presence(weights * np.log(2.0), parents, shares)[0]
    np.testing.assert_allclose(pair_presence(parents, weights, shares, 1e-15), alone, atol=1e-9)
