"""Simulated mutations that occur twice: files against a slow oracle, and which trees are drawn."""

from __future__ import annotations

import json
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from syclade.host.commands.main import cli
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.recurrence import (
    Copy,
    log_likelihood_of_states,
    random_parents_with_copies,
    states_of,
)
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle.trees import all_trees

EXACT: dict[str, Any] = {"fp_rate": 1e-15, "fn_rate": 1e-15}
"""Rates with which the observed values are the true ones."""


def path_of(node: int, parents: list[int]) -> list[int]:
    """Return a node and those above it, without the root."""
    path = []
    while parents[node] != node:
        path.append(node)
        node = parents[node]
    return path


def has(mutation: int, node: int, parents: list[int], copies: list[dict[str, Any]]) -> bool:
    """Return whether a cell at a node has a mutation, by the meaning of the two kinds of copies."""
    path = path_of(node, parents)
    for copy in copies:
        if copy["mutation"] == mutation:
            second = copy["node"] in path
            return (
                (mutation in path or second)
                if copy["kind"] == "recurrent"
                else mutation in path and not second
            )
    return mutation in path


def assert_allowed(copy: Copy | dict[str, Any], parents: list[int]) -> None:
    mutation, node, kind = copy.values() if isinstance(copy, dict) else copy
    above, above_copy = path_of(mutation, parents), path_of(node, parents)
    if kind == "loss":
        assert mutation in above_copy
        assert parents[node] != mutation, "no parent and child"
    else:
        assert kind == "recurrent"
        assert mutation not in above_copy
        assert node not in above
        assert parents[node] != parents[mutation], "no siblings"


def written(words: list[str]) -> dict[str, Any]:
    """Run the command, and return the content of its files."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        done = CliRunner().invoke(cli, ["simulate", *words, "--out", str(out)])
        assert done.exit_code == 0, done.output
        report: dict[str, Any] = json.loads((out / "simulation.json").read_text())
        names = (out / "matrix.geneNames").read_text().split()
        copies = [f"{names[copy['mutation']]}_copy" for copy in report.get("copies", [])]
        report["matrix"] = np.loadtxt(out / "matrix.csv", dtype=int, ndmin=2)
        report["trees"] = [
            read_tree(out / name, [*names, *copies]).tolist() for name in ("true_tree.newick", "true_tree.gv")
        ]
        return report


@settings(max_examples=25, deadline=None)
@given(st.integers(12, 30), st.integers(0, 2), st.integers(0, 1), st.booleans(), st.integers(0, 2**32))
def test_the_files_give_the_matrix(
    mutations: int, recurrent: int, losses: int, doublets: bool, seed: int
) -> None:
    """The true matrix follows from the tree, the copies and the nodes of the cells, as they are written."""
    words = f"--cells 15 --mutations {mutations} --fp-rate 1e-15 --fn-rate 1e-15 --seed {seed}"
    words += f" --recurrent {recurrent} --losses {losses}" + (" --doublets 0.5" if doublets else "")
    report = written(words.split())
    parents, copies = report["parents"], report.get("copies", [])
    assert report["trees"] == [parents, parents]
    assert [copy["kind"] for copy in copies] == ["recurrent"] * recurrent + ["loss"] * losses
    assert [copy["node"] for copy in copies] == list(range(mutations, mutations + recurrent + losses))
    assert len({copy["mutation"] for copy in copies}) == len(copies)
    for copy in copies:
        assert_allowed(copy, parents)
    partners = report.get("partners", [-1] * 15)
    for mutation, cell in product(range(mutations), range(15)):
        nodes = [report["attachments"][cell], *([partners[cell]] if partners[cell] >= 0 else [])]
        expected = any(has(mutation, node, parents, copies) for node in nodes)
        assert report["matrix"][mutation, cell] == expected


@pytest.mark.parametrize(("recurrent", "losses"), [(1, 0), (0, 1)])
def test_all_allowed_trees_of_three_nodes_are_drawn_and_no_others(recurrent: int, losses: int) -> None:
    kind = "recurrent" if recurrent else "loss"
    allowed = set()
    for tree, mutation in product(all_trees(3), range(2)):
        try:
            assert_allowed(Copy(mutation, 2, kind), list(tree))
        except AssertionError:
            continue
        allowed.add((tuple(tree), mutation))
    rng = np.random.Generator(np.random.PCG64(1))
    drawn = set()
    for _ in range(500):
        parents, (copy,) = random_parents_with_copies(2, recurrent, losses, rng)
        drawn.add((tuple(parents.tolist()), copy.mutation))
    assert drawn == allowed
    assert len(allowed) == (4 if recurrent else 2)


def test_without_copies_the_score_is_the_usual_one() -> None:
    made = simulate(cells=5000, mutations=20, missing=0.1, seed=3, fp_rate=0.01, fn_rate=0.2)
    rates = Rates(0.01, 0.2)
    found = log_likelihood_of_states(made.matrix, rates, states_of(made.parents, 20, ()))
    assert found == pytest.approx(log_likelihood(made.matrix, rates, made.parents), rel=1e-12)


def test_the_score_with_copies_is_that_of_its_definition() -> None:
    made = simulate(40, 15, 0.01, 0.2, 0.1, 3, recurrent=2, losses=1)
    rates, table = Rates(0.01, 0.2), Rates(0.01, 0.2).log_table().tolist()
    parents, copies = made.parents.tolist(), [copy._asdict() for copy in made.copies]
    expected = sum(
        max(
            sum(table[made.matrix.values[gene, cell]][has(gene, node, parents, copies)] for gene in range(15))
            for node in range(len(parents))
        )
        for cell in range(40)
    )
    found = log_likelihood_of_states(made.matrix, rates, states_of(made.parents, 15, made.copies))
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_draws_without_copies_stay() -> None:
    one = simulate(30, 12, **EXACT, missing=0.1, seed=2)
    two = simulate(30, 12, **EXACT, missing=0.1, seed=2, losses=0)
    np.testing.assert_array_equal(one.matrix.values, two.matrix.values)
    assert two.copies == ()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"recurrent": 3, "losses": 2}, "3 recurrent and 2 lost mutations are more than there are mutations"),
        ({"mutations": 1, "losses": 1}, "no tree with 0 recurrent and 1 lost of 1 mutations"),
        ({"recurrent": -1}, "recurrent is -1"),
        ({"losses": 1.5}, "losses is"),
        ({"doublets": "learn"}, "--doublets learn is not a rate"),
    ],
)
def test_impossible_numbers_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        simulate(**{"cells": 5, "mutations": 4, "missing": 0.0, "seed": 1, **EXACT, **more})


def test_the_command_refuses_what_is_impossible(tmp_path: Path) -> None:
    words = "simulate --cells 5 --mutations 2 --fp-rate 0.1 --fn-rate 0.1 --losses 3"
    done = CliRunner().invoke(cli, [*words.split(), "--out", str(tmp_path / "out")])
    assert done.exit_code != 0
    assert "more than there are mutations" in f"{done.output} {done.exception}"
