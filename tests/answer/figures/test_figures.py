"""Figures: the same from the folder and from the result, every name whole, the same clone in one colour."""

from __future__ import annotations

import json
import logging
import re
import struct
import zlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

import syclade
from syclade.host.answer.figures.canvas import fitted, room_of
from syclade.host.answer.figures.clone_shares import Interval, Panel, clones_scene
from syclade.host.answer.figures.convergence import diagnostic_rows
from syclade.host.answer.figures.heat_map import (
    COLOURS,
    MOST_COLUMNS,
    PALETTE,
    entries_in_order,
    in_order_of_tree,
    matrix_scene,
)
from syclade.host.answer.figures.kinds import KINDS, draw_figure
from syclade.host.answer.figures.posterior import posterior_scene
from syclade.host.answer.figures.scene import (
    Disc,
    Group,
    Line,
    Picture,
    Scene,
    Text,
    png_of,
    svg_of,
    width_of,
    wrapped,
)
from syclade.host.answer.figures.source import ResultFiles, files_in, files_in_memory
from syclade.host.answer.figures.style import CLONE_COLOURS, DrawnClone, DrawnTree, Style, ink_on
from syclade.host.answer.figures.trees import lay_out, tree_scene, with_title
from syclade.host.commands import plot as plot_command
from syclade.host.commands.main import cli
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.input.names import listed_names
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.errors import SycladeError
from tests.conftest import ROOT

