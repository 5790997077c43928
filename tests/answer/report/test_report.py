"""The report: complete, without scripts or external resources, whatever the names of the mutations."""

import re
import struct
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.answer.report.figure import (
    COLOURS,
    MOST_COLUMNS,
    PALETTE,
    beside_tree,
    entries_in_order,
    figure_of_consensus,
    in_order_of_tree,
    png_of,
    support_of,
)
from syclade.host.answer.report.tree_svg import LETTER, WIDEST, picture_of
from syclade.host.commands.main import cli
from syclade.host.data.input.evidence import Likelihoods
from syclade.host.data.input.matrix import matrix_from_array, with_names
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.clones import clones_of
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.ground.options import command_of
from tests.conftest import ROOT

HOSTILE = "</script><img src=x onerror=alert(1)>"
EXAMPLE = ROOT / "host" / "data" / "example"


class Page(HTMLParser):
    """Parsed page: elements, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def result_of(cells: int, mutations: int, names: list[str] | None = None) -> syclade.Result:
    made = simulate(cells, mutations, 0.01, 0.2, 0.1, 3).matrix
    matrix = with_names(matrix_from_array(made.values), names)
    return syclade.infer(matrix, fp_rate=0.01, fn_rate=0.2, chains=2, steps=300, device="native")


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(result_of(20, 5, [HOSTILE, 'a"b', "c&d", "<e>", "ß" * 60]).report())


def test_nothing_runs_and_nothing_is_fetched(hostile: Page) -> None:
    assert not {"script", "link", "iframe", "object", "form"} & set(hostile.tags)
    assert hostile.tags.count("image") == 1
    for name, value in hostile.attributes:
        assert not name.startswith("on")
        assert "://" not in (value or "")
        if name in {"src", "href"}:
            assert (value or "").startswith("data:image/")
    policy = next(value for _, value in hostile.attributes if value and value.startswith("default-src"))
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_names_are_text(hostile: Page) -> None:
    assert "</script><img src=x" in hostile.text
    assert "c&d" in hostile.text
    assert ("role", "img") in hostile.attributes
    assert all(value for name, value in hostile.attributes if name in ("alt", "aria-label"))


@pytest.mark.parametrize(("cells", "mutations"), [(6, 1), (12, 3), (90, 40), (200, 90), (900, 800)])
def test_labels_do_not_meet(cells: int, mutations: int) -> None:
    made = simulate(cells, mutations, 0.01, 0.2, 0.1, 3)
    parents = made.parents
    attachment = np.random.default_rng(1).integers(0, mutations + 1, cells).astype(np.int32)
    clones = clones_of(parents, attachment)
    picture = picture_of(clones, made.matrix.mutations)
    assert sorted(one for clone in clones for one in clone.mutations) == list(range(mutations))
    assert sum(clone.cells for clone in clones) == cells == clones[0].below
    assert all(clones[clone.parent].depth == clone.depth - 1 for clone in clones[1:])
    heights = [row.y for row in picture.rows]
    np.testing.assert_allclose(np.diff(heights), picture.heights[:-1])
    labelled = [row.y for row in picture.rows if row.text]
    assert len(labelled) > 1
    assert np.diff(labelled).min() >= 15
    assert all(row.text_x > row.x + row.radius for row in picture.rows)
    assert all(row.text_x + LETTER * len(row.text) <= picture.width for row in picture.rows)
    assert heights[-1] < picture.height
    assert picture.width <= WIDEST + 60


def test_the_map_has_every_entry() -> None:
    result = result_of(30, 8)
    assert result.observed is not None
    shown = in_order_of_tree(
        result.observed.values, result.kind.genotypes(result.tree), result.kind.cell_order(result.tree)
    )
    counted = np.bincount(shown.ravel(), minlength=len(COLOURS))
    values = np.bincount(result.observed.values.ravel(), minlength=4)
    assert counted[3] == values[3]
    assert counted[1] + counted[4] == values[1]
    assert counted[0] + counted[5] == values[0]
    png = png_of(shown)
    assert struct.unpack(">II", png[16:24]) == (30, 8)
    np.testing.assert_array_equal(pixels_of(png), shown)


def pixels_of(png: bytes) -> NDArray[np.uint8]:
    """Decode the one kind of PNG that is written: each row stores its difference from the row above."""
    start = png.index(b"IDAT") + 4
    columns, rows = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[start - 8 : start - 4])[0]
    content = zlib.decompress(png[start : start + length])
    lines = np.frombuffer(content, dtype=np.uint8).reshape(rows, columns + 1)
    assert (lines[:, 0] == 2).all()
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8)


def test_rows_of_the_matrix_stand_beside_their_clones() -> None:
    result = result_of(25, 12)
    assert result.observed is not None
    clones = clones_of(result.parents, result.attachment)
    tree = picture_of(clones, result.mutations)
    shown = in_order_of_tree(
        result.observed.values, result.kind.genotypes(result.tree), result.kind.cell_order(result.tree)
    )
    picture = beside_tree(shown, clones, tree.heights)
    assert picture.shape == (sum(tree.heights), 25)
    for clone, bottom, height in zip(clones, np.cumsum(tree.heights), tree.heights, strict=True):
        band = picture[bottom - height : bottom - 1]
        rows = {tuple(row) for row in band.tolist()}
        assert rows == {tuple(shown[one].tolist()) for one in clone.mutations} or not clone.mutations
    wide = beside_tree(np.zeros((12, 5000), np.uint8), clones, tree.heights)
    assert wide.shape[1] == MOST_COLUMNS


def test_shares_of_other_trees_are_on_the_edges() -> None:
    made = simulate(20, 6, 0.05, 0.3, 0.2, 3).matrix
    asked: dict[str, Any] = {"fp_rate": 0.05, "fn_rate": 0.3, "device": "native", "steps": 4000, "chains": 2}
    sampled = syclade.infer(made, samples=20, **asked)
    assert isinstance(sampled.samples, SampledMutationTrees)
    clones = clones_of(sampled.parents, sampled.attachment)
    shares, of = support_of(sampled, clones)
    assert shares is not None
    assert of == "the sampled trees"
    for clone, share in zip(clones[1:], shares[1:], strict=True):
        first = clone.mutations[0]
        assert share == sampled.samples.posterior.edges[sampled.parents[first], first]
    page = Page(sampled.report())
    assert "the share of the sampled trees" in page.text
    assert sum((value or "").startswith("data:image/svg+xml;base64,") for _, value in page.attributes) == 1
    assert sampled.report() == sampled.report(), "equal bytes, traces as well"
    equal = syclade.infer(made, fp_rate=0.05, fn_rate=0.3, device="native", max_trees=50, support="none")
    assert equal.co_optimal is not None
    shares, of = support_of(equal, clones_of(equal.parents, equal.attachment))
    assert (shares is None) == (len(equal.co_optimal.trees) == 1)
    assert "Trees that are as likely" in Page(equal.report()).text


def test_error_rates_are_those_of_the_tree() -> None:
    result = result_of(30, 8)
    assert result.observed is not None
    expected = ancestor_matrix(result.parents)[:-1, result.attachment].astype(bool)
    values = result.observed.values
    wrong, lost = int(((values == 1) & ~expected).sum()), int(((values == 0) & expected).sum())
    text = Page(result.report()).text
    assert f"In this tree, {wrong} of {int(((values != 3) & ~expected).sum())} entries" in text
    assert f"and {lost} of {int(((values != 3) & expected).sum())} entries" in text


def test_learned_rates_are_told_from_given_ones() -> None:
    made = simulate(20, 6, 0.01, 0.2, 0.1, 3).matrix
    asked: dict[str, Any] = {"learn_fn": 0.3, "samples": 10, "chains": 2, "steps": 400, "device": "numpy"}
    result = syclade.infer(made, fp_rate=0.01, fn_rate=0.2, seed=1, **asked)
    text = Page(result.report()).text
    assert result.learned is not None
    assert "learned with the tree; prior 0.2 ± " in text
    assert f"{result.learned['fn_rate']['value']:.6g}" in text
    assert text.count("given") == 1
    assert "fn_rate: mean" in text
    assert "fn_rate: rhat" in text


def test_estimated_rates_and_the_tree_to_publish() -> None:
    made = simulate(60, 12, 0.01, 0.2, 0.1, 5).matrix
    result = syclade.infer(made, device="native")
    text = Page(result.report()).text
    assert (text.count("estimated from the matrix: "), text.count("given")) == (2, 0)
    assert f"{result.rates.fn_rate:.6g}" in text
    assert "fn_rate over the sampled trees: " in text
    assert result.support is not None
    assert f"{result.total_seconds:.2f} s, of which searches {result.seconds:.2f} s, support " in text
    assert result.total_seconds > result.seconds + result.support.seconds
    assert "--fp-rate" not in text, "the command estimates the rates again"
    assert text.index("The tree to publish") < text.index("The most likely tree")


def test_the_figure_of_the_consensus() -> None:
    made = simulate(60, 12, 0.01, 0.2, 0.1, 5).matrix
    consensus = syclade.infer(made, fp_rate=0.01, fn_rate=0.2, device="native").consensus
    assert consensus is not None
    figure = figure_of_consensus(consensus)
    assert len(figure.clones) == consensus.tree.clones
    assert sorted(one for clone in figure.clones for one in clone.mutations) == list(range(12))
    assert [clone.mutations for clone in figure.clones] == [tuple(one) for one in consensus.tree.members]
    assert figure.clones[0].below == sum(clone.cells for clone in figure.clones) == 60
    for clone, share, row in zip(figure.clones, consensus.support, figure.tree.rows, strict=True):
        above = figure.clones[clone.parent]
        assert clone.depth == (above.depth + 1 if clone.mutations else 0)
        assert not clone.mutations or f"in {share:.1%} of the sampled trees" in row.title


def test_doublets_have_their_section() -> None:
    made = simulate(60, 10, 0.001, 0.1, 0.0, 5, doublets=0.3)
    asked: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.1, "doublets": 0.3, "chains": 2, "steps": 3000}
    result = syclade.infer(made.matrix, **asked, device="native")
    calls = result.assignment.doublets
    assert calls is not None
    page = Page(result.report())
    likely = np.flatnonzero(calls.probability > 0.5)
    assert len(likely) > 3
    assert f"Rate of doublets: 0.3 (given). {calls.expected:.1f} of 60 cells" in page.text
    assert f"{len(likely)} are more likely one than not" in page.text
    assert "two cells of one lineage cannot be seen" in page.text
    has = ancestor_matrix(result.parents)[:-1].astype(bool)
    expected = has[:, result.attachment]
    expected[:, likely] = has[:, calls.first[likely]] | has[:, calls.second[likely]]
    wrong = int(((made.matrix.values == 1) & ~expected).sum())
    alone = int(((made.matrix.values == 1) & ~has[:, result.attachment]).sum())
    assert f"In this tree, {wrong} of {int((~expected).sum())} entries" in page.text
    assert wrong < alone, "with single nodes, doublets would be errors"


def test_contradicted_rates_are_in_the_report() -> None:
    made = simulate(60, 12, 0.02, 0.2, 0.1, 5).matrix
    result = syclade.infer(made, fp_rate=1e-4, fn_rate=0.2, device="native", support="none")
    assert "fp_rate" in result.contradicted
    assert "The matrix contradicts --fp-rate 0.0001: " in Page(result.report()).text


def test_it_stays_small() -> None:
    assert len(result_of(1000, 60).report().encode()) < 10**6


def test_the_command_writes_it(tmp_path: Path) -> None:
    asked = [str(EXAMPLE / "matrix.csv"), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "native"]
    out = tmp_path / "out"
    said = CliRunner().invoke(cli, ["infer", *asked, "--report"])
    assert said.exit_code != 0
    CliRunner().invoke(
        cli, ["infer", *asked, "--report", "--max-trees", "3", "--out", str(out)], catch_exceptions=False
    )
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    for heading in (
        "The tree to publish",
        "clonal tree and matrix",
        "Convergence",
        "Trees that are as likely",
        "Provenance",
    ):
        assert heading in page.text
    assert re.search(r"syclade infer .*--fp-rate 0.001 --fn-rate 0.2 .*--seed 1 ", page.text)


def test_the_command_repeats_the_run() -> None:
    result = result_of(12, 4)
    command = command_of("MATRIX", result.options)
    assert "--chains 2 --steps 300" in command
    assert "--move-probs" in command


def test_entries_with_evidence_are_paler_the_less_sure_they_are() -> None:
    odds = np.array([[6.0, 2.0, 1.0, 0.2, 0.0, -0.2, -6.0]] * 2)
    values = np.array([[1, 1, 1, 1, 3, 0, 0]] * 2, dtype=np.uint8)
    matrix = replace(matrix_from_array(values), evidence=Likelihoods(odds))
    has = np.array([[True] * 7, [False] * 7])
    shown = entries_in_order(matrix, has, np.arange(7))
    blank = COLOURS["missing"]
    colours = [[PALETTE[index] for index in row] for row in shown.tolist()]
    assert colours[0][0] == COLOURS["mutation"]
    assert colours[1][0] == COLOURS["observed against the tree"]
    assert colours[0][6] == COLOURS["in the tree, not observed"]
    assert colours[1][6] == COLOURS["not observed"]
    assert colours[0][4] == colours[1][4] == blank
    for row in colours:
        light = [sum(colour) for colour in row]
        assert light[0] < light[1] < light[2] < light[3] < sum(blank)
        assert light[6] < light[5] < sum(blank)
    reverse = entries_in_order(matrix, has, np.arange(7)[::-1])
    assert reverse[:, ::-1].tolist() == shown.tolist()
    calls = entries_in_order(replace(matrix, evidence=None), has, np.arange(7))
    assert calls.tolist() == in_order_of_tree(values, has, np.arange(7)).tolist()
