"""Content of the page as plain values: one function per section, listed in SECTIONS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from syclade.host.answer.report.figure import LIKELY, genotypes_of
from syclade.host.answer.report.traces import trace_of
from syclade.host.data.model.zygosity import scored_values
from syclade.host.data.trees.tree import node_labels
from syclade.host.device.work import executors_of
from syclade.host.findings.cooptimal.consensus import consensus_of
from syclade.host.ground.options import command_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["SECTIONS", "Section", "Table"]

MOST_ROWS = 200
"""Maximum number of rows of a table; the files beside the page have all rows."""


class Table(NamedTuple):
    """A table.

    Attributes:
        head: titles of the columns.
        rows: texts of the cells of the table, by row.
        more: number of rows left out.
    """

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int = 0


class Section(NamedTuple):
    """A section of the page.

    Attributes:
        title: heading of the section.
        words: paragraphs.
        table: table below the paragraphs.
        warnings: warnings above the paragraphs.
        picture: address of a picture between paragraphs and table; empty for none.
        alt: description of the picture.
    """

    title: str
    words: tuple[str, ...] = ()
    table: Table | None = None
    warnings: tuple[str, ...] = ()
    picture: str = ""
    alt: str = ""


def _cut(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    everything = list(rows)
    return Table(head, everything[:MOST_ROWS], max(0, len(everything) - MOST_ROWS))


def _model(result: Result) -> Section:
    rates = result.rates.to_dict()
    rows = [
        (name, f"{value:.6g}", _whence(result, name))
        for name, value in rates.items()
        if isinstance(value, (int, float))
    ]
    words: tuple[str, ...] = ()
    if result.observed is not None:
        has = genotypes_of(result)
        values = scored_values(result.observed, result.rates)
        seen, known = (values == 1) | (values == 2), values != 3
        wrong, absent = int((seen & ~has).sum()), int((known & ~has).sum())
        lost, present = int((known & ~seen & has).sum()), int((known & has).sum())
        words = (
            f"In this tree, {wrong} of {absent} entries without the mutation have one observed "
            f"({_part(wrong, absent)}), and {lost} of {present} entries with it have none "
            f"({_part(lost, present)}).",
        )
    if result.assignment.doublets is not None:
        words += ("A cell that is more likely a doublet than not has the mutations of both of its nodes.",)
    warnings = tuple(f"{words[0].upper()}{words[1:]}." for words in result.misfits)
    return Section("Error rates", words, Table(("rate", "value", ""), rows), warnings)


def _doublets(result: Result) -> Section | None:
    calls = result.assignment.doublets
    if calls is None:
        return None
    labels = result.labels
    likely = np.flatnonzero(calls.probability > LIKELY)
    rows = [
        (
            result.cells[cell],
            f"{calls.probability[cell]:.3f}",
            labels[calls.first[cell]],
            labels[calls.second[cell]],
        )
        for cell in likely[np.argsort(-calls.probability[likely], kind="stable")].tolist()
    ]
    origin = "given" if "doublets" not in (result.learned or {}) else "learned"
    words = (
        f"Rate of doublets: {calls.rate:.4g} ({origin}). {calls.expected:.1f} of {result.n_cells} cells are "
        f"expected to be doublets; {len(likely)} are more likely one than not.",
        "A doublet of two cells of one lineage cannot be seen: its mutations are those of the cell with more "
        f"of them. Doublets of two branches are {calls.relevant_rate:.2%} of the cells.",
    )
    return Section("Doublets", words, _cut(("cell", "P(doublet)", "first node", "second node"), rows))


def _whence(result: Result, rate: str) -> str:
    """Return the origin of a rate as text: given, estimated, or learned with its prior."""
    if rate in result.estimated_rates:
        posterior = None if result.support is None else result.support.rates
        if posterior is None:
            return "estimated from the matrix, by the best tree"
        words = f"estimated from the matrix: {posterior.intervals[rate].words} over the sampled trees"
        under = getattr(posterior.sampled_under, rate)
        same = under == getattr(result.rates, rate)
        return words if same else f"{words}; support and consensus are of {under:g}, the tree of this"
    learned = (result.learned or {}).get(rate)
    if learned is None:
        return "given"
    prior = f"learned with the tree; prior {learned['prior_mean']:g} ± {learned['prior_sd']:g}"
    if "unmutated_counts" not in learned:
        return prior
    zeros, ones = learned["unmutated_counts"]
    return f"{prior}, and {zeros} times 0 and {ones} times 1 at positions left out of the matrix"


def _part(count: int, of: int) -> str:
    return f"{count / of:.2g}" if of else "none"


def _below(score: float, best: float) -> str:
    """Return the difference of a score from the best as text; differences of rounding count as 0."""
    difference = score - best
    return "0" if abs(difference) < 5e-4 else f"{difference:+.4f}"


def _trust(result: Result) -> Section:
    verdict = "agree on the best score" if result.converged else "do not agree on the best score"
    words = [f"{result.runs}: they {verdict}; {result.agreeing} of them found it."]
    starts: dict[str, list[float]] = {}
    for search in result.searches:
        starts.setdefault(search.start, []).append(search.log_likelihood)
    if not starts:
        starts[""] = result.chain_log_likelihoods.tolist()
    best = max(score for scores in starts.values() for score in scores)
    head = (
        "searches that began" if result.searches else "chains",
        "how many",
        "log-likelihoods below the best",
    )
    rows = [
        (start, str(len(scores)), ", ".join(_below(score, best) for score in sorted(scores, reverse=True)))
        for start, scores in starts.items()
    ]
    warnings = [] if result.converged else ["This may not be the best tree: most runs ended below it."]
    if (stopped := result.stop_words) is not None:
        warnings.insert(0, f"{stopped.capitalize()}.")
    return Section("Convergence", tuple(words), _cut(head, rows), tuple(warnings))


def _samples(result: Result) -> Section | None:
    if result.samples is None:
        return None
    told = result.samples.to_dict()
    rows = [(name, _short(value)) for name, value in told.items() if name not in ("warnings", "rates")]
    rows += [
        (f"{rate}: {name}", _short(value))
        for rate, numbers in told.get("rates", {}).items()
        for name, value in numbers.items()
    ]
    alt = "Log-likelihood of the samples along each chain"
    table = Table(("", ""), rows)
    return Section("Posterior samples", (), table, tuple(told["warnings"]), trace_of(result.samples), alt)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _unplaced(result: Result) -> Section | None:
    if not result.unplaced:
        return None
    silent, uncertain = result.unplaced.silent, result.unplaced.uncertain
    warnings = []
    if silent:
        warnings.append(f"{silent.words(result.mutations, result.cells)}: they say nothing of the tree.")
    if uncertain:
        warnings.append(
            f"{uncertain.words(result.mutations, result.cells)}: the sampled trees have them in many places."
        )
    rows = [
        (result.mutations[row], f"{share:.2g}")
        for row, share in sorted(uncertain.best_place.items(), key=lambda one: one[1])
    ]
    table = _cut(("mutation", "probability of its best place"), rows) if rows else None
    more = "Their places in the tree are arbitrary; support and consensus leave them out."
    return Section("Unplaced", (more,), table, tuple(warnings))


def _support(result: Result) -> Section | None:
    if result.support is None:
        return None
    found, labels = result.support, node_labels(result.mutations)
    above, edges, clades = found.unplaced.parents_of(result.parents), found.edges, found.clades
    placed = found.unplaced.placed_mutations(len(edges)).tolist()
    own = () if found.dropout is None else found.dropout.fn_rates.tolist()
    rows: list[tuple[str, ...]] = [
        (
            labels[node],
            labels[above[node]],
            f"{edges[node]:.2f}",
            f"{clades[node]:.2f}",
            f"{found.transfer[node]:.2f}",
            *((f"{own[node]:.3f}",) if own else ()),
        )
        for node in sorted(placed, key=lambda node: (edges[node], clades[node], node))
    ]
    chains, samples = found.sampled.log_likelihoods.shape
    words: tuple[str, ...] = (
        f"{found.words[0].upper()}{found.words[1:]}.",
        f"Shares of {chains * samples} trees, sampled by {chains} chains after the search. The least sure "
        "edges come first.",
    )
    if found.rates is not None:
        words += tuple(
            f"{name} over the sampled trees: {one.words}." for name, one in found.rates.intervals.items()
        )
    head: tuple[str, ...] = ("mutation", "parent", "P(parent)", "P(clade)", "transfer support of the clade")
    if found.dropout is not None:
        words += (f"{found.dropout.words[0].upper()}{found.dropout.words[1:]}.",)
        head = (*head, "false negatives")
    return Section("Support", words, _cut(head, rows), tuple(found.warnings))


def _co_optimal(result: Result) -> Section | None:
    if result.co_optimal is None:
        return None
    found = result.co_optimal
    words = f"{found.counted} trees have this log-likelihood; co_optimal.tsv has what they share."
    if len(found.trees) == 1:
        return Section("Trees that are as likely", (words,))
    shares, labels = consensus_of(found.trees).edges, node_labels(result.mutations)
    unsure = [(upper, lower) for upper, lower in np.argwhere((shares > 0) & (shares < 1)).tolist()]
    unsure.sort(key=lambda edge: (-shares[edge], edge))
    rows = [(labels[upper], labels[lower], f"{shares[upper, lower]:.0%}") for upper, lower in unsure]
    same = int((shares == 1).sum())
    more = f"{same} of {len(result.mutations)} edges are in all of them; the others, by their shares:"
    return Section("Trees that are as likely", (words, more), _cut(("parent", "child", "share"), rows))


def _recurrence(result: Result) -> Section | None:
    one, tests = result.assignment.recurrence, result.recurrences
    if one is None and tests is None:
        return None
    words = () if one is None else (f"{one.words}.",)
    if tests is None:
        return Section("Recurrence", words)
    head = ("mutation", "kind", "gain", "log Bayes factor", "error", "last round", "its factor", "its error")
    rows = []
    for number in sorted(range(len(tests.tests)), key=lambda number: -tests.tests[number].log_likelihood):
        found, _, _, factor, error = tests.tests[number]
        at, last = tests.last_of(number)
        in_last = (f"{last.log_bayes_factor:.2f}", f"{last.error:.2f}")
        own = (found.mutation, found.kind, f"{found.gain:.3f}", f"{factor:.2f}", f"{error:.2f}")
        rows.append((*own, str(at), *in_last))
    return Section("Mutations that may recur", (*words, f"{tests.words}."), _cut(head, rows))


def _true_tree(result: Result) -> Section | None:
    if result.true_tree is None:
        return None
    rows = [
        (name, f"{kind['precision']:.4f}", f"{kind['recall']:.4f}")
        for name, kind in result.true_tree.items()
        if isinstance(kind, dict)
    ]
    return Section("Beside the true tree", (), Table(("pairs", "precision", "recall"), rows))


def _assignment(result: Result) -> Section:
    labels, assignment = result.labels, result.assignment
    item, place = result.kind.item, result.kind.place
    rows = (
        (name, labels[node], str(ties), f"{score:.3f}")
        for name, node, ties, score in zip(
            result.cells if item == "cell" else result.mutations,
            assignment.node.tolist(),
            assignment.ties.tolist(),
            assignment.log_likelihood.tolist(),
            strict=True,
        )
    )
    head = (item, f"best {place}", f"equally good {place}s", "log-likelihood")
    return Section(f"Best {place} of each {item}", (), _cut(head, rows))


def _times(result: Result) -> str:
    """Return the wall time of the whole run and of its parts as text."""
    runs = "searches" if result.searches else "chains"
    parts = {runs: result.seconds} | ({} if result.support is None else {"support": result.support.seconds})
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items())
    return f"{result.total_seconds:.2f} s, of which {told}"


def _provenance(result: Result) -> Section:
    rows = [
        ("matrix", result.matrix or "an array"),
        ("SHA-256", result.matrix_file_sha256 or result.matrix_sha256),
        ("seed", str(result.seed)),
        ("device", executors_of(result.work) or "none: all was done by an earlier run"),
        ("time", _times(result)),
        ("date", result.date),
        ("syclade", result.version),
        ("command", command_of(result.matrix or "MATRIX", result.options)),
    ]
    return Section("Provenance", (), Table(("", ""), rows))


SECTIONS: tuple[Callable[[Result], Section | None], ...] = (
    _trust,
    _unplaced,
    _support,
    _samples,
    _co_optimal,
    _recurrence,
    _true_tree,
    _doublets,
    _model,
    _assignment,
    _provenance,
)
"""The sections in the order of the page, below the tree and the matrix."""
