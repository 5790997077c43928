"""Folders of results of which a file is damaged: figures of accepted ones have only finite numbers."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import syclade
from syclade.host.answer.figures.exports import PROGRAMS, export_of
from syclade.host.answer.figures.kinds import KINDS, draw_figure
from syclade.host.answer.figures.scene import svg_of
from syclade.host.answer.figures.source import files_in
from syclade.host.answer.figures.style import Style
from syclade.host.data.model.simulate import simulate
from tests.fuzz.damage import damaged

__all__ = ["Results"]

Given = tuple[str, bytes, str, str]


class Results:
    """Inputs of this kind: (name of a file, its content, what to draw, which tree)."""

    name = "results"

    def __init__(self, folder: Path) -> None:
        made = simulate(12, 5, 0.01, 0.1, 0.1, 3, doublets=0.2).matrix
        matrix = folder / "matrix.csv"
        matrix.write_text("\n".join(" ".join(map(str, row)) for row in made.values) + "\n")
        labels = {"cell": [f"s{at}" for at in range(12)], "sample": ["one", "two"] * 6, "day": ["1", "2"] * 6}
        result = syclade.infer(
            matrix,
            fp_rate=0.01,
            fn_rate=0.1,
            doublets=0.2,
            metadata=labels,
            time_column="day",
            device="native",
        )
        self._folder = folder / "out"
        names = result.write(self._folder)
        self._good = {name: (self._folder / name).read_bytes() for name in sorted(names)}

    def make(self, draw: Random) -> Given:
        """Return a damaged file of the result, with what to draw."""
        name = draw.choice([name for name in self._good if name.endswith((".tsv", ".json"))])
        content = b"" if draw.random() < 0.02 else damaged(self._good[name], draw)
        if draw.random() < 0.4:  # entries that are out of range rather than unreadable
            fields = content.split(b"\t")
            fields[draw.randrange(len(fields))] = draw.choice(
                (b"", b"9", b"-1", b"nan", b"1e400", b"unplaced", b"0")
            )
            content = b"\t".join(fields)
        return name, content, draw.choice((*KINDS, *PROGRAMS)), draw.choice(("published", "likely"))

    def take(self, given: Given) -> None:
        """Draw the figure of the folder, or write its files for another program."""
        name, content, what, tree = given
        for other, good in self._good.items():
            (self._folder / other).write_bytes(content if other == name else good)
        files = files_in(self._folder)
        if what in PROGRAMS:
            texts = list(export_of(files, what, Style(), "made").values())
        else:
            texts = [svg_of(draw_figure(files, what, Style(), tree=tree), alone=True)]
        for text in texts:
            assert "nan" not in text.lower().replace("nan9", "")
            assert re.search(r"""[=,"](nan|inf|-inf)[",]""", text) is None