NAMES = (
    "TP53",
    "a name with blanks",
    "KRAS|G12D",
    "x" * 70,
    "日本語",
    "<b>&\"'",
    "Ünïcode",
    "chr1:1:A/T",
    "B",
    "C",
)
RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.15, "device": "native"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a result with awkward names, whose matrix is beside it."""
    place = tmp_path_factory.mktemp("a folder with ü")
    made = simulate(60, len(NAMES), 0.01, 0.15, 0.1, 4).matrix
    (place / "matrix.csv").write_text("\n".join(" ".join(map(str, row)) for row in made.values) + "\n")
    (place / "matrix.geneNames").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    result = syclade.infer(place / "matrix.csv", **RATES)
    result.write(place / "out")
    RESULTS[place / "out"] = result
    return place / "out"


RESULTS: dict[Path, syclade.Result] = {}


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, ["plot", *map(str, words)], standalone_mode=False)


def texts_of(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg.encode())
    return ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("text")]


def all_texts(scene: Scene) -> list[Text]:
    flat = [one for item in scene.items for one in (item.items if isinstance(item, Group) else (item,))]
    return [one for one in flat if isinstance(one, Text)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fish"])
def test_the_folder_and_the_result_give_the_same_figure(folder: Path, kind: str) -> None:
    style = Style("A title", highlight=("TP53",))
    svg = svg_of(draw_figure(files_in(folder), kind, style, names="all"), alone=True)
    assert svg == svg_of(draw_figure(files_in_memory(RESULTS[folder]), kind, style, names="all"), alone=True)
    shown = texts_of(svg)
    assert "A title" in shown
    if kind != "convergence":
        together = "".join(shown).replace(",", "")
        assert all(name.replace(",", "") in together for name in NAMES), "every name, whole"


def test_the_most_likely_tree_has_the_cells_of_its_attachments(folder: Path) -> None:
    result = RESULTS[folder]
    tree = files_in(folder).likely
    assert sum(clone.cells for clone in tree.clones) == result.n_cells
    assert {clone.number for clone in tree.clones} == {None}, "other numbers than those of clones.tsv"
    expected = ancestor_matrix(result.parents)[:-1, result.attachment].astype(bool)
    np.testing.assert_array_equal(tree.genotypes(result.mutations), expected)
    np.testing.assert_array_equal(files_in_memory(result).likely.genotypes(result.mutations), expected)


def test_clones_have_one_number_and_one_colour_in_all_figures(folder: Path) -> None:
    files = files_in(folder)
    assert result_consensus(folder).tree.clones == len(files.published.clones)
    seen: dict[str, set[str]] = {}
    for kind in ("tree", "matrix", "clones"):
        for item in draw_figure(files, kind, Style()).items:
            if isinstance(item, Group):
                disc, number = item.items[0], item.items[1]
                assert isinstance(disc, Disc)
                assert isinstance(number, Text)
                seen.setdefault(number.text, set()).add(disc.fill)
    assert len(seen) == len(files.published.clones)
    assert all(len(colours) == 1 for colours in seen.values())


def result_consensus(folder: Path) -> Any:
    consensus = RESULTS[folder].consensus
    assert consensus is not None
    return consensus


def test_the_command_writes_each_kind(folder: Path, tmp_path: Path) -> None:
    assert tuple(KINDS) == plot_command.KINDS
    for kind, ending, start in (
        ("tree", "svg", b"<?xml"),
        ("matrix", "png", b"\x89PNG"),
        ("clones", "pdf", b"%PDF"),
        ("posterior", "svg", b"<?xml"),
        ("convergence", "svg", b"<?xml"),
    ):
        out = tmp_path / f"my {kind}.{ending}"
        done = run(folder, "--kind", kind, "--out", out, "--width", 183, "--font-size", 7)
        assert done.exception is None, done.exception
        assert out.read_bytes().startswith(start)
        assert re.search(r"wrote .*: \d+ × \d+ mm, letters of [\d.]+ pt\n", done.output)
        with pytest.raises(SycladeError, match="already has"):
            raise run(folder, "--kind", kind, "--out", out).exception or AssertionError
    again = run(folder, "--out", tmp_path / "my tree.svg", "--force", "--colours", "grey", "--names", "none")
    assert again.exception is None


def test_a_figure_of_more_than_a_page_has_advice_that_works(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ("--out", tmp_path / "a.svg", "--force")
    down = int(re.findall(r"× (\d+) mm", run(folder, *out).output)[0])
    monkeypatch.setattr(plot_command, "PAGE", 0.7 * down)
    (size,) = re.findall(r"more than a page; --font-size ([\d.]+) fits one\n", run(folder, *out).output)
    assert 6.0 < float(size) <= 6.3
    assert "page" not in run(folder, *out, "--font-size", size).output
    monkeypatch.setattr(plot_command, "PAGE", 0.1 * down)
    assert "more than a page; no readable figure of it fits one" in run(folder, *out).output


@pytest.mark.parametrize(
    ("part", "advice"),
    [(0.9, "--kind matrix takes 267 mm"), (1.5, "--kind matrix --font-size 6 fits one"), (2.0, "")],
)
def test_a_tall_tree_leads_to_the_matrix_where_that_fits(part: float, advice: str) -> None:
    scene = Scene("matrix", "", 100.0, part * plot_command.PAGE / 25.4 * 72.0 * 12.0 / 9.0)
    assert plot_command._matrix_advice(lambda: scene) == advice


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "a.doc"], "cannot be written as a.doc"),
        (["--out", "a.svg", "--highlight", "TP54"], "no mutation 'TP54' to highlight"),
        (["--out", "a.svg", "--names", "-3"], "names is '-3'"),
        (["--out", "a.pdf", "--font", "No such font"], "is not installed"),
        (["--out", "no folder/a.svg"], "there is no directory"),
        (["--out", "a.svg", "--kind", "matrix", "--matrix", "other.csv"], "is not the matrix of this result"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("0 1\n1 0\n")
    error = run(folder, *words).exception
    assert isinstance(error, SycladeError)
    assert message in str(error)
    assert error.hint
    assert not list(tmp_path.glob("a.*"))


def test_what_the_folder_lacks_is_named(tmp_path: Path) -> None:
    assert "has no summary.json" in str(run(tmp_path, "--out", tmp_path / "a.svg").exception)
    values = simulate(12, 4, 0.01, 0.15, 0.1, 4).matrix.values
    syclade.infer(values, **RATES, chains=1, steps=20).write(tmp_path / "out")
    lacks = run(tmp_path / "out", "--kind", "posterior", "--out", tmp_path / "a.svg").exception
    assert "no relations.tsv" in str(lacks)
    assert "--support quick" in str(lacks)
    lacks = run(tmp_path / "out", "--kind", "matrix", "--out", tmp_path / "a.svg").exception
    assert "had its matrix from Python" in str(lacks)
    np.savetxt(tmp_path / "same.csv", values, fmt="%d")
    np.savetxt(tmp_path / "other.csv", values[:, ::-1], fmt="%d")
    words = ["--kind", "matrix", "--out", tmp_path / "m.svg", "--matrix"]
    assert "not those of the run" in str(run(tmp_path / "out", *words, tmp_path / "other.csv").exception)
    assert run(tmp_path / "out", *words, tmp_path / "same.csv").exception is None
    assert run(tmp_path / "out", "--kind", "convergence", "--out", tmp_path / "a.svg").exception is None
    (tmp_path / "out" / "attachments.tsv").write_text("cell\tnode_number\ns0\tthree\n")
    assert "attachments.tsv:2: 'three' in the column node_number" in str(
        run(tmp_path / "out", "--out", tmp_path / "b.svg").exception
    )


def test_warnings_of_the_run_are_not_repeated(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    values = simulate(4, 30, 0.01, 0.15, 0.9, 4).matrix.values
    np.savetxt(tmp_path / "matrix.csv", values, fmt="%d")
    with caplog.at_level(logging.INFO, "syclade.input"):
        syclade.infer(tmp_path / "matrix.csv", **RATES, chains=1, steps=20).write(tmp_path / "out")
        assert "of the entries are missing" in caplog.text
        caplog.clear()
        drawn = run(tmp_path / "out", "--kind", "matrix", "--out", tmp_path / "m.svg")
    assert drawn.exception is None
    assert not caplog.records
    assert "warning" not in drawn.stderr


def drawn(clones: int, mutations: int, cells: int, name: str = "GENE{}", chain: bool = False) -> DrawnTree:
    """Return a made tree: a chain of clones, or one with branches."""
    generator = np.random.default_rng(clones)
    own = [(), *(tuple(map(name.format, some)) for some in np.array_split(range(mutations), clones))]
    made: list[DrawnClone] = []
    for number, names in enumerate(own):
        parent = max(0, number - 1)
        while parent and not chain and generator.random() < 0.5:  # any clone above: preorder
            parent = made[parent].parent
        depth = made[parent].depth + 1 if number else 0
        made.append(
            DrawnClone(number, parent, depth, names, 1.0, 1 / len(own), 0.0, 0.9, 0.4 if number else None)
        )
    places = np.sort(generator.integers(0, len(own), cells))
    return DrawnTree(tuple(made), places, np.full(cells, -1), np.arange(cells), ("UNPLACED",), True, "trees")


def test_numbers_of_cells_have_the_digits_that_are_known() -> None:
    """Four of expected numbers, as tables have; exact numbers of the most likely tree have all."""
    tree = drawn(5, 5, 9)
    numbers = (4.5086, 241.04, 999.96, 8083.0, 12340.0, 0.0)
    clones = tuple(replace(one, cells=of) for one, of in zip(tree.clones, numbers, strict=True))
    published = replace(tree, clones=clones)
    exact = replace(published, published=False)
    for one, shown in (
        (published, ["4.5", "241.0", "1000", "8083", "12340", "0.0"]),
        (exact, ["5", "241", "1000", "8083", "12340", "0"]),
    ):
        scene = tree_scene(one, Style())
        heading = next(text for text in all_texts(scene) if text.text == "cells")
        texts = [text for text in all_texts(scene) if text.x == heading.x and text.y > heading.y]
        assert [text.text for text in texts] == shown
        described = [item.title for item in scene.items if isinstance(item, Group)]
        assert "12340 cells of its own" in described[4]


@pytest.mark.parametrize("clones", [9, 60, 300])
def test_numbers_fit_in_their_discs(clones: int) -> None:
    scene = tree_scene(drawn(clones, clones, 900), Style())
    groups = [item.items for item in scene.items if isinstance(item, Group)]
    numbers = 0
    for disc, *texts in groups:
        inside = [one for one in texts if isinstance(one, Text) and one.anchor == "middle"]
        assert isinstance(disc, Disc)
        for one in inside:
            assert width_of(one.text, one.size, one.bold) <= 2 * disc.radius
            assert one.size >= 7
        numbers += len(inside)
    assert numbers or clones > 9


@pytest.mark.parametrize(
    ("clones", "mutations", "name", "room"),
    [
        (1, 1, "GENE{}", 1000.0),
        (1, 300, "GENE{}", 1000.0),
        (3, 3, "a very long name of a mutation " * 4 + "{}", 320.0),
        (25, 25, "chr17:7577121:G/A {}", 320.0),
        (60, 300, "GENE{}", 600.0),
        (60, 100, "日本{}", 1000.0),
    ],
)
def test_no_text_is_outside_the_figure_or_on_another(
    clones: int, mutations: int, name: str, room: float
) -> None:
    tree = drawn(clones, mutations, 30, name, chain=clones == 25)
    own = [one for clone in tree.clones for one in clone.mutations]
    matrix = matrix_from_array(np.zeros((mutations + 1, 30), np.uint8), [*own, "UNPLACED"])
    style = Style("A title of many words " * 5, room=room, highlight=(own[0],))
    for made in (
        tree_scene(tree, style),
        matrix_scene(tree, matrix, style),
        clones_scene(tree, style, [Panel(f"time {at}", [None] * (clones + 1)) for at in range(3)], "cells"),
    ):
        scene = with_title(made, style)
        boxes = []
        for text in all_texts(scene):
            width = width_of(text.text, text.size, text.bold)
            left = text.x - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
            assert left >= -1, (scene.name, text)
            if text.anchor != "middle":  # numbers in discs and ticks
                assert left + width <= scene.width + 1, (scene.name, text)
            assert text.y - text.size / 2 >= 0, (scene.name, text)
            assert text.y + text.size / 2 <= scene.height, (scene.name, text)
            boxes.append(
                (left, left + 0.6 * width, text.y - 0.4 * text.size, text.y + 0.4 * text.size, text.text)
            )
        crossed = [
            (box, line)
            for line in scene.items
            if isinstance(line, Line) and scene.name != "clones" and line.colour == "#777777"
            for box in boxes
            if box[0] < line.points[0][0] < box[1]
            and line.points[0][1] < box[2]
            and line.points[1][1] > box[3]
        ]
        assert not crossed
        boxes.sort(key=lambda box: box[2])
        for at, one in enumerate(boxes):
            for other in boxes[at + 1 :]:
                if other[2] >= one[3]:
                    break
                assert one[1] <= other[0] or other[1] <= one[0], (scene.name, one, other)


@pytest.mark.parametrize(("specimens", "room"), [(30, 1000.0), (30, 720.0), (7, 350.0), (3, 1000.0)])
@pytest.mark.parametrize("most", [0.02, 0.3, 0.65, 1.0])
def test_panels_of_many_specimens_are_in_rows(specimens: int, room: float, most: float) -> None:
    """Each row has the tree beside its panels, no figure is wider than it may be, and no ticks overlap."""
    tree = drawn(5, 5, 30)
    panels = [Panel(f"P{at}", [Interval(most, None, None)] * 6) for at in range(specimens)]
    scene = clones_scene(tree, Style(room=room), panels, "cells")
    assert scene.width <= room + 40.0
    titles = [text for text in all_texts(scene) if text.bold and text.text.startswith("P")]
    assert [text.text for text in titles] == [panel.title for panel in panels]
    rows = {text.y for text in titles}
    assert len(rows) == 1 or specimens > 3
    assert sum(text.text == "root" for text in all_texts(scene)) == len(rows)
    ticks = sorted(
        (text.y, text.x, width_of(text.text, text.size)) for text in all_texts(scene) if "%" in text.text
    )
    assert len(ticks) >= 2 * specimens
    for (y, x, width), (other_y, other_x, other_width) in pairwise(ticks):
        assert y != other_y or x + width / 2 < other_x - other_width / 2
    dots = [item for item in scene.items if isinstance(item, Disc)]
    assert len(dots) == 6 * specimens
    assert max(dot.x for dot in dots) < scene.width


def test_support_of_equal_trees_raises_no_alarm() -> None:
    """The sample size of trees, 1 for each chain where all are equal, is no part of the rule for support."""
    support: dict[str, Any] = {
        "level": "quick", "enough": True, "chains": 4, "samples": 16384, "ess": 505.9, "rhat": 1.0058,
        "tree_ess": 4.0, "ancestor_spread": 0.0, "still_chains": 4, "pairs": {"measured": 0},
    }  # fmt: skip
    *rule, verdict, trees = diagnostic_rows(support)
    assert [(row.wanted, row.good) for row in rule] == [
        ("at least 400", True), ("at most 1.01", True), ("at most 0.02", True),
    ]  # fmt: skip
    assert verdict.good
    assert (trees.value, trees.good) == ("all trees equal", None)
    constant = diagnostic_rows(support | {"ess": 1.0, "rhat": None, "ancestor_spread": None})
    assert all(row.good is not False for row in constant), "all log-likelihoods are equal, too"
    stuck = diagnostic_rows(support | {"ancestor_spread": 0.3, "enough": False})
    assert [row.good for row in stuck] == [True, True, False, False, None]
    assert stuck[-1].value == "4"
    rough = support | {"level": "full", "enough": False, "pairs": {"measured": 9, "lowest_ess": 70.0}}
    assert [row.good for row in diagnostic_rows(rough)] == [True, True, True, False, False, None]
    samples = {name: value for name, value in support.items() if name not in ("enough", "level", "pairs")}
    assert [row.good for row in diagnostic_rows(samples)] == [True, True, True, False]


def test_labels_of_near_chains_are_joined(folder: Path) -> None:
    """Nine chains end at two log-likelihoods that are as near as the line is wide; one far below."""
    scores = [-1.0] * 5 + [-1.0001] * 4 + [-1.01] * 2 + [-1.02]
    texts = {"summary.json": json.dumps({"chain_log_likelihoods": scores, "mutations": [], "cells": []})}
    scene = draw_figure(ResultFiles("x", texts.get, best=drawn(2, 2, 3)), "convergence", Style())
    assert [text.text for text in all_texts(scene) if text.text.endswith("×")] == ["9×", "2×"]


def test_unplaced_mutations_have_as_many_names_as_a_clone() -> None:
    names = tuple(f"GENE{at}" for at in range(120))
    tree = replace(drawn(2, 3, 3), unplaced=names)
    for style, shown in (
        (Style(names=2), "GENE0, GENE1 and 118 more."),
        (Style(names=1, highlight=("GENE7",)), "GENE7, GENE0 and 118 more."),
        (Style(names=0), "120 mutations."),
        (Style(names=120), f"{', '.join(names)}."),
        (Style(), f"{', '.join(names)}."),
    ):
        scene = tree_scene(tree, style)
        assert f"Not placed by the data: {shown}" in " ".join(text.text for text in all_texts(scene))
    files = ResultFiles("x", {"summary.json": "{}"}.get, best=tree)
    scene = draw_figure(files, "tree", Style())
    assert "and 108 more." in " ".join(text.text for text in all_texts(scene)), "by default, twelve"


def test_a_gene_is_highlighted_in_all_its_mutations() -> None:
    names = ("FLT3 p.D835Y", "KIT", "KIT p.D816V", "FLT3 ITD")
    assert Style(highlight=("FLT3", "KIT")).checked(names).highlight == (names[0], names[3], "KIT")
    with pytest.raises(SycladeError) as refused:
        Style(highlight=("KTI",)).checked(names)
    assert refused.value.hint == "the result has KIT"


def test_names_with_commas_are_in_quotes() -> None:
    assert listed_names('TP53, "NPM1 (α, β)",KIT,') == ("TP53", "NPM1 (α, β)", "KIT")


def test_missing_and_damaged_files_are_called_so(folder: Path) -> None:
    texts = {"summary.json": '{"mutations": []}', "clones.tsv": "clone\tmutations\n0"}
    files = replace(files_in(folder), read=texts.get, _tables={})
    with pytest.raises(SycladeError, match="no such file"):
        files.record("run.json")
    with pytest.raises(SycladeError, match="the file is damaged"):
        files.column("clones.tsv", "mutations")
    with pytest.raises(SycladeError, match="is a file, not the folder"):
        files_in(folder / "summary.json")


@pytest.mark.parametrize("width", [20, 40, 89])
def test_a_narrow_tree_keeps_its_edges_or_is_refused(width: float) -> None:
    tree = drawn(22, 100, 30, chain=True)
    scene = tree_scene(tree, Style(room=room_of(width, 9.0)))
    discs = [item.items[0] for item in scene.items if isinstance(item, Group)]
    for clone, disc in zip(tree.clones[1:], discs[1:], strict=True):
        above = discs[clone.parent]
        assert isinstance(disc, Disc)
        assert isinstance(above, Disc)
        assert disc.x - disc.radius >= above.x + 3 - 1e-9, "an edge beside the disc"
    try:
        _, letters = fitted(scene, width, 9.0)
    except SycladeError as refused:
        least = float(re.findall(r"a width of (\d+) mm", refused.hint or "")[0])
        scene = tree_scene(tree, Style(room=room_of(least, 9.0)))
        _, letters = fitted(scene, least, 9.0)
    assert letters >= 5 - 1e-9


def test_names_are_wrapped_and_never_cut() -> None:
    lines = wrapped(["a" * 200, "b", "c"], 300.0)
    assert all(width_of(line) <= 300 for line in lines)
    assert "".join(lines).replace(", ", ",") == "a" * 200 + ",b,c"
    assert wrapped([], 300.0) == []
    assert wrapped(["chr17:7577121:G/A of a gene"], 130.0) == ["chr17:7577121:G/A", "of a gene"]


def test_colours_differ_and_numbers_can_be_read() -> None:
    for name, colours in CLONE_COLOURS.items():
        style = Style(colours=name)
        shown = [style.colour(number) for number in range(1, len(colours) * 3 + 1)]
        assert len(set(shown)) == len(shown)
        assert all(contrast(ink_on(colour), colour) >= 4.5 for colour in [*shown, style.colour(0)])


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by WCAG 2."""
    lights = []
    for colour in (one, other):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize(("cells", "mutations"), [(6, 1), (90, 40), (900, 800)])
