"""Bootstrap of a matrix: a batch of it and of its replicates, and the support that these give its tree.

Replicates have cells, or mutations, drawn with replacement. Source: Felsenstein, "Confidence limits on
phylogenies: an approach using the bootstrap", Evolution 39, 1985, who draws characters; here these are the
mutations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.batch.task import Task, check_options
from syclade.host.data.input.convert import table_text
from syclade.host.data.input.matrix import Matrix, format_matrix
from syclade.host.data.input.names import default_names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rates import ObservationModel, Rates
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.tree import ancestor_matrix, node_labels
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.unplaced import unplaced_in
from syclade.host.findings.weighed_matrix import levels_in, weighed_as_given, with_parameters
from syclade.host.ground.atomic import Content
from syclade.host.ground.files import tsv_text
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import Options
from syclade.host.ground.values import ParsedJson

__all__ = [
    "AXES",
    "MATRICES",
    "ORIGINAL",
    "Replicate",
    "Resampling",
    "Support",
    "draws_of",
    "files_of_bootstrap",
    "replicate_of",
    "resampled",
    "support_of",
    "tasks_of_bootstrap",
]


AXES = ("cells", "mutations")


class Resampling(NamedTuple):
    """How replicates of a matrix are drawn.

    Attributes:
        axis: what is drawn, one of `AXES`.
        replicates: number of replicates.
        seed: seed of the draws, 0 … 2^64-1.
    """

    axis: str
    replicates: int
    seed: int


class Replicate(NamedTuple):
    """A replicate's tree as a statement about the mutations of the matrix.

    Attributes:
        parents: int32, shape (n,): parent of each mutation, n for the root; -1 for mutations that were not
            drawn.
        above: bool, shape (n, n): whether the row's mutation is a proper ancestor of the column's; False
            where one was not drawn.
        drawn: bool, shape (n,): whether each mutation was drawn.
    """

    parents: NDArray[np.int32]
    above: NDArray[np.bool_]
    drawn: NDArray[np.bool_]


def draws_of(resampling: Resampling, number: int, size: int) -> NDArray[np.int64]:
    """Return the indices that a replicate draws: int64, shape (size,), entries 0 … size-1.

    They are the upper halves of Philox words of (seed, number), scaled; so they are the same with every
    version of numpy, and replicates do not depend on each other.

    Args:
        resampling: how they are drawn.
        number: number of the replicate.
        size: number of cells, or of mutations.
    """
    words = np.random.Philox(key=[resampling.seed, number]).random_raw(size)
    return ((words >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)


def resampled(values: NDArray[np.uint8], axis: str, draws: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the matrix of a replicate: the drawn columns (cells) or rows (mutations), in their order.

    Args:
        values: uint8, shape (n, m).
        axis: one of `AXES`.
        draws: int64: indices of columns, or of rows.
    """
    return np.ascontiguousarray(values[:, draws] if axis == "cells" else values[draws])


def replicate_of(parents: NDArray[np.int32], axis: str, draws: NDArray[np.int64]) -> Replicate:
    """Return what a replicate's tree says about the mutations of the matrix.

    Of several copies of a mutation, only the first that was drawn counts: copies have equal rows, so which of
    them is where is arbitrary. Nodes of other copies are left out; what is below them is then below the next
    node above.

    Args:
        parents: int32, shape (n + 1,): the replicate's tree; its nodes are the drawn rows.
        axis: one of `AXES`.
        draws: int64, shape (n,): the drawn rows, if mutations were drawn.
    """
    n = len(parents) - 1
    rows = np.full(n, -1, dtype=np.int64)  # node of each mutation
    if axis == "cells":
        rows[:] = np.arange(n)
    else:
        rows[draws[::-1]] = np.arange(n)[::-1]  # the last assignment is that of the first copy
    drawn = rows >= 0
    mutation = np.full(n + 1, -1, dtype=np.int32)  # mutation of each node; -1 for nodes that are left out
    mutation[rows[drawn]] = np.flatnonzero(drawn)
    mutation[n] = n
    upper = np.full(n, -1, dtype=np.int32)
    for one in np.flatnonzero(drawn).tolist():
        node = parents[rows[one]]
        while mutation[node] < 0:
            node = parents[node]
        upper[one] = mutation[node]
    ancestors = ancestor_matrix(parents)[:n, :n].astype(np.bool_)
    above = ancestors[np.ix_(rows, rows)] & drawn[:, None] & drawn[None, :]
    np.fill_diagonal(above, False)
    return Replicate(upper, above, drawn)


