"""Other programs on our trees: distances of scphylo-tools, and readers of trees. `make peers` runs them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from syclade.host.answer.figures.exports import FORMS, tree_files
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnClone, DrawnTree
from syclade.host.commands.main import cli
from syclade.host.data.trees.distances import Pairs, distances_between
from syclade.host.data.trees.multi_label import mp3_similarity, multi_label_distance
from syclade.host.data.trees.tree import ancestor_matrix, parents_from_pruefer
from tests.conftest import ROOT

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
    report = told_by(request.config.getoption("--peers"), SCPHYLO, given)
    compared = 0
    for (tree, true), theirs in zip(pairs, report, strict=True):
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


BLOCK = re.compile(r"^```(python|r)\n((?:(?!```).*\n)*)```\n\n```\n((?:(?!```).*\n)*)```$", re.MULTILINE)
"""Lines for another program on a page, and what they print."""

BLOCKS = [
    pytest.param(*found, id=f"{page}-{at}")
    for page in ("tree-tools", "r")
    for at, found in enumerate(BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8")))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the pages."""
    made = tmp_path_factory.mktemp("trees")
    (made / "host").symlink_to(ROOT / "host")
    commands = (
        "infer host/data/example/matrix.csv --fp-rate 0.001 --fn-rate 0.2 --device native --out results",
        *(f"convert results --to {form} --out trees" for form in FORMS),
        "simulate --samples 120,200 --mutations 8 --shares zipf --fp-rate 0.01 --fn-rate 0.15 --seed 3 "
        "--out patient",
        "infer patient/matrix.csv --device native --metadata patient/metadata.tsv --out biopsies",
    )
    with contextlib.chdir(made):
        for command in commands:
            CliRunner().invoke(cli, shlex.split(command), catch_exceptions=False)
    for command in commands:
        assert f"syclade {command}\n" in (ROOT / "docs" / "r.md").read_text("utf-8")
    return made


@pytest.mark.parametrize(("language", "lines", "printed"), BLOCKS)
def test_lines_of_the_pages_print_what_they_say(
    request: pytest.FixtureRequest, folder: Path, language: str, lines: str, printed: str
) -> None:
    program = [request.config.getoption("--peers"), "-c"]
    if language == "r":
        program = ["Rscript", "-e"]
        for package in re.findall(r"library\((\w+)\)", lines):
            options = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
            if subprocess.run(["Rscript", "-e", options], check=False, capture_output=True).returncode:
                pytest.skip(f"R has no package {package}, which is not at the registries of make peers")
    ended = subprocess.run(
        [*program, lines],
        cwd=folder,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.returncode) == (printed, 0), ended.stderr


ODD = {"it's": 0, "a b": 0, "x,y(1)": 1, "é|β:1": 1, "5": 2, "[c]": 5}
"""Clones whose names need quotes or are numbers, each with the number of its parent."""

READERS = """
import io, json, sys
import dendropy
from Bio import Phylo
from ete4 import Tree
nhx, nexus, nwk = json.load(sys.stdin)
tree = Tree(nhx, parser=1)
print(json.dumps({node.name: node.props.get("support") for node in tree.traverse()}))
for schema, text in (("newick", nhx), ("nexus", nexus)):
    tree = dendropy.Tree.get(data=text, schema=schema, preserve_underscores=True)
    label = lambda node: node.label or node.taxon.label
    print(json.dumps({label(node): node.annotations.get_value("support") for node in tree}))
tree = Phylo.read(io.StringIO(nwk), "newick")
above = {clade.clades[0].name: clade.confidence for clade in tree.get_nonterminals()}
print(json.dumps({leaf.name: above.get(leaf.name) for leaf in tree.get_terminals()}))
"""


def test_programs_read_names_and_support(request: pytest.FixtureRequest) -> None:
    """All of them find each clone under its label, with its support, also where names need quotes."""
    clones = [DrawnClone(0, 0, 0, (), 1.0, 0.1)]
    clones += [
        DrawnClone(at, parent, 1, (name,), 1.0, 0.1, support=at / 10)
        for at, (name, parent) in enumerate(ODD.items(), 1)
    ]
    nothing = np.zeros(0, dtype=np.int64)
    files = ResultFiles("", lambda _: None, best=DrawnTree(tuple(clones), nothing, nothing, nothing))
    files.__dict__["summary"] = {"tree": "mutation", "mutations": list(ODD)}
    given = [tree_files(files, form, "likely")[name] for form, name in FORMS.items()]
    expected = {
        "root": None, "it_s": "0.1", "a_b": "0.2", "x_y_1": "0.3", "é|β_1": "0.4", "5": "0.5", "c": "0.6",
    }  # fmt: skip
    of_ete, of_newick, of_nexus, of_bio = told_by(request.config.getoption("--peers"), READERS, given)
    for found in (of_ete, of_newick, of_nexus):
        assert found == expected
    inner = {label: None if share is None else float(share) for label, share in expected.items()}
    assert of_bio == {**inner, "x_y_1": None, "é|β_1": None, "c": None}  # leaves