def test_rows_follow_each_other(cells: int, mutations: int) -> None:
    tree = drawn(min(mutations, 200), mutations, cells)
    rows = lay_out(tree, Style(names=3), 600.0)
    np.testing.assert_allclose(np.diff(rows.middles), (np.array(rows.heights)[1:] + rows.heights[:-1]) / 2)
    assert rows.middles[-1] < rows.bottom


def pixels_of(png: bytes) -> NDArray[np.uint8]:
    """Decode the one kind of PNG that is written: each row stores its difference from the row above."""
    start = png.index(b"IDAT") + 4
    columns, rows = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[start - 8 : start - 4])[0]
    content = zlib.decompress(png[start : start + length])
    lines = np.frombuffer(content, dtype=np.uint8).reshape(rows, columns + 1)
    assert (lines[:, 0] == 2).all()
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8)


def test_the_matrix_has_every_entry_beside_its_name(folder: Path) -> None:
    files = files_in(folder)
    scene = draw_figure(files, "matrix", Style(), names="all")
    picture = next(item for item in scene.items if isinstance(item, Picture))
    assert picture.pixels.shape[1] == files.matrix.n_cells
    np.testing.assert_array_equal(pixels_of(png_of(picture.pixels, PALETTE)), picture.pixels)
    tree = files.published
    shown = in_order_of_tree(files.matrix.values, tree.genotypes(NAMES), tree.order)
    placed = [name for name in NAMES if name not in tree.unplaced]
    for text in all_texts(scene):
        if text.text in placed and text.anchor == "end":
            row = picture.pixels[round(text.y - picture.y)]
            np.testing.assert_array_equal(row, shown[NAMES.index(text.text)])
    counted = np.bincount(shown.ravel(), minlength=len(COLOURS))
    values = np.bincount(files.matrix.values.ravel(), minlength=4)
    assert (counted[3], counted[1] + counted[4], counted[0] + counted[5]) == (values[3], values[1], values[0])


