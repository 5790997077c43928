"""Trees as SCITE writes them, and the folder of SCITE's files, which several runs may share."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.output.result_files import rescued
from syclade.host.commands.scite.arguments import SciteCall
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.recurrence import genotypes_of
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import ancestor_matrix, preorder
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import is_folder, missing_directory, write_files
from syclade.host.ground.output_folder import OutputFolder, output_folder

__all__ = ["SciteFolder", "best_nodes", "graphviz_text", "newick_text", "scite_folder"]


_HEAD = "digraph G {\nnode [color=deeppink4, style=filled, fontcolor=white];\n"
_CELLS = "node [color=lightgrey, style=filled, fontcolor=black];\n"
_PLAIN = re.compile(r"[\w.+-]+")


def newick_text(parents: NDArray[np.int32]) -> str:
    """Return the tree in Newick format without its semicolon: mutations are 1 to n, the root n + 1."""
    nodes = len(parents)
    numbers = [str(number) for number in range(1, nodes + 1)]
    text = to_newick(parents, numbers[:-1])
    end = text.rindex(")") + 1 if ")" in text else 0
    return text[:end] + numbers[-1] + "\n"


def graphviz_text(
    parents: NDArray[np.int32],
    names: Sequence[str] | None = None,
    attached: NDArray[np.bool_] | None = None,
) -> str:
    """Return the tree in SCITE's GraphViz format: one edge per mutation, and one per best node of each cell.

    The edges of cells are only written with -a. SCITE writes names without quotes. Here names that GraphViz
    would not take for one word are quoted.

    Args:
        parents: int32, shape (n + 1,).
        names: of the mutations; None numbers them from 1, the root n + 1.
        attached: bool, shape (n + 1, cells): the best nodes of each cell; None for no cells.
    """
    count = len(parents)
    labels = [str(number) for number in range(1, count + 1)] if names is None else [*names, "Root"]
    labels = [_label(label) for label in labels]
    lines = [f"{labels[parents[node]]} -> {labels[node]};\n" for node in range(count - 1)]
    if attached is not None:
        places = np.argwhere(attached).tolist()
        lines += [_CELLS, *(f"{labels[node]} -> s{cell};\n" for node, cell in places)]
    return _HEAD + "".join(lines) + "}\n"


def best_nodes(
    problem: Problem, parents: NDArray[np.int32], recurrent: int | None = None
) -> NDArray[np.bool_]:
    """Return the best nodes of each cell, compared by the chain's integer scores: bool, shape (n + 1, cells).

    As in SCITE's files, the root is left out if another node is equally good.

    Args:
        problem: the problem.
        parents: int32, shape (n + 1,): the tree.
        recurrent: number of the mutation of which the last one is a copy; None for none.
    """
    rows, root = problem.weight_rows(), problem.mutations
    scores = np.zeros((problem.nodes, problem.columns), np.int32)
    for node in preorder(parents).tolist()[1:]:
        scores[node] = scores[parents[node]] + rows[node]
    if recurrent is not None:  # the copy's own row is missing; it turns the mutation's state below it
        has, had = genotypes_of(parents, recurrent)[recurrent], ancestor_matrix(parents)[recurrent]
        scores += (has.astype(np.int32) - had)[:, None] * rows[recurrent]
    assert not scores[root].any()
    best = scores == scores.max(axis=0)
    best[root] &= ~best[:root].any(axis=0)
    return np.asarray(best[:, problem.column_of])


def _label(label: str) -> str:
    if _PLAIN.fullmatch(label):
        return label
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


logger = logging.getLogger("syclade.scite")


class SciteFolder:
    """Folder of one run; see `scite_folder`.

    Args:
        folder: the folder.
        earlier: names of trees of an earlier run.
    """

    def __init__(self, folder: OutputFolder, earlier: list[str]) -> None:
        self._folder, self._earlier = folder, earlier

    def write(self, files: Callable[[], Mapping[str, Content]]) -> None:
        """Write all files; if that fails, write them to a folder of the user's.

        Args:
            files: returns the content by file name.

        Raises:
            OutputError: the files could not be written; the hint says where they are instead.
        """
        try:
            self._folder.write(files())
        except OutputError as error:
            raise rescued(error, lambda place: write_files(place, files())) from error
        if older := [name for name in self._earlier if name not in self._folder.written]:
            logger.warning("%s: trees of an earlier run are still there", ", ".join(older))


@contextmanager
def scite_folder(call: SciteCall, kind: str) -> Iterator[SciteFolder]:
    """Open the folder of the files, before anything is computed. The number of trees is not known yet.

    Args:
        call: SCITE's arguments.
        kind: SCITE's part of the names of trees that stands for the score.

    Raises:
        OutputError: the files cannot be written, or their directory is missing; some exist already or are
            inputs; or another run with the same beginning of names is under way.
    """
    folder, name = call.prefix.parent, call.prefix.name
    if not name:
        raise OutputError(f"{call.prefix} names no file", hint="give -o the beginning of the files' names")
    if not os.path.lexists(folder):
        raise missing_directory(call.prefix)
    inputs = {"-i": call.matrix, "-names": call.names, "-t": call.true_tree}
    samples, earlier = f"{name}.samples", _trees(folder, f"{name}_{kind}")
    with output_folder(
        folder, (*earlier, samples), key=samples, force=call.force, protected=inputs
    ) as opened:
        yield SciteFolder(opened, earlier)


def _trees(folder: Path, base: str) -> list[str]:
    """Return the names of files that are named like the trees of a run."""
    tree = re.compile(re.escape(base) + r"\d+\.(gv|newick)")
    if not is_folder(folder):
        return []
    return sorted(path.name for path in folder.iterdir() if tree.fullmatch(path.name))
