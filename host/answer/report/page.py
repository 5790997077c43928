"""The HTML page: jinja2 templates with autoescape, a strict content security policy, inline styles.

It begins with what a clinician reads: a summary, the tree to publish, clones; how it was found is at the end.
"""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from syclade.host.answer.figures.clone_shares import specimens_of
from syclade.host.answer.figures.convergence import trace_scene
from syclade.host.answer.figures.heat_map import matrix_scene
from syclade.host.answer.figures.kinds import draw_figure
from syclade.host.answer.figures.scene import Scene, svg_of
from syclade.host.answer.figures.source import ResultFiles, files_in_memory
from syclade.host.answer.figures.style import Style
from syclade.host.answer.report.summary import highlighted, quality_of, sentences_of
from syclade.host.data.input.names import chosen_mutations
from syclade.host.device.work import executors_of
from syclade.host.findings.finding import Section, Table, cut
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import command_of
from syclade.host.ground.packages import install_command
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.findings.samples.diagnostics import Trust
    from syclade.host.ground.atomic import Content

__all__ = ["notebook_of", "parts_of", "report_of", "require_report", "template"]

PAGE = 1180.0
"""Width of figures in the page, px."""


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
    best = max((score for scores in starts.values() for score in scores), default=result.log_likelihood)
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
    later = {name: seconds for name, seconds in result.stages.items() if name not in ("preparation", "tree")}
    parts = {runs: result.seconds} | later
    shown = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items())
    return f"{result.total_seconds:.2f} s, of which {shown}"


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


PEOPLE = (
    "consensus",
    "clones_by_sample",
    "cells",
    "genotypes",
    "doublets",
    "recurrences",
    "evidence",
    "unplaced",
    "left_out",
)
"""Findings whose sections come first, in this order; those that are not named here come last."""

FOLDED = 12
"""Tables of more rows are folded."""


class Part(NamedTuple):
    """A part of the page: a heading of the second level, and sections below it.

    Attributes:
        title: the heading.
        sections: the sections.
    """

    title: str
    sections: list[Section]


def parts_of(result: Result, files: ResultFiles) -> list[Part]:
    """Return the parts of the page below the trees, in their order: results first, then how they were found.

    Args:
        result: the result of an inference.
        files: its files.
    """
    found = {finding.name: one for finding in result.findings if (one := finding.section()) is not None}
    first = [found.pop(name) for name in PEOPLE if name in found]
    quality = Part("Quality of the data", quality_of(files))
    technical = [_trust(result), *found.values(), _assignment(result), _provenance(result)]
    return [Part("Clones, cells and mutations", first), quality, Part("How this was found", technical)]


def require_report() -> None:
    """Check before a long run that the page can be made.

    Raises:
        OptionError: jinja2 is not installed.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise OptionError("the report needs jinja2", hint=install_command("report"))


def report_of(
    result: Result,
    contents: Mapping[str, Content] | None = None,
    *,
    title: str = "",
    highlight: Sequence[str] = (),
) -> str:
    """Return the HTML of the page.

    Args:
        result: the result of an inference.
        contents: contents of the files of its findings, if they are made already.
        title: title of the page, such as the name of a patient.
        highlight: names of mutations to name first, and to give the order of.

    Raises:
        OptionError: jinja2 is not installed.
    """
    require_report()
    files = files_in_memory(result, contents)
    named, unknown = chosen_mutations(highlight, result.mutations)
    style = Style(highlight=tuple(named), room=PAGE)
    tree = files.published
    parts = parts_of(result, files)
    page: str = template("page.html").render(
        result=result,
        heading=title or "Mutation history",
        size=f"{counted(len(result.measured), 'mutation', 'mutations')}, "
        + counted(result.n_cells, "cell", "cells"),
        sentences=sentences_of(result, files),
        warned=[one.title for part in parts for one in part.sections if one.warnings],
        tree=tree,
        drawn_tree=_svg(draw_figure(files, "tree", style)),
        drawn_clones=[_svg(draw_figure(files, kind, style)) for kind in _of_specimens(files)],
        drawn_matrix=_svg(draw_figure(files, "matrix", style)),
        named=highlighted(files, named, unknown),
        parts=parts,
        drawn_likely=_svg(matrix_scene(files.likely, result.observed, style, "likely"))
        if tree.published
        else "",
        trace_of=_trace_of,
        folded=FOLDED,
    )
    return page


def _of_specimens(files: ResultFiles) -> list[str]:
    """Return the kinds of figures of specimens that a result has."""
    found = specimens_of(files) if files.published.published else None
    if found is None:
        return []
    return ["clones", "fish"] if len(set(found.times)) > 1 else ["clones"]


def _svg(scene: Scene) -> Any:
    """Return a scene as an element of the page."""
    import markupsafe

    return markupsafe.Markup(svg_of(scene))


def _trace_of(sampled: Trust) -> Any:
    """Return the log-likelihood of samples along their chains, as an element of the page."""
    return _svg(trace_scene(sampled.log_likelihoods, sampled.burn_in, sampled.every, Style(room=PAGE)))


def notebook_of(result: Result) -> str:
    """Return the HTML for a notebook: the `repr` of the result, and the tree beside the matrix."""
    line = f"<pre>{html.escape(repr(result))}</pre>"
    drawn = svg_of(draw_figure(files_in_memory(result), "matrix", Style()))
    return f'{line}<div style="overflow-x: auto">{drawn}</div>'


def template(name: str) -> Any:
    """Return a template of the package by the name of its file; needs jinja2."""
    return _environment().get_template(name)


@cache  # it keeps the compiled templates: a batch makes many reports
def _environment() -> Any:
    """Return the environment of the templates."""
    import jinja2

    folder = resources.files("syclade.host").joinpath("answer/report/templates")
    loader = jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8"))
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