@pytest.mark.parametrize("options", [{}, {"doublets": 0.1}])
@pytest.mark.parametrize("loss", [False, True])
def test_cells_of_a_second_node_are_of_its_clone(loss: bool, options: dict[str, Any], tmp_path: Path) -> None:
    """The strip has the clone of each cell's node, and the row of the copy the values of its mutation."""
    of_5 = "111100" if loss else "001010"  # below it, 2 and 3, and lost with 4; or with 2, and with 4
    others = ["001000", "011110", "000110", "000010"] if loss else ["111001", "011000", "000110", "000010"]
    (tmp_path / "matrix.csv").write_text("".join(" ".join(6 * row) + "\n" for row in [*others, of_5]))
    result = syclade.infer(
        tmp_path / "matrix.csv", recurrent=5, steps=4000, chains=4, seed=1, **RATES, **options
    )
    result.write(tmp_path / "out")
    copied = result.tree.assignment.recurrence
    assert copied is not None
    assert copied.kind == ("loss" if loss else "parallel recurrence")
    for files in (files_in(tmp_path / "out"), files_in_memory(result)):
        tree = files.published
        clone_of = [
            at
            for node in [*"12345", "5_copy"]
            for at, clone in enumerate(tree.clones)
            if node in clone.mutations
        ]
        np.testing.assert_array_equal(tree.cells, np.array([*clone_of, 0])[result.attachment])
        scene = draw_figure(files, "matrix", Style())
        picture = next(item for item in scene.items if isinstance(item, Picture))
        rows = {
            text.text: picture.pixels[round(text.y - picture.y)].tolist()
            for text in all_texts(scene)
            if text.text in ("5", "5_copy") and text.anchor == "end"
        }
        assert rows["5"] == rows["5_copy"] == (files.matrix.values[4] % 2)[tree.order].tolist()
        assert any("5_copy is the second node of 5" in text.text for text in all_texts(scene))


