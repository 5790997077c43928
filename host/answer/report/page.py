"""The HTML page: jinja2 templates with autoescape, a strict content security policy, inline styles.

Its content is plain values: convergence, the sections of the findings, assignment, provenance.
"""

from __future__ import annotations

import html
import importlib.util
import io
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.answer.report.figure import LEGEND, Figure, data_address, figure_of, figure_of_consensus
from syclade.host.device.work import executors_of
from syclade.host.findings.finding import Section, Table, cut
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import command_of
from syclade.host.ground.packages import install_command

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.findings.samples.diagnostics import Trust

__all__ = [
    "draw",
    "notebook_of",
    "report_of",
    "require_report",
    "sections_of",
    "template",
    "trace_of",
]


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


def sections_of(result: Result) -> list[Section]:
    """Return the sections of the page, below the tree and the matrix, in their order."""
    found = [one for finding in result.findings if (one := finding.section()) is not None]
    return [_trust(result), *found, _assignment(result), _provenance(result)]


def require_report() -> None:
    """Check before a long run that the page can be made.

    Raises:
        OptionError: jinja2 or matplotlib is not installed.
    """
    for name in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(name) is None:
            raise OptionError(f"the report needs {name}", hint=install_command("report"))


def report_of(result: Result, matrix: Matrix) -> str:
    """Return the HTML of the page.

    Args:
        result: the result of an inference.
        matrix: the matrix of the inference.

    Raises:
        OptionError: jinja2 or matplotlib is not installed.
    """
    require_report()
    import markupsafe

    consensus = result.consensus
    page: str = template("page.html").render(
        result=result,
        figure=figure_of(result, matrix),
        drawn=markupsafe.Markup(draw(result, matrix)),
        consensus=consensus,
        drawn_consensus=markupsafe.Markup(
            "" if consensus is None else _drawn(figure_of_consensus(consensus))
        ),
        legend=LEGEND,
        sections=sections_of(result),
        trace_of=trace_of,
    )
    return page


def draw(result: Result, matrix: Matrix) -> str:
    """Return the tree with the matrix beside it, as an SVG for any HTML page; needs jinja2."""
    return _drawn(figure_of(result, matrix))


def _drawn(figure: Figure) -> str:
    """Return a figure as an SVG."""
    drawn: str = template("figure.html").render(figure=figure)
    return drawn


def notebook_of(result: Result) -> str:
    """Return the HTML for a notebook: the `repr` of the result, and the figure if jinja2 is installed."""
    line = f"<pre>{html.escape(repr(result))}</pre>"
    if importlib.util.find_spec("jinja2") is None:
        return line
    return f'{line}<div style="overflow-x: auto">{draw(result, result.observed)}</div>'


def template(name: str) -> Any:
    """Return a template of the package by the name of its file; needs jinja2."""
    import jinja2

    folder = resources.files("syclade.host").joinpath("answer/report/templates")
    loader = jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8"))
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template(name)


MOST_POINTS, MOST_CHAINS = 500, 8
"""Maximum number of points per chain, evenly spaced, and of chains."""


def trace_of(sampled: Trust) -> str:
    """Return the picture as a data URL.

    Args:
        sampled: samples from the posterior.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    chains, count = sampled.log_likelihoods.shape
    which = np.linspace(0, count - 1, min(MOST_POINTS, count)).round().astype(np.int64)
    steps = sampled.burn_in + (which + 1) * sampled.every
    figure = Figure(figsize=(10, 2.6), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    for chain in sampled.log_likelihoods[:MOST_CHAINS]:
        axes.plot(steps, chain[which], linewidth=0.7)
    axes.set_xlabel(f"step ({min(chains, MOST_CHAINS)} of {chains} chains, a colour each)")
    axes.set_ylabel("log-likelihood")
    axes.spines[["top", "right"]].set_visible(False)
    text = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "syclade", "svg.fonttype": "none", "font.size": 9}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return data_address(text.getvalue(), "image/svg+xml")