ORIGINAL = "original"
"""Name of the matrix itself, and of the folder of its result."""

MATRICES = "matrices"
"""Folder of the matrix and its replicates, in that of the batch."""

_RATES = ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous")

_BYTES = 1000
"""Bytes of the task of a replicate, at least."""


class Support(NamedTuple):
    """Support of a tree by replicates.

    Attributes:
        edges: float64, shape (n,): share of the replicates in which each mutation has the same parent; NaN if
            it was never drawn together with it.
        counts: int64, shape (n,): number of replicates in which both were drawn.
        pairs: float64, shape (n, n): share of the replicates in which the row's mutation is a proper ancestor
            of the column's; NaN if they were never drawn together.
        pair_counts: int64, shape (n, n): number of replicates in which both were drawn.
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    pairs: NDArray[np.float64]
    pair_counts: NDArray[np.int64]


def tasks_of_bootstrap(
    matrix: Matrix, resampling: Resampling, folder: Path, options: Options
) -> tuple[tuple[Task, ...], dict[str, str | Iterator[str]]]:
    """Return the tasks of a matrix and its replicates, and their files in `MATRICES`, in SCITE's format.

    Replicates whose mutations were drawn have numbers in place of names. A matrix with evidence has it in
    its files (`table_text`), and its replicates draw it with the calls.

    Args:
        matrix: the matrix.
        resampling: how replicates are drawn.
        folder: the folder of the batch.
        options: options of all tasks; by default replicates have no sampled trees.

    Raises:
        OptionError: there are more replicates than memory; or an option does not go with evidence.
    """
    number = resampling.replicates
    require_memory(_BYTES * number, f"{number} replicates", "draw fewer replicates")
    text, reading = (format_matrix(matrix.values), {}) if matrix.evidence is None else table_text(matrix)
    if reading:
        options = options.replace(**reading)
        check_options(options)
    files: dict[str, str | Iterator[str]] = {f"{ORIGINAL}.csv": text}
    names = _lines(matrix.mutations) if matrix.evidence is None else None
    if names is not None:
        files[f"{ORIGINAL}.geneNames"] = names
        if matrix.cells is not None:
            files[f"{ORIGINAL}.cellNames"] = _lines(matrix.cells)
    tasks = [Task(ORIGINAL, _path(folder, ORIGINAL), options)]
    options = options.replace(support=options.support or "none")
    for number, name in _numbered(resampling):
        files[f"{name}.csv"] = _replicate(matrix, resampling, number)
        if names is not None and resampling.axis == "cells":
            files[f"{name}.geneNames"] = names
        tasks.append(Task(name, _path(folder, name), options))
    return tuple(tasks), files


def _numbered(resampling: Resampling) -> Iterator[tuple[int, str]]:
    """Yield number and name of each replicate."""
    width = len(str(resampling.replicates))
    return ((number, f"replicate_{number:0{width}}") for number in range(1, resampling.replicates + 1))


def _replicate(matrix: Matrix, resampling: Resampling, number: int) -> Iterator[str]:
    """Yield the text of a replicate once it is written, so that not all of them are in memory.

    With evidence, copies of mutations, and all cells, have numbers as names.
    """
    n, m = matrix.values.shape
    draws = draws_of(resampling, number, m if resampling.axis == "cells" else n)
    values = resampled(matrix.values, resampling.axis, draws)
    if matrix.evidence is None:
        yield format_matrix(values)
        return
    rows, columns, mutations = np.arange(n), np.arange(m), matrix.mutations
    if resampling.axis == "cells":
        columns = draws
    else:
        rows, mutations = draws, default_names(n)
    yield table_text(Matrix(values, mutations, "array", evidence=matrix.evidence.taken(rows, columns)))[0]


def _lines(names: Iterable[str]) -> str:
    return "".join(f"{name}\n" for name in names)


def _path(folder: Path, name: str) -> str:
    return str((folder / MATRICES / f"{name}.csv").absolute())


def support_of(parents: NDArray[np.int32], replicates: Sequence[Replicate]) -> Support:
    """Return the support of a tree.

    Args:
        parents: int32, shape (n + 1,): the tree; the root is n.
        replicates: the replicates, each with n mutations.
    """
    n = len(parents) - 1
    edges, counts = np.zeros(n), np.zeros(n, dtype=np.int64)
    pairs, pair_counts = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    for one in replicates:
        with_root = np.append(one.drawn, True)
        counts += one.drawn & with_root[parents[:n]]
        edges += one.drawn & (one.parents == parents[:n])
        pairs += one.above
        pair_counts += one.drawn[:, None] & one.drawn[None, :]
    with np.errstate(invalid="ignore"):
        return Support(edges / counts, counts, pairs / pair_counts, pair_counts)


def files_of_bootstrap(
    folder: Path, resampling: Resampling, tasks: Sequence[Task], done: Sequence[bool]
) -> dict[str, Content]:
    """Return the contents of the files of a bootstrap, by name; none without a tree of the matrix itself.

    Args:
        folder: the folder of the batch.
        resampling: how replicates were drawn.
        tasks: the matrix, and its replicates in order.
        done: whether each task has a result.
    """
    numbers = [number for number in range(1, len(tasks)) if done[number]]
    if not done[0] or not numbers:
        return {}
    original = _summary(folder / ORIGINAL)
    parents, names = np.array(original["parents"], dtype=np.int32), original["mutations"]
    size = original["n_cells" if resampling.axis == "cells" else "n_mutations"]
    trees = [np.array(_summary(folder / tasks[number].name)["parents"], dtype=np.int32) for number in numbers]
    replicates = [
        replicate_of(tree, resampling.axis, draws_of(resampling, number, size))
        for tree, number in zip(trees, numbers, strict=True)
    ]
    support = support_of(parents, replicates)
    files: dict[str, Content] = {
        "bootstrap.tsv": _edges_table(parents, names, support),
        "ancestors.tsv": _pairs_table(parents, names, support),
        "bootstrap.gv": to_graphviz(parents, names, None, np.nan_to_num(support.edges).tolist()),
    }
    if resampling.axis == "mutations":
        return files  # no two replicates have the same mutations
    options = tasks[0].options
    matrix = read_matrix(
        tasks[0].matrix,
        format=options.format,
        evidence=options.evidence,
        rows=options.rows,
        coding=options.coding,
    )
    rates: ObservationModel
    if matrix.evidence is None:
        rates = Rates(**{name: original[name] for name in _RATES})
    else:
        matrix = weighed_as_given(matrix, with_parameters(options, original["evidence"].get("reads", {})))
        rates = levels_in(matrix, options.floor)
    sampled = np.array(trees)
    consensus = find_consensus(lambda: [sampled], parents, matrix, rates, unplaced=unplaced_in(matrix))
    return files if consensus is None else {**files, **consensus.files()}


def _summary(folder: Path) -> dict[str, ParsedJson]:
    summary: dict[str, ParsedJson] = json.loads((folder / "summary.json").read_text("utf-8"))
    return summary


def _edges_table(parents: NDArray[np.int32], names: Sequence[str], support: Support) -> str:
    labels = node_labels(names)
    rows = [
        (labels[node], labels[parents[node]], _share(share), count)
        for node, (share, count) in enumerate(
            zip(support.edges.tolist(), support.counts.tolist(), strict=True)
        )
    ]
    return tsv_text(("mutation", "parent", "support", "replicates"), rows)


def _pairs_table(parents: NDArray[np.int32], names: Sequence[str], support: Support) -> str:
    above = ancestor_matrix(parents)[:-1, :-1].astype(np.bool_)
    np.fill_diagonal(above, False)
    rows = [
        (names[upper], names[lower], _share(support.pairs[upper, lower]), support.pair_counts[upper, lower])
        for upper, lower in np.argwhere(above).tolist()
    ]
    return tsv_text(("ancestor", "descendant", "support", "replicates"), rows)


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
