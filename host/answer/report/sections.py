"""Content of the page as plain values: convergence, the sections of the findings, assignment, provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.device.work import executors_of
from syclade.host.findings.finding import Section, Table, cut
from syclade.host.ground.options import command_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["sections_of"]


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
    return Section("Convergence", tuple(words), cut(head, rows), tuple(warnings))


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
    return Section(f"Best {place} of each {item}", (), cut(head, rows))


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


def sections_of(result: Result) -> list[Section]:
    """Return the sections of the page, below the tree and the matrix, in their order."""
    found = [one for finding in result.findings if (one := finding.section()) is not None]
    return [_trust(result), *found, _assignment(result), _provenance(result)]