@pytest.mark.parametrize("sure", [1.0, 0.6])
def test_pairs_that_the_table_leaves_out_are_as_in_the_tree(sure: float) -> None:
    """A table of many mutations lacks its surest pairs. Those of one clone, and unsure ones, stay grey."""
    parents = {1: 0, 2: 1, 3: 0}  # B below A, and C with D apart
    names = ((), ("A",), ("B",), ("C", "D"))
    clones = [
        DrawnClone(at, parents.get(at, 0), 1 + (at == 2), own, 1.0, 0.25) for at, own in enumerate(names)
    ]
    nobody = np.zeros(0, dtype=np.int64)
    tree = DrawnTree(tuple(clones), nobody, nobody, nobody, published=True)
    row = f"A\tC\t0\t{1 - sure}\t{sure}\n"
    texts = {"relations.tsv": f"first\tsecond\tbefore\tafter\tapart\n{row}"}
    files = ResultFiles("x", texts.get, best=tree)
    scene = posterior_scene(files, Style())
    pixels = next(item for item in scene.items if isinstance(item, Picture)).pixels
    grey, apart = pixels[2, 3], pixels[0, 2]
    assert pixels[3, 2] == grey != apart
    words = " ".join(text.text for text in all_texts(scene))
    assert "the surest of so many mutations: they have the relation that the tree has, or are grey" in words
    if sure < 0.9:
        assert (pixels[:2] == grey).sum() == 5
        return
    before, below = pixels[0, 1], pixels[1, 0]
    assert len({before, below, apart, grey}) == 4
    assert pixels[0].tolist()[1:] == [before, apart, apart]
    assert pixels[1].tolist()[2:] == pixels[2].tolist()[:2] == [apart, apart]


