"""Samples of cell trees: events on every backend, clades, files, and convergence diagnostics."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import syclade
from syclade.host.chains.plan import make_leaf_plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import canonical, clades
from syclade.host.data.trees.tree import initial_leaf_parents, tree_key
from syclade.host.data.trees.treefile import leaf_newick, read_leaf_tree
from syclade.host.findings.samples import cell_trees as clades_module
from syclade.host.findings.samples.cell_trees import (
    CladeFeatures,
    SampledCellTrees,
    majority_newick,
    packed_clades,
)
from syclade.host.findings.samples.diagnostics import clade_ess, spread_of
from syclade.host.ground.errors import OptionError
from tests.support.did_all import assert_did_all

MATRIX = simulate(cells=9, mutations=7, fp_rate=0.02, fn_rate=0.2, missing=0.1, seed=4).matrix
ASKED: dict[str, Any] = {
    "fp_rate": 0.02,
    "fn_rate": 0.2,
    "chains": 3,
    "steps": 4000,
    "samples": 20,
    "seed": 2,
}
trees = st.builds(
    lambda cells, seed: initial_leaf_parents(2 * cells - 2, seed, 0),
    st.integers(2, 40),
    st.integers(0, 10**6),
)


@pytest.fixture(scope="module")
def result() -> Any:
    return syclade.infer_leaf(MATRIX, device="native", **ASKED)


def clade_sets(parents: NDArray[np.int32]) -> set[frozenset[int]]:
    """Return the clades of more than one cell, by definition."""
    below = clades(parents)
    return {frozenset(np.flatnonzero(row).tolist()) for row in below[below.shape[1] :]}


# ---- clades and trees as text


@given(st.lists(trees, min_size=1, max_size=1))
def test_packed_clades_are_the_clades(one: list[NDArray[np.int32]]) -> None:
    (parents,) = one
    cells = (len(parents) + 1) // 2
    bits = np.unpackbits(packed_clades(parents[None])[0], axis=1, bitorder="little")[:, :cells]
    np.testing.assert_array_equal(bits.astype(bool), clades(parents)[cells:])


@given(trees)
def test_newick_has_the_tree(tmp_path_factory: pytest.TempPathFactory, parents: NDArray[np.int32]) -> None:
    cells = (len(parents) + 1) // 2
    names = [f"c{cell}" for cell in range(cells)]
    text = leaf_newick(parents, names)
    assert text == leaf_newick(canonical(parents), names)
    path = tmp_path_factory.getbasetemp() / "one.newick"
    path.write_text(text)
    found = read_leaf_tree(path, tuple(names), cells)
    np.testing.assert_array_equal(canonical(found), canonical(parents))


def test_the_majority() -> None:
    shares = {
        frozenset({0, 1, 2, 3, 4}): 1.0,
        frozenset({0, 1}): 0.75,
        frozenset({0, 1, 4}): 0.504,
        frozenset({2, 3}): 0.5,
        frozenset({1, 2}): 0.2,
    }
    assert majority_newick(shares, ["a", "b c", "d", "e", "f"]) == "(((a,'b c')75,f)50,d,e)100;\n"


# ---- statistics of samples


def test_samples_are_counted(result: Any) -> None:
    sampled = result.samples
    lines = list(sampled.lines())
    assert len(lines) == 3 * 150 == sampled.log_likelihoods.size
    assert [float(line.split("\t")[0]) for line in lines] == pytest.approx(
        sampled.log_likelihoods.ravel().tolist(), rel=1e-5
    )
    counts: Counter[frozenset[int]] = Counter()
    for line in lines:
        newick = line.split("\t")[1]
        stack: list[set[int]] = []
        for token in re.findall(r"[()]|s\d+", newick):
            if token == "(":
                stack.append(set())
            elif token == ")":
                done = stack.pop()
                counts[frozenset(done)] += 1
                if stack:
                    stack[-1] |= done
            else:
                stack[-1].add(int(token[1:]))
    assert {clade: count / len(lines) for clade, count in counts.items()} == pytest.approx(sampled.clades)


def test_clades_have_the_posterior_of_four_cells() -> None:
    """Enumerate all 15 trees, and compare the sampled clades with the exact posterior."""
    matrix = simulate(cells=4, mutations=5, fp_rate=0.1, fn_rate=0.3, missing=0.1, seed=8).matrix
    found = syclade.infer_leaf(
        matrix, fp_rate=0.1, fn_rate=0.3, chains=8, steps=40_000, samples=10, device="native", seed=3
    )
    from syclade.host.data.model.problem import make_leaf_problem
    from syclade.host.data.model.rates import Rates

    plan = make_leaf_plan(make_leaf_problem(matrix, Rates(0.1, 0.3)))
    every_tree = {tree_key(one): one for one in map(canonical, _all_of_four())}
    assert len(every_tree) == 15
    nats = np.array([plan.score_of(one) * plan.problem.unit for one in every_tree.values()])
    weights = np.exp(nats - nats.max())
    weights /= weights.sum()
    exact: dict[frozenset[int], float] = {}
    for weight, tree in zip(weights.tolist(), every_tree.values(), strict=True):
        for clade in clade_sets(tree):
            exact[clade] = exact.get(clade, 0.0) + weight
    assert isinstance(found.samples, SampledCellTrees)
    assert found.samples.clades == pytest.approx(exact, abs=0.01)
    other = {clade: 1 / 15 for clade in exact}
    assert found.samples.clades != pytest.approx(other, abs=0.01)


def _all_of_four() -> list[NDArray[np.int32]]:
    return [initial_leaf_parents(6, seed, 0) for seed in range(400)]


def rows_of(some: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    numbers: dict[frozenset[int], int] = {}
    return np.array(
        [sorted(numbers.setdefault(clade, len(numbers)) for clade in clade_sets(tree)) for tree in some]
    )


def test_effective_sizes() -> None:
    independent = [initial_leaf_parents(14, seed, 0) for seed in range(300)]
    assert clade_ess(rows_of(independent)) > 200
    slow = [independent[at // 20] for at in range(300)]
    assert 8 < clade_ess(rows_of(slow)) < 30
    assert clade_ess(rows_of(slow[:20])) == 1.0
    assert np.isnan(clade_ess(rows_of(slow[:3])))


def test_distances_are_those_of_robinson_and_foulds() -> None:
    """Sum over pairs of lags, with distances computed from the sets of clades."""
    some = [initial_leaf_parents(10, seed // 2, 0) for seed in range(8)]
    sets = [clade_sets(tree) for tree in some]
    near = np.mean([len(one - other) for one, other in pairwise(sets)])
    mean = np.mean([len(one - other) for one in sets for other in sets])
    total, last = 0.0, np.inf
    for lag in range(0, 6, 2):
        apart = [[len(a - b) for a, b in zip(sets[at:], sets, strict=False)] for at in (lag, lag + 1)]
        pair = sum(1 - float(np.mean(one)) / float(mean) for one in apart)
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    assert near < mean
    assert clade_ess(rows_of(some)) == pytest.approx(min(max(8 / max(2 * total - 1, 1e-3), 1), 8))


def test_a_chain_that_stands_still_is_told_of() -> None:
    flat = syclade.infer_leaf(MATRIX, **{**ASKED, "steps": 200, "samples": 10, "device": "numpy"})
    assert flat.samples is not None
    assert any("worth" in words for words in flat.samples.warnings)
    assert spread_of(np.array([[0.5, 0.01], [0.7, 0.02]])) == pytest.approx(np.std([0.5, 0.7], ddof=1))


def test_rare_clades_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from syclade.host.chains.state import Event

    monkeypatch.setattr(clades_module, "MOST_CLADES", 50)
    store = SampleStore(19)
    often = initial_leaf_parents(18, 1, 0)
    for seed in range(200):
        rare = initial_leaf_parents(18, seed + 2, 0)
        store.take([Event(0, 1, 5, 1, 0, often), Event(0, 2, 5, 1, 0, rare), Event(1, 2, 5, 2, 0, rare)])
    sink = CladeFeatures(store)
    found = sink.clades()
    assert sink.samples == 400
    assert len(found) < 200
    for clade in clade_sets(often):
        assert found[clade] >= 0.5
    sizes = [len(tree) for tree in sink.trees()]
    assert sizes == [400]


# ---- user interface


def test_equal_runs_have_equal_files(result: Any, tmp_path: Path) -> None:
    other = syclade.infer_leaf(MATRIX, device="numpy", slots=2, **ASKED)
    assert_did_all(result, "native")
    assert_did_all(other, "numpy")
    result.write(tmp_path / "one")
    other.write(tmp_path / "other")
    for name in ("tree.samples", "clades.tsv", "consensus.newick", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_stopped_run_goes_on_with_its_samples(result: Any, tmp_path: Path) -> None:
    from syclade.host.ground.signals import Stop

    stop, place, seen = Stop(), tmp_path / "run", 0

    def count(_: object) -> None:
        nonlocal seen
        seen += 1
        stop.wanted = seen >= 2

    # With one slot chains run one after the other: there are at least as many launches as chains.
    options = {**ASKED, "device": "native", "checkpoint": place, "checkpoint_every": 0, "slots": 1}
    first = syclade.infer_leaf(MATRIX, stop=stop, progress=count, **options)
    assert first.interrupted
    again = syclade.infer_leaf(MATRIX, resume=place, **options)
    assert again.samples is not None
    assert list(again.samples.lines()) == list(result.samples.lines())
    assert again.samples.to_dict() == result.samples.to_dict()


def test_the_command(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "m.csv", MATRIX.values, fmt="%d")
    words = ["infer", str(tmp_path / "m.csv"), "--fp-rate", "0.02", "--fn-rate", "0.2", "--tree", "leaf"]
    words += ["--chains", "2", "--steps", "2000", "--samples", "20", "--device", "native"]
    done = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "150 samples of 2 chains" in done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["samples"]["samples"] == 150
    with (tmp_path / "out" / "clades.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert rows[0]["size"] == "9"
    assert rows[0]["probability"] == "1"
    assert (tmp_path / "out" / "consensus.newick").read_text().endswith(")100;\n")
    again = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "out")])
    assert again.exit_code != 0


def test_samples_want_steps() -> None:
    with pytest.raises(OptionError, match="--samples without --steps"):
        syclade.infer_leaf(MATRIX, fp_rate=0.02, fn_rate=0.2, samples=10)
