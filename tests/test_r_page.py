"""Pages on R and other programs print what their commands give now; no program is needed for text files."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "r.md").read_text("utf-8")

COMMANDS, *PRINTED = (
    text
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    if not language
)
"""The commands, and what each block of R prints."""

TOOLS = [
    text
    for language, text in re.findall(
        r"^```(\w*)\n(.*?)^```$",
        (ROOT / "docs" / "tree-tools.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    if not language
]
"""The commands of the page on other programs, and what each block prints."""

Token = str | float


def tokens(text: str) -> list[list[Token]]:
    """Return the words of each line, numbers as such: R pads them with zeros."""
    return [[token(word) for word in shlex.split(line)] for line in text.splitlines() if line.strip()]


def token(word: str) -> Token:
    return float(word) if re.fullmatch(r"-?\d+(\.\d+)?", word) else word or "NA"


def table(path: Path, *columns: str) -> list[list[Token]]:
    """Return columns of a table, NA for empty entries, as R reads them."""
    with path.open() as file:
        return [[token(row[column]) for column in columns] for row in csv.DictReader(file, delimiter="\t")]


def preorder_labels(text: str) -> tuple[list[str], list[str]]:
    """Return the labels of the leaves, and those of the inner nodes in preorder, as ape numbers them."""
    leaves: list[str] = []
    inner: list[str] = []
    still_open: list[int] = []
    for mark, label in re.findall(r"([(),;])([^(),;:]*)", text):
        if mark == ")":
            inner[still_open.pop()] = label
        elif label:
            leaves.append(label)
        if mark == "(":
            still_open.append(len(inner))
            inner.append("")
    return leaves, inner


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the commands of the page in an empty folder, and return it."""
    folder = tmp_path_factory.mktemp("r")
    (folder / "host").symlink_to(ROOT / "host")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in COMMANDS.splitlines():
            result = CliRunner().invoke(cli, shlex.split(line)[1:])
            assert result.exit_code == 0, result.output
    return folder


def test_tables(made: Path) -> None:
    columns = ("clone", "parent", "support", "cells", "mutations")
    clones = table(made / "results" / "clones.tsv", *columns)[:4]
    clones[0].pop()  # R prints an empty text
    cells = table(made / "results" / "cells.tsv", "cell", "clone", "probability")
    sure = [row for row in cells if float(row[2]) > 0.99][:2]
    assert tokens(PRINTED[0]) == [[*columns], *clones, ["cell", "clone", "probability"], *sure]


def test_trees(made: Path) -> None:
    leaves, inner = preorder_labels((made / "trees" / "tree.nwk").read_text())
    sure = [share for share in inner if share and float(share) > 0.97]
    first, second = (line[1:] for line in tokens(PRINTED[1]))
    assert (first, second) == (leaves[:6], [float(share) for share in sure])
    nexus = (made / "trees" / "tree.nexus").read_text()
    found = re.findall(r'\[&name="([^"]*)",support=([\d.]+),cells=([\d.]+)', nexus)
    values = [[name, float(support), float(cells)] for name, support, cells in found if float(support) > 0.99]
    head, *rows = tokens(PRINTED[2])
    assert head == ["name", "support", "cells"]
    assert sorted(rows) == sorted(values)


def test_what_other_programs_print(made: Path) -> None:
    """ETE, DendroPy and Biopython, in this order; `make peers` runs them."""
    commands, *printed = TOOLS
    assert set(commands.splitlines()) < set(COMMANDS.splitlines())
    leaves, inner = preorder_labels((made / "trees" / "tree.nwk").read_text())
    supports = sorted(float(share) for share in inner if share)
    nhx = re.findall(r"([^(),;]+):[\d.]+\[&&NHX:support=([\d.]+)", (made / "trees" / "tree.nhx").read_text())
    names, greatest = printed[0].splitlines()
    assert set(names.split()) == {name for name, support in nhx if float(support) > 0.97}
    assert float(greatest) == supports[-1]
    nexus = re.findall(r'&name="([^"]*)",support=([\d.]+)', (made / "trees" / "tree.nexus").read_text())
    unsure = [f"{name} {support}" for name, support in nexus if float(support) < 0.5]
    assert printed[1].splitlines() == unsure
    assert printed[2].splitlines() == [str(leaves[:3]), str(supports[:2])]


def test_shares_of_clones_with_those_below(made: Path) -> None:
    rows = table(made / "biopsies" / "clones_by_sample.tsv", "clone", "sample", "share")
    parents = {clone: parent for clone, parent in table(made / "biopsies" / "clones.tsv", "clone", "parent")}
    whole = {(clone, sample): float(share) for clone, sample, share in rows}
    for clone, sample in sorted(whole, reverse=True):
        if clone:
            whole[parents[clone], sample] += whole[clone, sample]
    expected = [
        [clone, *(round(100 * whole[clone, sample], 1) for sample in ("P1", "P2"))] for clone in (1, 2, 3)
    ]
    assert tokens(PRINTED[3])[2:] == expected


def test_reticulate() -> None:
    observed = np.loadtxt(ROOT / "host/data/example/matrix.csv", dtype=np.uint8)
    result = syclade.infer(observed, fp_rate=0.001, fn_rate=0.2, device="native")
    assert result.consensus is not None
    counts = np.bincount(result.consensus.cells.best)[:4].tolist()
    first, _, numbers = tokens(PRINTED[4])
    assert first[1] == round(result.log_likelihood, 5)
    assert numbers == counts
