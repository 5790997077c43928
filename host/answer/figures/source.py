"""Files of a result, in its folder or in memory, as the values that figures are drawn from."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.answer.figures.style import (
    SAMPLED,
    DrawnClone,
    DrawnTree,
    likely_tree,
    support_of,
)
from syclade.host.data.input.matrix import Matrix, with_cell_names, with_names
from syclade.host.data.input.read_matrix import read_matrix, without_messages
from syclade.host.data.input.source import read_text
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.recurrence import recurrent_mutation, with_copy
from syclade.host.data.trees.tree import validate_parents
from syclade.host.findings.consensus.tables import separator_of
from syclade.host.findings.doublets import LIKELY, genotypes_of
from syclade.host.findings.joint_shares import JointShare
from syclade.host.findings.kinds import Tree, kind_named
from syclade.host.findings.kinds.mutation_trees import recurrent_kind
from syclade.host.findings.unplaced import UNPLACED_MARK, Unplaced
from syclade.host.ground.errors import MatrixError, OptionError, TableError
from syclade.host.ground.files import MISSING, is_file, problem_of
from syclade.host.ground.options import CODING, flag_of
from syclade.host.ground.values import ParsedJson, excerpt

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.ground.atomic import Content

__all__ = ["ResultFiles", "files_in", "files_in_memory"]


MOVED = "give the file of the matrix"
"""Hint for a matrix that was moved, where no command has an option for it."""


@dataclass(frozen=True, eq=False)
class ResultFiles:
    """Files of a result.

    Attributes:
        place: the folder, or the name of the result in memory, for messages.
        read: (name) -> the text of a file; None if there is none.
        observed: the matrix, if it is in memory.
        matrix_file: the file of the matrix in place of that in run.json, if it was moved.
        best: the most likely tree, if it is in memory.
        moved: hint for a matrix that was moved.
    """

    place: str
    read: Callable[[str], str | None]
    observed: Matrix | None = None
    matrix_file: Path | None = None
    best: DrawnTree | None = None
    moved: str = MOVED
    _tables: dict[str, list[dict[str, str]] | None] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Mapping[str, ParsedJson]:
        """Content of summary.json."""
        return self.record("summary.json")

    def record(self, name: str) -> Mapping[str, ParsedJson]:
        """Return the content of a JSON file; a TableError if it is missing or damaged."""
        text = self.read(name)
        if text is None:
            raise TableError("there is no such file", path=f"{self.place}/{name}", hint="infer it again")
        try:
            found = json.loads(text)
        except ValueError as problem:
            raise TableError(f"this is not JSON: {problem}", path=f"{self.place}/{name}") from None
        if not isinstance(found, dict):
            raise TableError("this is not the record of a result", path=f"{self.place}/{name}")
        return found

    def table(self, name: str) -> list[dict[str, str]] | None:
        """Return the rows of a table, by the names of its columns; None if there is no such file."""
        if name not in self._tables:
            text = self.read(name)
            rows = None if text is None else list(csv.DictReader(io.StringIO(text), delimiter="\t"))
            self._tables[name] = rows
        return self._tables[name]

    def value(self, file: str, line: int, row: Mapping[str, str], column: str) -> str:
        """Return an entry of a table; a TableError if the table lacks the column."""
        found = row.get(column)
        if found is None:
            what = (
                f"the line ends before the column {column}"
                if column in row
                else f"there is no column {column}"
            )
            raise TableError(
                f"{what}: the file is damaged", path=f"{self.place}/{file}", line=line, hint="infer it again"
            )
        return found

    def column(self, file: str, column: str) -> list[str]:
        """Return a column of a table that is there."""
        rows = self.table(file) or []
        return [self.value(file, line, row, column) for line, row in enumerate(rows, 2)]

    def numbers(self, file: str, column: str) -> list[float]:
        """Return a column of a table as numbers; NaN for empty entries.

        Raises:
            TableError: an entry is no finite number.
        """
        found = []
        for line, text in enumerate(self.column(file, column), 2):
            try:
                found.append(float(text) if text else math.nan)
            except ValueError:
                found.append(math.inf)
            if text and not math.isfinite(found[-1]):
                raise TableError(
                    f"{excerpt(text)} in the column {column} is not a number",
                    path=f"{self.place}/{file}",
                    line=line,
                )
        return found

    @contextmanager
    def as_a_whole(self) -> Iterator[None]:
        """Report files of a folder that do not fit together, such as a missing number of a clone.

        Raises:
            TableError: they do not.
        """
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            if self.observed is not None:  # a result in memory fits together
                raise
            what = f"{type(problem).__name__}: {excerpt(str(problem))}"
            raise TableError(
                f"the files of this result do not fit together ({what})",
                path=self.place,
                hint="infer it again",
            ) from problem

    @property
    def mutations(self) -> tuple[str, ...]:
        """Names of the mutations; the last one is the copy of a recurrent mutation, if there is one."""
        return tuple(map(str, self.summary.get("mutations", ())))

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the mutations of the matrix as it was given: all but the copy of a recurrent one."""
        return self.mutations[:-1] if "recurrence" in self.summary else self.mutations

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the cells."""
        return tuple(map(str, self.summary.get("cells", ())))

    @cached_property
    def published(self) -> DrawnTree:
        """The tree to publish: the consensus, or the most likely tree where there is none."""
        return self.likely if self.table("clones.tsv") is None else _consensus(self)

    @cached_property
    def likely(self) -> DrawnTree:
        """The most likely tree."""
        return _likely(self) if self.best is None else self.best

    @cached_property
    def matrix(self) -> Matrix:
        """The matrix of the run, read again if it is not in memory.

        Raises:
            OptionError: it is not there, or is another one.
        """
        return _read_again(self) if self.observed is None else self.observed


def _why_no_result(folder: Path) -> str:
    """Return why the summary of a result cannot be read in a folder, as text after its name."""
    if problem_of(folder) == MISSING:
        return "is not there"
    if is_file(folder):
        return "is a file, not the folder of a result"
    problem = problem_of(folder / "summary.json")
    none = "has no summary.json, so it is not the folder of a result"
    return none if problem in (None, MISSING) else str(problem)


def files_in(folder: Path, matrix: Path | None = None, moved: str = MOVED) -> ResultFiles:
    """Return the files of a result in a folder.

    Args:
        folder: the folder.
        matrix: the file of the matrix, if it is not where run.json says.
        moved: hint for a matrix that was moved.

    Raises:
        OptionError: this is no folder of a result.
    """
    if not is_file(folder / "summary.json"):
        what = _why_no_result(folder)
        hint = f"syclade infer makes one with {flag_of('out')}"
        if is_file(folder / "clades.tsv"):
            what = "is a consensus of trees of cells, which has no clones"
            hint = "other programs draw its consensus.newick (docs/tree-tools.md)"
        raise OptionError(f"{folder} {what}", hint=hint)

    def read(name: str) -> str | None:
        path = folder / name
        return read_text(path, TableError) if is_file(path) else None

    return ResultFiles(str(folder), read, matrix_file=matrix, moved=moved)


def files_in_memory(result: Result, contents: Mapping[str, Content] | None = None) -> ResultFiles:
    """Return the files that a result would write, without writing them.

    Args:
        result: the result.
        contents: contents of files of its findings by name, if they are made already; those in pieces are
            not read.
    """
    given = {} if contents is None else contents
    made: dict[str, Content] = {}

    def read(name: str) -> str | None:
        if name == "summary.json":
            return json.dumps(result.summary())
        if contents is None and not made:
            made[""] = ""
            for finding in result.findings:
                made.update(finding.files())
        content = given.get(name, made.get(name))
        if isinstance(content, Iterator) and contents is None:
            content = made[name] = "".join(map(str, content))
        return content if isinstance(content, str) else None

    unplaced = result.unplaced if result.consensus is None else Unplaced()
    clones = result.kind.clones(result.tree, unplaced)
    shares, of = support_of(result, clones)
    copied = result.tree.assignment.recurrence
    best = likely_tree(
        clones, result.mutations, genotypes_of(result.kind, result.tree), result.kind.cell_order(result.tree),
        shares, of, above=genotypes_of(kind_named(result.kind.name), result.tree), unplaced=unplaced,
        numbered=result.consensus is None,
        recurrent=None if copied is None else result.mutations.index(copied.mutation),
    )  # fmt: skip
    return ResultFiles("the result", read, result.observed, best=best)


def _consensus(files: ResultFiles) -> DrawnTree:
    """Return the consensus, from clones.tsv and cells.tsv."""
    clones, index, unplaced = _clones_of_table(files, "clones.tsv")
    best = [index.get(number, -1) for number in files.column("cells.tsv", "clone")]
    second = [-1] * len(best)
    if "doublet" in (files.table("cells.tsv") or [{}])[0]:
        for cell, share in enumerate(files.numbers("cells.tsv", "doublet")):
            if share > LIKELY:
                row = (files.table("cells.tsv") or [])[cell]
                best[cell], second[cell] = index[row["first"]], index[row["second"]]
    if len(best) != len(files.cells):
        raise TableError(f"it has {len(best)} of {len(files.cells)} cells", path=f"{files.place}/cells.tsv")
    order = np.argsort([at if at >= 0 else len(clones) for at in best], kind="stable")
    return DrawnTree(
        tuple(clones), np.array(best), np.array(second), order, unplaced, published=True, of=SAMPLED
    )


def _clones_of_table(
    files: ResultFiles, name: str
) -> tuple[list[DrawnClone], dict[str, int], tuple[str, ...]]:
    """Return the clones of clones.tsv, their places by number, and the unplaced mutations.

    Raises:
        TableError: the file is damaged.
    """
    bar, path = separator_of(files.mutations), f"{files.place}/{name}"
    names = [tuple(text.split(bar)) if text else () for text in files.column(name, "mutations")]
    numbers, parents = files.column(name, "clone"), files.column(name, "parent")
    columns = [files.numbers(name, one) for one in ("cells", "prevalence", "low", "high", "support")]
    index = {number: at for at, number in enumerate(numbers) if number != UNPLACED_MARK}
    together = _joint_shares(files, name)
    clones: list[DrawnClone] = []
    for number, at in index.items():
        if at and parents[at] not in index:
            raise TableError(f"there is no clone {parents[at]!r}", path=path, line=at + 2)
        parent = index[parents[at]] if at else 0
        if at and parent >= at:
            raise TableError(f"clone {parents[at]} is not above clone {number}", path=path, line=at + 2)
        cells, share, low, high, support = (column[at] for column in columns)
        ends: tuple[float | None, float | None] = (None, None) if math.isnan(low) else (low, high)
        depth = clones[parent].depth + 1 if at else 0
        joint = together[at] if together else None
        clones.append(
            DrawnClone(
                int(number), parent, depth, names[at], cells, share, *ends, support if at else None, joint
            )
        )
    left = zip(numbers, names, strict=True)
    return clones, index, tuple(one for number, own in left if number == UNPLACED_MARK for one in own)


def _joint_shares(files: ResultFiles, name: str) -> list[JointShare | None]:
    """Return the group of each clone of clones.tsv; nothing if all specimens tell all clones."""
    if "joint" not in (files.table(name) or [{}])[0]:
        return []
    groups = files.column(name, "joint")
    numbers = (files.numbers(name, f"joint_{column}") for column in ("prevalence", "low", "high"))
    rows = zip(groups, *numbers, strict=True)
    return [JointShare.of_table(group, *one) if group else None for group, *one in rows]


def _likely(files: ResultFiles) -> DrawnTree:
    """Return the most likely tree, from summary.json, the table of its assignment, and support.tsv."""
    summary, kind = files.summary, kind_named(str(files.summary["tree"]))
    labels = kind.labels(files.mutations, files.cells)
    number = {label: at for at, label in enumerate(labels)}
    by_nodes, recurrent = kind, None
    if kind.item == "cell":
        nodes = list(map(int, files.numbers(kind.table_name, "node_number")))
        if (given := _recurrent(files)) is not None:
            recurrent = recurrent_mutation(given, files.mutations[:-1])
            kind = recurrent_kind(recurrent)
    else:
        nodes = [number[label] for label in files.column(kind.table_name, "edge")]
    parents = validate_parents(summary["parents"])

    def tree_with(nodes: Sequence[int]) -> Tree:
        nothing = np.zeros(len(nodes))
        places = Assignment(np.array(nodes, dtype=np.int32), nothing.astype(np.int32), nothing)
        return Tree(parents, files.mutations, files.cells, places)

    tree = tree_with(nodes)
    unplaced = _unplaced(files) if files.table("clones.tsv") is None else Unplaced()
    clones, has, above = kind.clones(tree, unplaced), kind.genotypes(tree), by_nodes.genotypes(tree)
    if "doublet" in (files.table(kind.table_name) or [{}])[0]:
        both = np.array(files.numbers(kind.table_name, "doublet")) > LIKELY
        pairs = (files.column(kind.table_name, name) for name in ("first", "second"))
        first, second = (tree_with([number[label] for label in one]) for one in pairs)
        has, above = (
            np.where(both, of.genotypes(first) | of.genotypes(second), single)
            for of, single in ((kind, has), (by_nodes, above))
        )
    shares: list[float | None] | None = None
    if files.table("support.tsv") is not None and kind.item == "cell":
        clades = files.numbers("support.tsv", "p_clade")
        own = [[clades[one] for one in clone.mutations if not np.isnan(clades[one])] for clone in clones]
        shares = [some[0] if some else None for some in own]
    return likely_tree(
        clones, files.mutations, has, kind.cell_order(tree), shares, SAMPLED if shares else "", above=above,
        unplaced=unplaced, numbered=files.table("clones.tsv") is None, recurrent=recurrent,
    )  # fmt: skip


def _unplaced(files: ResultFiles) -> Unplaced:
    """Return the unplaced mutations and cells, from summary.json."""
    found = files.summary["unplaced"]
    mutations, cells = (
        {names.index(one): reason for reason, some in found[item].items() for one in some}
        for item, names in (("mutations", files.mutations), ("cells", files.cells))
    )
    return Unplaced(dict(sorted(mutations.items())), dict(sorted(cells.items())))


def _recurrent(files: ResultFiles) -> str | None:
    """Return the name of the mutation that has a copy in the tree; None for none."""
    given = files.record("run.json").get("options", {}).get("recurrent")
    return given if given is not None and "recurrence" in files.summary else None


def _read_again(files: ResultFiles) -> Matrix:
    """Return the matrix of a folder's result, with the mutations and cells of the result."""
    run = files.record("run.json")
    given = run.get("options", {})
    path = files.matrix_file or (Path(run["matrix"]) if run.get("matrix") else None)
    moved = files.moved
    if path is None:
        raise OptionError("the run had its matrix from Python, so it is in no file", hint=moved)
    if problem := problem_of(path):
        raise OptionError(
            f"the matrix {path} {'is no longer there' if problem == MISSING else problem}", hint=moved
        )
    coding = {name: given[name] for name in CODING if given.get(name) is not None}
    names = {name: given.get(name) for name in ("names", "cell_names")}
    names = {
        name: value for name, value in names.items() if value is None or problem_of(Path(str(value))) is None
    }
    try:
        with without_messages():  # the run has told them
            read = read_matrix(path, names.get("names"), cell_names=names.get("cell_names"), **coding)
        if (recurrent := _recurrent(files)) is not None:
            read = with_copy(read, recurrent_mutation(recurrent, read.mutations))
        found = _restricted(read, files)
        if found.sha256 != files.summary.get("matrix_sha256"):
            raise MatrixError("its values are not those of the run")
        return found
    except MatrixError as error:
        raise OptionError(f"{path} is not the matrix of this result: {error.message}", hint=moved) from None


def _restricted(matrix: Matrix, files: ResultFiles) -> Matrix:
    """Return the rows and columns of a matrix that a result has, in its order."""
    mutations, cells = files.mutations, files.cells
    if matrix.values.shape == (len(mutations), len(cells)):
        return with_cell_names(with_names(matrix, list(mutations)), list(cells))
    rows, columns = (
        {name: at for at, name in enumerate(own or ())} for own in (matrix.mutations, matrix.cells)
    )
    missing = [name for name in mutations if name not in rows] + [
        name for name in cells if name not in columns
    ]
    if missing:
        raise MatrixError(f"it has no {missing[0]!r}")
    chosen = matrix.values[np.ix_([rows[name] for name in mutations], [columns[name] for name in cells])]
    return Matrix(np.ascontiguousarray(chosen), mutations, matrix.source, cells=cells)
