"""What the page says, as plain values: a section a function; a new one is a line in SECTIONS."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.trees.tree import node_labels

if TYPE_CHECKING:
    from syclade.host.output.result import Result

__all__ = ["SECTIONS", "Section", "Table", "command_of"]

MOST_ROWS = 400
"""Of a table; what is more is in the files beside the page."""


class Table(NamedTuple):
    """A table.

    Attributes:
        head: titles of the columns.
        rows: texts.
        more: rows that are left out.
    """

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int = 0


class Section(NamedTuple):
    """A section of the page.

    Attributes:
        title: its heading.
        words: paragraphs.
        table: below them.
    """

    title: str
    words: tuple[str, ...] = ()
    table: Table | None = None


def _cut(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    everything = list(rows)
    return Table(head, everything[:MOST_ROWS], max(0, len(everything) - MOST_ROWS))


def _model(result: Result) -> Section:
    rates = result.rates.told()
    rows = [(name, f"{value:g}") for name, value in rates.items() if isinstance(value, (int, float))]
    return Section("Error rates", (), Table(("rate", "value"), rows))


def _trust(result: Result) -> Section:
    verdict = "agree on the best score" if result.converged else "do not agree on the best score"
    words = [f"{result.runs}: they {verdict}; {result.agreeing} of them found it."]
    if result.interrupted:
        words.append("The run was stopped before its end.")
    rows = [
        (str(number), search.start, f"{search.log_likelihood - result.log_likelihood:+.4f}")
        for number, search in enumerate(result.searches)
    ]
    head = ("search", "began", "log-likelihood below the best")
    if not rows:
        head = ("chain", "", "log-likelihood below the best")
        best = result.chain_log_likelihoods.max()
        rows = [(str(at), "", f"{one - best:+.4f}") for at, one in enumerate(result.chain_log_likelihoods)]
    return Section("May it be trusted?", tuple(words), _cut(head, rows))


def _samples(result: Result) -> Section | None:
    if result.samples is None:
        return None
    told = result.samples.told()
    rows = [(name, str(value)) for name, value in told.items() if name != "warnings"]
    return Section("Posterior samples", tuple(told["warnings"]), Table(("", ""), rows))


def _co_optimal(result: Result) -> Section | None:
    if result.co_optimal is None:
        return None
    words = f"{result.co_optimal.counted} trees have this log-likelihood; consensus.tsv has what they share."
    return Section("Trees that are as likely", (words,))


def _true_tree(result: Result) -> Section | None:
    if result.true_tree is None:
        return None
    rows = [
        (name, f"{kind['precision']:.4f}", f"{kind['recall']:.4f}")
        for name, kind in result.true_tree.items()
        if isinstance(kind, dict)
    ]
    return Section("Beside the true tree", (), Table(("pairs", "precision", "recall"), rows))


def _cells(result: Result) -> Section:
    labels = node_labels(result.mutations)
    rows = (
        (cell, labels[node], str(ties), f"{score:.3f}")
        for cell, node, ties, score in zip(
            result.cells,
            result.attachment.tolist(),
            result.attachment_ties.tolist(),
            result.cell_log_likelihoods.tolist(),
            strict=True,
        )
    )
    head = ("cell", "best node", "equally good nodes", "log-likelihood")
    return Section("Where the cells sit", (), _cut(head, rows))


def command_of(result: Result) -> str:
    """The command that repeats the run."""
    flags = {"move_probabilities": "--move-probs"}
    words = ["syclade", "infer", result.matrix or "MATRIX"]
    for name, value in result.options.items():
        if name == "chains" and result.searches and result.options["method"] == "search":
            continue
        flag = flags.get(name, "--" + name.replace("_", "-"))
        if value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [flag, *map(str, value)]
        elif value is not None and value is not False:
            words += [flag, str(value)]
    return shlex.join(words)


def _provenance(result: Result) -> Section:
    rows = [
        ("matrix", result.matrix or "an array"),
        ("SHA-256", result.matrix_file_sha256 or result.matrix_sha256),
        ("seed", str(result.seed)),
        ("device", f"{result.device} ({result.device_name})"),
        ("time", f"{result.seconds:.2f} s"),
        ("date", result.date),
        ("syclade", result.version),
        ("command", command_of(result)),
    ]
    return Section("Where it comes from", (), Table(("", ""), rows))


SECTIONS: tuple[Callable[[Result], Section | None], ...] = (
    _trust,
    _samples,
    _co_optimal,
    _true_tree,
    _model,
    _cells,
    _provenance,
)
"""In the order of the page, below the tree and the matrix."""
