from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import ancestor_matrix, validate_parents
from syclade.host.findings.unplaced import NEVER_SEEN, NO_OBSERVATION, unplaced_in
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle.trees import all_trees

GOOD: dict[str, Any] = {
    "cells": 5, "mutations": 4, "fp_rate": 0.01, "fn_rate": 0.2, "missing": 0.1, "seed": 3
}  # fmt: skip


def test_equal_seeds_give_equal_simulations() -> None:
    one, two, other = simulate(**GOOD), simulate(**GOOD), simulate(**GOOD | {"seed": 4})
    np.testing.assert_array_equal(one.matrix.values, two.matrix.values)
    np.testing.assert_array_equal(one.parents, two.parents)
    np.testing.assert_array_equal(one.attachments, two.attachments)
    assert not np.array_equal(one.matrix.values, other.matrix.values)


def test_shapes_and_truth() -> None:
    made = simulate(**GOOD)
    assert made.matrix.values.shape == made.truth.shape == (4, 5)
    assert made.matrix.mutations == ("M1", "M2", "M3", "M4")
    assert made.attachments.shape == (5,)
    assert made.attachments.dtype == made.parents.dtype == np.int32
    np.testing.assert_array_equal(validate_parents(made.parents), made.parents)
    np.testing.assert_array_equal(made.truth, ancestor_matrix(made.parents)[:4, made.attachments])


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_smallest(shape: tuple[int, int]) -> None:
    cells, mutations = shape
    assert simulate(cells, mutations, 0.1, 0.1, 0.0, 0).matrix.values.shape == (mutations, cells)


def test_missing_from_none_to_all() -> None:
    assert (simulate(**GOOD | {"missing": 0}).matrix.values < 2).all()
    assert (simulate(**GOOD | {"missing": 1}).matrix.values == 3).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cells", 0), ("mutations", 0), ("fp_rate", 0.0), ("fp_rate", 1.0), ("fn_rate", math.nan),
        ("missing", -0.1), ("missing", 1.1), ("missing", math.nan), ("seed", -1), ("seed", 2**64),
        ("cells", 10**20), ("cells", 2**31), ("cells", 2.5), ("cells", "x"), ("mutations", 10**20),
        ("mutations", None), ("missing", None), ("missing", "x"), ("seed", None), ("seed", 1.5),
    ],
)  # fmt: skip
def test_arguments_refused(name: str, value: Any) -> None:
    with pytest.raises(OptionError) as caught:
        simulate(**GOOD | {name: value})
    assert caught.value.message.removeprefix("--").startswith(f"{name.replace('_', '-')} is")


@pytest.mark.statistical
def test_error_rates_are_as_asked() -> None:
    made = simulate(2000, 200, 0.05, 0.3, 0.25, 11)
    values, truth = made.matrix.values, made.truth
    seen = values != 3
    for expected, sample in [
        (0.25, ~seen),
        (0.05, values[seen & (truth == 0)] == 1),
        (0.3, values[seen & (truth == 1)] == 0),
    ]:
        # Six standard deviations of a binomial proportion.
        assert abs(sample.mean() - expected) < 6 * math.sqrt(expected * (1 - expected) / sample.size)
    nodes = np.bincount(made.attachments, minlength=201)
    # Chi-squared with 200 degrees of freedom: mean 200, standard deviation 20.
    chi_squared = float(((nodes - 2000 / 201) ** 2 / (2000 / 201)).sum())
    assert 80 < chi_squared < 320


@pytest.mark.statistical
def test_trees_are_uniform() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    draws = 12500
    counts = Counter(tuple(random_parents(4, rng).tolist()) for _ in range(draws))
    every = set(all_trees(4))
    assert len(every) == 125
    assert set(counts) == every
    expected = draws / len(every)
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 124 + 6 * math.sqrt(2 * 124)


@pytest.mark.parametrize(
    ("shares", "low", "high"), [("equal", 0.1, 0.3), ("zipf", 0.35, 0.55), (0.05, 0.6, 1.0)]
)
def test_shares_of_clones(shares: str | float, low: float, high: float) -> None:
    largest = []
    for seed in range(8):
        made = simulate(2000, 6, 0.01, 0.1, 0.0, seed, shares=shares)
        largest.append(np.bincount(made.attachments, minlength=7).max() / 2000)
    assert low < np.median(largest) < high


@pytest.mark.parametrize("shares", ["large", 0.0, -1.0, math.nan, math.inf])
def test_shares_that_cannot_be(shares: str | float) -> None:
    with pytest.raises(OptionError):
        simulate(5, 3, 0.01, 0.1, 0.0, 1, shares=shares)


