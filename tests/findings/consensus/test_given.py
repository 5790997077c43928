"""Consensus of given trees: that of samples, weights, clone trees, cells, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import random_parents
from syclade.host.data.trees.named import NamedTree, named_tree_of
from syclade.host.data.trees.newick import to_newick
from syclade.host.findings.consensus.clone_tree import clone_support
from syclade.host.findings.consensus.find_consensus import consensus_tree
from syclade.host.findings.consensus.given import TreeConsensus, consensus_of_trees
from syclade.host.findings.consensus.relations import count_relations
from syclade.host.findings.consensus.search import THRESHOLDS
from syclade.host.ground.errors import OptionError, SycladeError

NAMES = tuple(f"gene {number}" for number in range(8))


def trees_like(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Draw trees that share most of their edges."""
    draw = np.random.default_rng(seed)
    first, found = random_parents(len(NAMES), draw), []
    for _ in range(count):
        tree = first.copy()
        for node in draw.choice(len(NAMES), 2, replace=False):
            other = random_parents(len(NAMES), draw)
            changed = tree.copy()
            changed[node] = other[node]
            if _is_tree(changed):
                tree = changed
        found.append(tree)
    return np.array(found, dtype=np.int32)


def _is_tree(parents: np.ndarray[Any, np.dtype[np.int32]]) -> bool:
    above = parents
    for _ in range(len(parents)):
        above = parents[above]
    return bool((above == len(parents) - 1).all())


def named(trees: np.ndarray[Any, np.dtype[np.int32]]) -> list[NamedTree]:
    return [named_tree_of(tree, NAMES) for tree in trees]


@pytest.mark.parametrize("seed", range(6))
def test_it_is_that_of_samples(seed: int) -> None:
    trees = trees_like(seed, 30)
    relations = count_relations(lambda: [trees])
    expected, gain = consensus_tree(lambda: [trees], trees[0], relations, THRESHOLDS)
    found = consensus_of_trees(named(trees))
    assert found.mutations == NAMES
    assert found.gain == pytest.approx(gain)
    assert found.tree.clone_of.tolist() == expected.clone_of.tolist()
    assert found.tree.parents.tolist() == expected.parents.tolist()
    np.testing.assert_array_equal(found.support, clone_support(expected, lambda: [trees]))
    assert found.relations.above.tolist() == relations.above.tolist()
    assert found.relations.apart.tolist() == relations.apart.tolist()


def test_weights_repeat_trees() -> None:
    trees = trees_like(1, 3)
    weighted = consensus_of_trees(named(trees), [1, 2, 5])
    repeated = consensus_of_trees(named(np.repeat(trees, [1, 2, 5], axis=0)))
    assert weighted.tree.clone_of.tolist() == repeated.tree.clone_of.tolist()
    np.testing.assert_allclose(weighted.support, repeated.support, atol=1e-5)
    np.testing.assert_allclose(weighted.relations.before, repeated.relations.before, atol=1e-5)
    alone = consensus_of_trees(named(trees), [0, 0, 0.5])
    assert (alone.relations.before == consensus_of_trees(named(trees[2:])).relations.before).all()
    for wrong in ([1.0], [1.0] * 4, [1, 2], [0, 0, 0], [1, -1, 3], [1, float("nan"), 1]):
        with pytest.raises(OptionError, match="weight"):
            consensus_of_trees(named(trees), wrong)


def written(folder: Path, *texts: str) -> list[Path]:
    paths = [folder / f"tree {number} é.nwk" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")
    return paths


def test_clones_of_given_trees_are_open(tmp_path: Path) -> None:
    """Mutations in one clone are neither before each other nor apart."""
    found = syclade.consensus(written(tmp_path, "('b|a',c)r;", "('a|b',c)r;", "((b,d)a,c)r;"))
    assert isinstance(found, TreeConsensus)
    assert (found.mutations, found.left_out) == (("a", "b", "c"), ("d",))
    assert found.tree.clone_of.tolist() == [1, 1, 2]
    assert found.relations.before[0, 1] == pytest.approx(1 / 3)
    assert found.relations.apart[0, 1] == 0.0
    assert found.support.tolist() == [1.0, 1.0, 1.0]
    assert found.to_newick() == "('a|b'[&support=1],c[&support=1])root;\n"
    assert "left out" in found.warnings[0]
    assert found.to_clones().endswith("unplaced" + 11 * "\t" + "d\n")


def test_names_at_a_root_are_mutations_where_others_have_them(tmp_path: Path) -> None:
    found = syclade.consensus(written(tmp_path, "(b,c)a;", "((b,c)a)root;", "((b,c)a)germline;"))
    assert isinstance(found, TreeConsensus)
    assert found.mutations == ("a", "b", "c")
    assert found.relations.before[0].tolist() == [0.0, 1.0, 1.0]


def test_majority_of_trees_of_cells(tmp_path: Path) -> None:
    texts = ("((a,b),(c,d),e);", "((a,b)90,c,d,e);", "((a,c),(b,d));")
    found = syclade.consensus(written(tmp_path, *texts), kind="cells")
    assert found.to_newick() == "((a,b)67,c,d)100;\n"
    assert found.left_out == ("e",)
    assert syclade.consensus(written(tmp_path, *texts), kind="cells", weights=[1, 1, 3]).to_newick() == (
        "((a,c)60,(b,d)60)100;\n"
    )


def test_the_command_writes_files_and_replaces_none(tmp_path: Path) -> None:
    trees, out = trees_like(2, 12), tmp_path / "out é"
    many = tmp_path / "many.nwk"
    many.write_text("".join(to_newick(tree, NAMES) for tree in trees))
    (tmp_path / "weights.txt").write_text("\n".join(["1"] * 11 + ["0.5"]))
    options = ["consensus", str(many), "--weights", str(tmp_path / "weights.txt"), "--out", str(out)]
    said = CliRunner().invoke(cli, [*options, "--json"], catch_exceptions=False)
    report = json.loads(said.stdout)
    assert (report["trees"], len(report["mutations"])) == (12, 8)
    assert sorted(path.name for path in out.iterdir()) == ["clones.tsv", "consensus.newick", "relations.tsv"]
    again = syclade.compare(out / "consensus.newick", out / "consensus.newick")
    assert again.shared == 8
    refused = CliRunner().invoke(cli, options)
    assert "already has consensus.newick" in str(refused.exception)
    assert (
        CliRunner()
        .invoke(cli, [*options, "--force"], catch_exceptions=False)
        .stdout.startswith("consensus of 12 trees: 8 mutations in ")
    )
    (tmp_path / "weights.txt").write_text("1\nx\n")
    bad = CliRunner().invoke(cli, [*options, "--force"])
    assert "weights.txt:2: 'x' is not a number" in str(bad.exception)
    for trees_of in ([str(tmp_path / "none.nwk")], [str(out.parent / "weights.txt")]):
        failed = CliRunner().invoke(cli, ["consensus", *trees_of, "--out", str(tmp_path / "c")])
        assert isinstance(failed.exception, SycladeError)