def test_of_many_cells_evenly_spaced_ones_are_shown() -> None:
    tree = drawn(2, 3, 5000)
    matrix = matrix_from_array(np.zeros((4, 5000), np.uint8), ["GENE0", "GENE1", "GENE2", "UNPLACED"])
    scene = matrix_scene(tree, matrix, Style())
    assert next(item for item in scene.items if isinstance(item, Picture)).pixels.shape[1] == MOST_COLUMNS
    assert any(f"{MOST_COLUMNS} of the 5000 cells are shown" in text.text for text in all_texts(scene))


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


def test_the_gallery_shows_what_its_commands_draw() -> None:
    """The figures of the page are those of the commands above them; their sizes are compared elsewhere."""
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    commands = re.findall(r"^\$ syclade plot results(.*) --out (\w+)\.svg$", page, re.MULTILINE)
    assert {kind for _, kind in commands} == set(KINDS) - {"fish"}
    example = ROOT / "host" / "data" / "example" / "matrix.csv"
    files = files_in_memory(syclade.infer(example, fp_rate=0.001, fn_rate=0.2, device="native"))
    for options, kind in commands:
        highlight = ("M16", "M20") if "--highlight M16,M20" in options else ()
        made = svg_of(draw_figure(files, kind, Style(highlight=highlight)), alone=True)
        stored = (ROOT / "docs" / "figures" / f"{kind}.svg").read_text("utf-8")
        assert stored == made, f"draw docs/figures/{kind}.svg again"
        assert f"](figures/{kind}.svg)" in page