def test_branches_have_cells_only_at_their_ends() -> None:
    made = simulate(3000, 10, 0.01, 0.1, 0.0, 2, per_branch=4)
    validate_parents(made.parents)
    assert len(np.unique(made.attachments)) == 4  # three branches and the root
    children = np.bincount(made.parents[:-1], minlength=11)
    for node in set(range(10)) - set(made.attachments.tolist()):
        assert children[node] == 1
    with pytest.raises(OptionError, match="copies"):
        simulate(5, 8, 0.01, 0.1, 0.0, 1, recurrent=1, per_branch=2)


def test_mutations_without_information_change_nothing_else() -> None:
    plain, made = (simulate(30, 9, 0.02, 0.1, 0.1, 3, unplaced=count) for count in (0, 5))
    assert plain.unplaced == ()
    assert len(made.unplaced) == 5
    assert list(made.unplaced) == sorted(unplaced_in(made.matrix).mutations)
    assert set(unplaced_in(made.matrix).mutations.values()) == {NO_OBSERVATION, NEVER_SEEN}
    others = np.setdiff1d(np.arange(9), made.unplaced)
    np.testing.assert_array_equal(made.matrix.values[others], plain.matrix.values[others])
    np.testing.assert_array_equal(made.parents, plain.parents)
    np.testing.assert_array_equal(made.truth, plain.truth)
    with pytest.raises(OptionError, match="unplaced"):
        simulate(30, 9, 0.02, 0.1, 0.1, 3, unplaced=10)


def test_the_command_marks_them(tmp_path: Path) -> None:
    rates = ["--fp-rate=0.01", "--fn-rate=0.1"]
    words = ["simulate", "--cells=20", "--mutations=6", *rates, "--unplaced=2", "--seed=4", "--out"]
    said = CliRunner().invoke(cli, [*words, str(tmp_path)], catch_exceptions=False)
    assert said.exit_code == 0
    written = json.loads((tmp_path / "simulation.json").read_text())
    assert written["unplaced"] == list(simulate(20, 6, 0.01, 0.1, 0.0, 4, unplaced=2).unplaced)


def test_mutations_with_rates_of_their_own() -> None:
    made = simulate(4000, 6, 0.01, 0.1, 0.0, 3, fn_range=(0.02, 0.6))
    plain = simulate(4000, 6, 0.01, 0.1, 0.0, 3)
    assert made.fn_rates is not None
    assert plain.fn_rates is None
    np.testing.assert_array_equal(made.truth, plain.truth)  # all other draws stay
    for row, rate in enumerate(made.fn_rates):
        present = made.truth[row] == 1
        missed = (made.matrix.values[row, present] == 0).mean()
        assert abs(missed - rate) < 4 * np.sqrt(rate * (1 - rate) / present.sum())
    with pytest.raises(OptionError, match="lower rate first"):
        simulate(5, 3, 0.01, 0.1, 0.0, 1, fn_range=(0.3, 0.2))


def test_shares_of_a_file(tmp_path: Path) -> None:
    table = tmp_path / "shares.tsv"
    table.write_text("node\tshare\n# clones\nM2\t3\n\nroot 1\n")
    options = ["--mutations", "4", "--fp-rate", "0.01", "--fn-rate", "0.2", "--shares", str(table)]
    given = ["simulate", "--cells", "4000", *options, "--out", str(tmp_path / "made")]
    ran = CliRunner().invoke(cli, given)
    assert ran.exit_code == 0, ran.output
    report = json.loads((tmp_path / "made" / "simulation.json").read_text())
    counts = np.bincount(report["attachments"], minlength=5)
    assert counts[[0, 2, 3]].tolist() == [0, 0, 0]
    assert counts[1] / 4000 == pytest.approx(0.75, abs=0.03)
    assert report["shares"] == {"M2": 3.0, "root": 1.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M1 0.5\nM2\n", "shares.tsv:2: 1 fields"),
        ("M1 0.5\nM2 -1\n", "shares.tsv:2:4: the share"),
        ("M1 0.5\nM2 x\n", "shares.tsv:2:4: the share"),
        ("M1 nan\n", "shares.tsv:1:4: the share"),
        ("M1 0.5\nM1 1\n", "shares.tsv:2: the node"),
        ("M9 0.5\n", "no node with cells has the name 'M9'"),
        ("M1 0\n", "sum above 0"),
        ("", "sum above 0"),
    ],
)
def test_wrong_shares_of_a_file(tmp_path: Path, text: str, words: str) -> None:
    table = tmp_path / "shares.tsv"
    table.write_text(text)
    options = ["--mutations", "4", "--fp-rate", "0.01", "--fn-rate", "0.2", "--shares", str(table)]
    ran = CliRunner().invoke(cli, ["simulate", "--cells", "4", *options, "--out", str(tmp_path / "made")])
    assert ran.exit_code != 0
    assert words in f"{ran.output}{ran.exception}"
    assert not (tmp_path / "made").exists()
