"""The report: whole, without scripts or anything from outside, whatever mutations are called."""

import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.cli.main import cli
from syclade.host.input.matrix import matrix_from_array, with_names
from syclade.host.model.simulate import simulate
from syclade.host.report.clones import clones_of
from syclade.host.report.heat_map import COLOURS, in_order_of_tree, png_of
from syclade.host.report.sections import command_of
from syclade.host.report.tree_svg import LETTER, ROW, picture_of
from tests.conftest import ROOT

HOSTILE = "</script><img src=x onerror=alert(1)>"
EXAMPLE = ROOT / "host" / "data" / "example"


class Page(HTMLParser):
    """Elements, their attributes, and the text."""

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
    assert hostile.tags.count("img") == 1
    for name, value in hostile.attributes:
        assert not name.startswith("on")
        assert "://" not in (value or "")
        if name in {"src", "href"}:
            assert (value or "").startswith("data:image/png;base64,")
    policy = next(value for _, value in hostile.attributes if value and value.startswith("default-src"))
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_names_are_text(hostile: Page) -> None:
    assert "</script><img src=x" in hostile.text
    assert "c&d" in hostile.text
    assert ("role", "img") in hostile.attributes
    assert all(value for name, value in hostile.attributes if name == "alt")


@pytest.mark.parametrize(("cells", "mutations"), [(6, 1), (12, 3), (90, 40)])
def test_labels_do_not_meet(cells: int, mutations: int) -> None:
    result = result_of(cells, mutations)
    clones = clones_of(result.parents, result.attachment)
    picture = picture_of(clones, result.mutations)
    assert sorted(one for clone in clones for one in clone.mutations) == list(range(mutations))
    assert sum(clone.cells for clone in clones) == cells == clones[0].below
    assert all(clones[clone.parent].depth == clone.depth - 1 for clone in clones[1:])
    heights = [row.y for row in picture.rows]
    assert np.allclose(np.diff(heights), ROW)
    assert all(row.text_x > row.x + row.radius for row in picture.rows)
    assert all(row.text_x + LETTER * len(row.text) <= picture.width for row in picture.rows)
    assert heights[-1] < picture.height


def test_the_map_has_every_entry() -> None:
    result = result_of(30, 8)
    assert result.observed is not None
    shown = in_order_of_tree(result.observed.values, result.parents, result.attachment)
    counted = np.bincount(shown.ravel(), minlength=len(COLOURS))
    values = np.bincount(result.observed.values.ravel(), minlength=4)
    assert counted[3] == values[3]
    assert counted[1] + counted[4] == values[1]
    assert counted[0] + counted[5] == values[0]
    png = png_of(shown)
    assert struct.unpack(">II", png[16:24]) == (30, 8)
    start = png.index(b"IDAT") + 4
    length = struct.unpack(">I", png[start - 8 : start - 4])[0]
    lines = np.frombuffer(zlib.decompress(png[start : start + length]), dtype=np.uint8).reshape(8, 31)
    np.testing.assert_array_equal(lines[:, 1:], shown)


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
    for heading in ("Clonal tree", "May it be trusted?", "Trees that are as likely", "Where it comes from"):
        assert heading in page.text
    assert re.search(r"syclade infer .*--fp-rate 0.001 --fn-rate 0.2 .*--seed 1 ", page.text)


def test_the_command_repeats_the_run() -> None:
    result = result_of(12, 4)
    assert "--chains 2 --steps 300" in command_of(result)
    assert "--move-probs" in command_of(result)
