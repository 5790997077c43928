"""Distances of trees: against definitions pair by pair, known values, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.commands.main import cli
from syclade.host.data.trees.distances import caset, disc, tree_distances
from syclade.host.data.trees.named import read_named_trees
from syclade.host.data.trees.newick import to_newick

Parents = NDArray[np.int32]


@st.composite
def pairs_of_trees(draw: st.DrawFn) -> tuple[Parents, Parents]:
    n = draw(st.integers(1, 9))
    return draw(_tree(n)), draw(_tree(n))


@st.composite
def _tree(draw: st.DrawFn, n: int) -> Parents:
    order = draw(st.permutations(range(n)))
    parents = np.full(n + 1, n, dtype=np.int32)
    for at, node in enumerate(order):
        parents[node] = draw(st.sampled_from([n, *order[:at]]))
    return parents


def _above(parents: Parents, node: int) -> set[int]:
    """Return a mutation and its ancestors, found by walking up."""
    found = set()
    while node != len(parents) - 1:
        found.add(node)
        node = int(parents[node])
    return found


def _jaccard(one: set[int], other: set[int]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


@given(pairs_of_trees())
def test_measures_are_those_of_their_definitions(trees: tuple[Parents, Parents]) -> None:
    tree, true = trees
    n = len(tree) - 1
    nodes = range(n)
    ordered = [(a, b) for a in nodes for b in nodes if a != b]
    sets = [
        (
            {(int(one[b]), b) for b in nodes},
            {(a, b) for a, b in ordered if a in _above(one, b)},
            {(a, b) for a, b in ordered if a < b and a not in _above(one, b) and b not in _above(one, a)},
        )
        for one in (tree, true)
    ]
    found = tree_distances(tree, true)
    for kind, own, other in zip((found.parents, found.ancestors, found.lineages), *sets, strict=True):
        assert (kind.shared, kind.found, kind.true) == (len(own & other), len(own), len(other))
        assert kind.distance == len(own ^ other)
    common = [
        _jaccard(_above(tree, a) & _above(tree, b) | {n}, _above(true, a) & _above(true, b) | {n})
        for a, b in ordered
        if a < b
    ]
    only = [
        _jaccard(_above(tree, a) - _above(tree, b), _above(true, a) - _above(true, b)) for a, b in ordered
    ]
    assert found.caset == pytest.approx(np.mean(common) if common else np.nan, nan_ok=True)
    assert found.disc == pytest.approx(np.mean(only) if only else np.nan, nan_ok=True)


def test_known_values() -> None:
    chain = np.array([3, 0, 1, 3], dtype=np.int32)
    star = np.array([3, 3, 3, 3], dtype=np.int32)
    found = tree_distances(chain, star)
    assert (found.ancestors.found, found.ancestors.true, found.ancestors.precision) == (3, 0, 0.0)
    assert found.ancestors.recall == 1.0
    assert (found.lineages.found, found.lineages.true, found.lineages.recall) == (0, 3, 0.0)
    assert caset(chain, star) == pytest.approx(np.mean([1 / 2, 1 / 2, 2 / 3]))
    assert disc(chain, chain) == 0.0
    # Ancestors in the first tree and not in the second: in the chain none, or one more than in the star.
    assert disc(star, chain) == pytest.approx(np.mean([1, 1, 0, 1, 0.5, 0]))


def test_values_are_those_of_scphylo_tools() -> None:
    """Its results are similarities: 1 minus these distances (version 0.1.1)."""
    generator = np.random.default_rng(1)

    def random_tree(n: int) -> Parents:
        order, parents = generator.permutation(n), np.full(n + 1, n, dtype=np.int32)
        for at, node in enumerate(order):
            parents[node] = generator.choice([n, *order[:at]])
        return parents

    expected = [
        (5, 0.5916666666666666, 0.4708333333333333, 0.0, 0.42857142857142855),
        (5, 0.4333333333333333, 0.4083333333333333, 0.0, 0.42857142857142855),
        (9, 0.7152777777777778, 0.4469907407407407, 0.0, 0.7777777777777778),
        (9, 0.46990740740740733, 0.2891203703703704, 0.0, 0.7272727272727273),
    ]
    for n, caset_of, disc_of, ancestors, lineages in expected:
        found = tree_distances(random_tree(n), random_tree(n))
        assert 1 - found.caset == pytest.approx(caset_of)
        assert 1 - found.disc == pytest.approx(disc_of)
        assert (found.ancestors.recall, found.lineages.recall) == pytest.approx((ancestors, lineages))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    names = ["a", "b", "c"]
    first, second = tmp_path / "first.newick", tmp_path / "second.newick"
    first.write_text(to_newick(np.array([3, 0, 1, 3], dtype=np.int32), names))
    second.write_text(to_newick(np.array([3, 0, 0, 3], dtype=np.int32), names))
    return first, second


def test_compare_tells_it(files: tuple[Path, Path]) -> None:
    said = CliRunner().invoke(cli, ["compare", *map(str, files), "--json"], catch_exceptions=False)
    report = json.loads(said.stdout)
    assert report["ancestors"]["precision"] == pytest.approx(2 / 3)
    assert report["ancestors"]["recall"] == 1.0
    assert report["parents"]["distance"] == 2
    words = CliRunner().invoke(cli, ["compare", *map(str, files)], catch_exceptions=False).stdout
    assert "ancestor of            precision 0.6667  recall 1.0000  distance 1" in words


def test_labels_are_the_mutations(tmp_path: Path) -> None:
    tree = tmp_path / "tree.gv"
    tree.write_text(
        "digraph g { Root -> b; b -> a; node [shape=box, style=filled, color=lightgrey]; a -> s0; b -> s1; }"
    )
    assert read_named_trees(tree)[0].names == ("a", "b")
    (tmp_path / "tree.newick").write_text("((s0,a)b,s1)Root;")
    assert read_named_trees(tmp_path / "tree.newick")[0].names == ("a", "b")
