"""The HTML page: jinja2 templates with autoescape, a strict content security policy, inline styles."""

from __future__ import annotations

import html
import importlib.util
import io
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.answer.report.figure import LEGEND, Figure, figure_of, figure_of_consensus
from syclade.host.answer.report.heat_map import data_address
from syclade.host.answer.report.sections import sections_of
from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import install_command

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.findings.samples.diagnostics import Trust

__all__ = ["draw", "notebook_of", "report_of", "require_report", "template", "trace_of"]


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
