"""Results in folders, read again without another run: summary, options, clones and cells as plain values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.source import ResultFiles, files_in
from syclade.host.answer.output.drawn import Drawn
from syclade.host.findings.consensus.tables import MOST_PAIRS, PairRelation, separator_of
from syclade.host.findings.unplaced import UNPLACED_MARK
from syclade.host.ground.errors import TableError
from syclade.host.ground.values import ParsedJson

__all__ = ["LoadedResult", "load_result"]

Entry: TypeAlias = str | int | float | tuple[str, ...] | None
"""Entry of a table: a number where the column has numbers, None where it has none, else a text."""

_WHOLE = (
    "clone", "parent", "runner_up", "first", "second", "both", "first_only", "second_only", "column", "row",
    "node_number", "ties",
)  # fmt: skip
_NUMBERS = (
    "support", "descent", "cells", "prevalence", "low", "high", "below", "probability", "tail",
    "runner_up_probability", "doublet", "joint_prevalence", "joint_low", "joint_high", "joint_probability",
    "before", "after", "apart", "p_parent", "p_clade", "transfer", "p_place", "share", "joint_share",
    "change", "grew", "fn_rate", "log_likelihood",
)  # fmt: skip
_MOVED = "give its file: load_result(folder, matrix=FILE)"
_NAMES = ("mutations", "open")
_TEXTS = {
    "relations.tsv": ("first", "second"),
    "support.tsv": ("parent",),
    "attachments.tsv": ("first", "second"),
}
"""Columns of some tables that have names of mutations, where others have numbers of clones."""


@dataclass(frozen=True, eq=False)
class LoadedResult(Drawn):
    """Content of the folder of a result.

    Attributes:
        folder: the folder.
    """

    folder: Path
    _files: ResultFiles

    def _figure_files(self) -> ResultFiles:
        return self._files

    def _protected(self) -> Mapping[str, object]:
        return {"the folder of the result": self.folder}

    def __repr__(self) -> str:
        """Return folder and log-likelihood in a line."""
        return f"<LoadedResult of {self.folder}: log-likelihood {self.log_likelihood:.4f}>"

    @property
    def summary(self) -> Mapping[str, ParsedJson]:
        """Content of summary.json."""
        return self._files.summary

    @cached_property
    def run(self) -> Mapping[str, ParsedJson]:
        """Content of run.json."""
        return self._files.record("run.json")

    @property
    def options(self) -> Mapping[str, ParsedJson]:
        """Options of the run, by the names of the arguments of `infer`."""
        return dict(self.run["options"])

    @property
    def mutations(self) -> tuple[str, ...]:
        """Names of the mutations, in the order of the matrix."""
        return self._files.mutations

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the cells, in the order of the matrix."""
        return self._files.cells

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the most likely tree, natural log."""
        return float(self.summary["log_likelihood"])

    @property
    def parents(self) -> NDArray[np.int32]:
        """int32, shape (nodes,): parent vector of the most likely tree, as `Result.parents`."""
        return np.array(self.summary["parents"], dtype=np.int32)

    @property
    def clone_table(self) -> list[dict[str, Entry]]:
        """Lines of clones.tsv by the names of its columns, without unplaced ones; none without a consensus.

        Numbers are numbers, empty entries are None, and `mutations` and `open` are names.
        """
        return [row for row in self.table("clones.tsv") if row["clone"] is not None]

    @property
    def cell_table(self) -> list[dict[str, Entry]]:
        """Lines of cells.tsv in the same way; the clone of an unplaced cell is None. None without clones."""
        return self.table("cells.tsv")

    @property
    def clones_of_mutations(self) -> dict[str, int | None]:
        """Number of the clone of each mutation in the consensus; None if unplaced. Empty without one."""
        found: dict[str, int | None] = {}
        for row in self.table("clones.tsv"):
            clone, names = row["clone"], row["mutations"]
            assert clone is None or isinstance(clone, int)
            assert isinstance(names, tuple)
            found |= dict.fromkeys(names, clone)
        return {name: found[name] for name in self.mutations if name in found}

    def table(self, name: str) -> list[dict[str, Entry]]:
        """Return the lines of a table of the folder, such as support.tsv; none if there is no such file.

        Raises:
            TableError: the file cannot be read.
        """
        bar, texts = separator_of(self.mutations), _TEXTS.get(name, ())
        rows = self._files.table(name) or []
        return [
            {column: text if column in texts else _entry(column, text, bar) for column, text in row.items()}
            for row in rows
        ]

    def relation(self, first: str, second: str) -> PairRelation:
        """Return the relation of two mutations, by their names: which of them came first.

        Raises:
            TableError: relations.tsv has no line of them.
        """
        columns = ("before", "after", "apart", "consensus", "both", "first_only", "second_only")
        for row in self.table("relations.tsv"):
            if {row["first"], row["second"]} == {first, second}:
                found = PairRelation(*(row[column] for column in columns))  # type: ignore[arg-type]
                return found if row["first"] == first else found.turned()
        raise TableError(
            f"relations.tsv has no line of {first!r} and {second!r}",
            hint=f"it has placed mutations, and of more than {MOST_PAIRS} pairs the least sure ones",
        )


def _entry(column: str, text: str, bar: str) -> Entry:
    """Return an entry of a column."""
    if column in _NAMES:
        return tuple(text.split(bar)) if text else ()
    if column not in _WHOLE and column not in _NUMBERS:
        return text
    if text in ("", UNPLACED_MARK):
        return None
    try:
        return int(text) if column in _WHOLE else float(text)
    except ValueError:
        return text  # such as a pair of clones


def load_result(
    folder: str | os.PathLike[str], *, matrix: str | os.PathLike[str] | None = None
) -> LoadedResult:
    """Read the folder of a result, as `infer` and `Result.write` make it, without another run.

    A `Result` itself can be pickled, and has more, such as the sampled trees.

    Args:
        folder: the folder.
        matrix: the file of the matrix, for its figure, if it is no longer where run.json says.

    Returns:
        Summary, options, clones and cells.

    Raises:
        OptionError: this is no folder of a result.
        TableError: a file of it is damaged.
    """
    place = Path(folder)
    return LoadedResult(place, files_in(place, None if matrix is None else Path(matrix), _MOVED))
