"""Picture of the log-likelihood along the chains: SVG by matplotlib, equal bytes for equal samples."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.answer.report.heat_map import data_address

if TYPE_CHECKING:
    from syclade.host.findings.samples.diagnostics import Trust

__all__ = ["trace_of"]

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
