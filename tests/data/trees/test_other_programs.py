"""Other programs on our trees: distances of scphylo-tools, and readers of trees. `make peers` runs them."""

from __future__ import annotations

import json
import math
import subprocess
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Pairs, distances_between
from syclade.host.data.trees.multi_label import mp3_similarity, multi_label_distance
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.uniform import parents_from_pruefer

Nodes = NDArray[np.int32]
Tree = tuple[Nodes, Nodes]

pytestmark = pytest.mark.peers

SCPHYLO = """
import contextlib, io, json, os, sys
import pandas as pd
import scphylo as scp

def value(name, frames):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(ZeroDivisionError, RuntimeError):
        return getattr(scp.tl, name)(*[frame.copy() for frame in frames])

for pair in json.load(sys.stdin):
    frames = [pd.DataFrame(rows, index=cells, columns=names) for rows, cells, names in pair]
    if not os.fork():  # its MLTD crashes when it is called again in a process
        found = {name: value(name, frames) for name in ("ad", "dl", "caset", "disc", "mltd", "mp3")}
        os.write(1, (json.dumps(found, default=float) + "\\n").encode())
        os._exit(0)
    os.wait()
"""
"""Values of its measures; null where it ends with an error: no pair of the relation, or a single clone."""


def told_by(python: str | None, program: str, given: object) -> list[Any]:
    """Return the JSON in the lines that a program prints, which gets JSON on standard input."""
    assert python is not None, "give --peers PYTHON, as make peers does"
    ended = subprocess.run(
        [python, "-P", "-c", program], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def random_tree(draw: np.random.Generator, mutations: int, clones: int) -> Tree:
    """Draw a tree of clones without empty ones: its parents, and the node of each mutation."""
    code = draw.integers(0, clones + 1, clones - 1).tolist()
    node = np.concatenate([np.arange(clones), draw.integers(0, clones, mutations - clones)])
    return parents_from_pruefer(code, clones), draw.permutation(node).astype(np.int32)


def as_matrix(tree: Tree) -> tuple[list[list[int]], list[str], list[str]]:
    """Return a tree as the matrix of one cell at each clone, as scphylo-tools takes it."""
    clones = np.arange(len(tree[0]) - 1)
    rows = ancestor_matrix(tree[0])[np.ix_(tree[1], clones)].T.astype(int).tolist()
    return rows, [f"cell{clone}" for clone in clones.tolist()], [f"m{at}" for at in range(len(tree[1]))]


def test_distances_are_those_of_scphylo_tools(request: pytest.FixtureRequest) -> None:
    draw, pairs = np.random.default_rng(5), []
    for number in range(100):
        mutations = int(draw.integers(3, 15))
        least = mutations if number % 2 else max(2, mutations // 3)  # mutation trees, and clone trees
        pairs.append([random_tree(draw, mutations, int(draw.integers(least, mutations + 1))) for _ in "ab"])
    given = [[as_matrix(tree) for tree in reversed(pair)] for pair in pairs]
    told = told_by(request.config.getoption("--peers"), SCPHYLO, given)
    compared = 0
    for (tree, true), theirs in zip(pairs, told, strict=True):
        found = distances_between(Pairs(*tree), Pairs(*true))
        mltd = multi_label_distance(*tree, *true)
        ours = {
            "ad": found.ancestors.recall,
            "dl": found.lineages.recall,
            "caset": 1 - found.caset,
            "disc": 1 - found.disc,
        }
        for name, value in ours.items():
            none = {"ad": found.ancestors.true == 0, "dl": found.lineages.true == 0}
            assert (theirs[name] is None) == none.get(name, False), name
            assert theirs[name] is None or theirs[name] == pytest.approx(value), name
            compared += theirs[name] is not None
        # It compares sets of labels as text, in an order that depends on Python's hash seed: triples with
        # two mutations of a clone seem to differ.
        mp3, single = mp3_with_root(tree, true), found.clones.found == found.clones.true == 0
        assert theirs["mp3"] == pytest.approx(mp3) if single else theirs["mp3"] <= mp3 + 1e-9
        assert (theirs["mltd"]["distance"], theirs["mltd"]["similarity"]) == (mltd.distance, mltd.common)
        assert theirs["mltd"]["normalized_similarity"] == pytest.approx(mltd.similarity)
    assert compared > 350


def mp3_with_root(tree: Tree, true: Tree) -> float:
    """Return MP3's similarity with the root as one more mutation: triples with it agree as the pairs do."""
    one, two, mutations = Pairs(*tree), Pairs(*true), len(tree[1])
    agree = (one.before == two.before) & (one.before.T == two.before.T) & (one.same == two.same)
    triples = mp3_similarity(*tree, *true) * math.comb(mutations, 3)
    return float((triples + np.triu(agree, 1).sum()) / math.comb(mutations + 1, 3))
