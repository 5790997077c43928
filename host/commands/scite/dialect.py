"""Dialects: the differences between the commands of SCITE and of ∞SCITE, as one value; and SCITE's files."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.output.result_files import rescued
from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.commands.scite.arguments import SciteCall
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.rate_model import Places, RateModel, make_rate_model
from syclade.host.data.model.rates import HOMOZYGOUS, Rates
from syclade.host.data.model.recurrence import genotypes_of
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import ancestor_matrix, preorder
from syclade.host.findings.samples.sampled import sample_lines
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import MatrixError, OptionError, OutputError
from syclade.host.ground.files import entries_of, is_folder, missing_directory, write_files
from syclade.host.ground.output_folder import OutputFolder, output_folder

__all__ = [
    "Best",
    "Dialect",
    "SciteFolder",
    "best_nodes",
    "graphviz_text",
    "matrix_of",
    "newick_text",
    "rate_model_of",
    "rates_of",
    "refuse_what_is_missing",
    "scite_folder",
    "scites_dialect",
    "score_of",
]


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
    return sorted(path.name for path in entries_of(folder) if tree.fullmatch(path.name))


def refuse_what_is_missing(call: SciteCall) -> None:
    """Raise an OptionError for invalid options, and for options of SCITE that syclade lacks."""
    if not 0.0 <= call.learn <= 1.0:
        raise OptionError(f"-e is {call.learn}", hint="use a probability, 0 to 1")
    if call.learn == 1.0:
        raise OptionError("-e is 1: no step would be left for the tree", hint="use less, such as 0.2")
    if call.cell_tree:
        _refuse_for_cell_trees(call)
    elif call.move_probabilities is not None and len(call.move_probabilities) != 3:
        raise OptionError(
            f"-move_probs has {len(call.move_probabilities)} values",
            hint="mutation trees have 3: prune and reattach, swap labels, swap subtrees",
        )


def _refuse_for_cell_trees(call: SciteCall) -> None:
    """Raise an OptionError for options that do not go with -transpose here."""
    refused = {
        "-s": call.sum_score,
        "-p": call.samples is not None,
        "-t": call.true_tree is not None,
        "-e": call.learn > 0.0,
    }
    for flag, given in refused.items():
        if given:
            raise OptionError(f"{flag} does not go with -transpose here", hint=f"leave out {flag}")
    if call.move_probabilities is not None and len(call.move_probabilities) != 2:
        raise OptionError(
            f"-move_probs has {len(call.move_probabilities)} values",
            hint="cell trees have 2: prune and reattach, swap leaves",
        )


def rates_of(call: SciteCall) -> Rates:
    """Return the error rates.

    Raises:
        RatesError, OptionError: the rates are invalid, or SCITE would misread them.
    """
    if len(call.fn_rates) == 1 and not call.hom_rate:
        return Rates(call.fp_rate, call.fn_rates[0])
    if len(call.fn_rates) == 2 and not call.fn_rates[1] and not call.hom_rate:
        return Rates(call.fp_rate, call.fn_rates[0])
    if len(call.fn_rates) == 1 or not call.fn_rates[1]:
        raise OptionError(
            f"-cc is {call.hom_rate}, and -ad has one value",
            hint="homozygous mutations want both: -ad RATE RATE -cc RATE (SCITE would give 2 a wrong weight)",
        )
    if not call.hom_rate:
        raise OptionError(
            "-ad has two values, and there is no -cc",
            hint="homozygous mutations want both: -ad RATE RATE -cc RATE (SCITE would give 2 a wrong weight)",
        )
    return Rates(call.fp_rate, call.fn_rates[0], call.fn_rates[1], call.hom_rate)


def rate_model_of(call: SciteCall, rates: Rates) -> RateModel:
    """Return the rates of the chains; -e learns that of false negatives.

    Raises:
        OptionError: -sd or -x is invalid.
    """
    if call.learn == 0.0:
        return RateModel(rates)
    given = f"-sd is {call.prior_sd:g} and -x {call.step_divisor:g}"
    if not call.prior_sd > 0.0 or not call.step_divisor > 0.0:
        raise OptionError(given, hint="both are numbers above 0")
    step = call.prior_sd / call.step_divisor
    try:
        return make_rate_model(rates, learn_fn=call.learn, fn_deviation=call.prior_sd, fn_step=step)
    except OptionError as error:
        raise OptionError(f"{given}: {error.message}", hint=error.hint) from None


def matrix_of(call: SciteCall) -> Matrix:
    """Return the matrix with the names of its mutations; -n and -m must match the file.

    Raises:
        MatrixError: the file or the names cannot be read, or SCITE would misread them.
    """
    matrix = read_matrix(call.matrix, call.names, "scite", two="homozygous", beside=False)
    given, found = (call.mutations, call.cells), matrix.values.shape
    if given != found:
        turned = " (-n counts rows, -m columns: exchanged?)" if given == found[::-1] else ""
        raise MatrixError(
            f"-n is {given[0]} and -m {given[1]}, but there are {found[0]} rows and {found[1]} columns"
            f"{turned}",
            path=call.matrix,
            hint=f"give -n {found[0]} -m {found[1]}; SCITE would read another matrix, or crash",
        )
    if len(call.fn_rates) == 1 and (matrix.values == HOMOZYGOUS).any():
        row, cell = divmod(int((matrix.values == HOMOZYGOUS).argmax()), found[1])
        raise MatrixError(
            f"row {row + 1}, cell {cell + 1} is 2, a homozygous mutation, and -ad has one value",
            path=call.matrix,
            line=row + 1,
            hint="give -ad RATE RATE -cc RATE; SCITE would give 2 no weight, and say nothing",
        )
    return matrix


Drawing: TypeAlias = Callable[
    [NDArray[np.int32], Sequence[str] | None, NDArray[np.bool_] | None],
    str,
]


class Best(NamedTuple):
    """The best tree's figures.

    Attributes:
        log_likelihood: natural log, float64.
        rates: learned rates, and others that are reported, by name.
    """

    log_likelihood: float
    rates: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Dialect:
    """Model, score and files of a command.

    Attributes:
        model: rates of the chains.
        score: score of mutation trees.
        lists_trees: whether chains record all trees with the best score; else only the best one is written.
        judge: (matrix, plan, best tree, its grid points) -> its figures; None for those of the plan's score.
        graphviz: (parents, names or None, best nodes of the cells or None) -> the text of the `.gv` file.
        lines_of_samples: (matrix, plan, samples) -> the lines of the `.samples` file.
    """

    model: RateModel
    score: ScoreOptions
    lists_trees: bool
    graphviz: Drawing
    lines_of_samples: Callable[[Matrix, Plan, SampleStore], Iterator[str]]
    judge: Callable[[Matrix, Plan, NDArray[np.int32], Places], Best] | None = None


def score_of(call: SciteCall) -> ScoreOptions:
    """Return the score that -s selects."""
    return ScoreOptions("sum" if call.sum_score else "max")


def scites_dialect(call: SciteCall) -> Dialect:
    """Return the dialect of SCITE.

    Raises:
        RatesError, OptionError: the rates are invalid.
    """
    return Dialect(
        model=rate_model_of(call, rates_of(call)),
        score=score_of(call),
        lists_trees=call.tree_list,
        graphviz=graphviz_text,
        lines_of_samples=lines_of_samples,
    )


def lines_of_samples(_matrix: Matrix, plan: Plan, samples: SampleStore) -> Iterator[str]:
    """Yield the lines of SCITE's `.samples` file."""
    return sample_lines(samples, plan.problem.to_nats, plan.problem.rate_tables.model)
