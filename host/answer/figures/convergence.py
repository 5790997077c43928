"""Figure of convergence: where searches or chains ended, and the samples with their diagnostics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import MUTED, Disc, Item, Line, Scene, Text, width_of
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import OKABE_ITO, Style
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note
from syclade.host.data.diagnostics import ROUGH
from syclade.host.findings.samples.diagnostics import ESS, RHAT, SPREAD
from syclade.host.findings.support.rounds import ERROR
from syclade.host.ground.options import flag_of

__all__ = ["convergence_scene", "trace_scene"]

MOST_POINTS, MOST_CHAINS = 500, 7
"""Most points of a chain, evenly spaced, and most chains that are drawn."""

PLOT, LEAST_WIDTH = 160.0, 620.0
"""Height of the traces, and least width of the figure, px."""


def convergence_scene(files: ResultFiles, style: Style) -> Scene:
    """Return the log-likelihoods of searches or chains, the samples' along the chains, and diagnostics."""
    items: list[Item] = []
    top = MARGIN
    width = max(min(style.room, 760.0), LEAST_WIDTH)
    top = _found(items, files, top, width)
    top = _traces(items, files, style, top, width)
    top = _diagnostics(items, files, top)
    title = "Convergence: log-likelihoods of searches or chains, and diagnostics of the sampled trees"
    return Scene("convergence", title, width, top + MARGIN / 2, items)


def _found(items: list[Item], files: ResultFiles, top: float, width: float) -> float:
    """Add how far each search, or chain, ended below the best one; return the lower end, px."""
    groups: dict[str, list[float]] = {}
    for search in files.summary.get("searches", ()):
        start = str(search["start"]).replace("-", " ")
        groups.setdefault(f"searches begun {start}", []).append(search["log_likelihood"])
    groups = groups or {"chains": list(files.summary.get("chain_log_likelihoods", ()))}
    best = max((score for some in groups.values() for score in some), default=0.0)
    below = {name: [max(0.0, best - score) for score in some] for name, some in groups.items()}
    end = max((value for some in below.values() for value in some), default=0.0)
    end = 1.0 if end < 5e-4 else end
    left = MARGIN + max(width_of(f"{name} (000)") for name in groups) + 12
    right = width - MARGIN - 20
    items.append(Text(MARGIN, top + 8, "Log-likelihood below the best one", bold=True))
    top += ROW + 4
    for name, values in below.items():
        items.append(Text(MARGIN, top + 10, f"{name} ({len(values)})"))
        items.append(Line(((left, top + 10), (right, top + 10)), "#dddddd", 0.8))
        several: list[tuple[float, int]] = []
        for value, count in zip(*np.unique(np.round(values, 6), return_counts=True), strict=True):
            x = left + (right - left) * float(value) / end
            radius = min(9.0, 3.0 + math.sqrt(float(count)))
            fill = OKABE_ITO[0] if value < 5e-4 else OKABE_ITO[5]
            items.append(Disc(x, top + 10, radius, fill))
            if count > 1:
                several.append((x, int(count)))
        items += [Text(x, top - 3, f"{count}×", 9.0, "middle", colour=MUTED) for x, count in _apart(several)]
        top += 28
    for part in (0.0, 0.5, 1.0):
        x = left + (right - left) * part
        items.append(Text(x, top + 4, f"{part * end:.3g}", SMALL, "middle", colour=MUTED))
    return top + ROW + 4


def _apart(labels: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return places and counts, from left to right, with those joined whose labels would overlap."""
    found: list[tuple[float, int]] = []
    for x, count in labels:
        if found and x - found[-1][0] < width_of(f"{max(count, found[-1][1])}×", 9.0) + 3.0:
            before, more = found.pop()
            x, count = (before * more + x * count) / (more + count), more + count
        found.append((x, count))
    return found


def _traces(items: list[Item], files: ResultFiles, style: Style, top: float, width: float) -> float:
    """Add the log-likelihood of the samples along the chains, if there are any; return the lower end, px."""
    text, sampled = files.read("tree.samples"), files.summary.get("samples")
    if text is None or sampled is None:
        return top
    scores = [float(line.split(None, 1)[0]) for line in text.splitlines() if line.strip()]
    chains = int(sampled["chains"])
    count = len(scores) // max(chains, 1)
    if not count:
        return top
    values = np.array(scores[: count * chains]).reshape(chains, count)
    items.append(Text(MARGIN, top + 8, "Log-likelihood of the samples along each chain", bold=True))
    return add_trace(items, values, sampled["burn_in"], sampled["every"], style, top + ROW + 2, width)


def trace_scene(
    values: NDArray[np.float64], burn_in: int, every: int, style: Style, name: str = "trace"
) -> Scene:
    """Return the log-likelihood of samples along their chains.

    Args:
        values: float64, shape (chains, samples), natural log.
        burn_in, every: steps before the first sample, and between two samples, of a chain.
        style: the style.
        name: name of the figure.
    """
    items: list[Item] = []
    width = max(min(style.room, 760.0), LEAST_WIDTH)
    bottom = add_trace(items, values, burn_in, every, style, MARGIN, width) if values.size else ROW
    return Scene(name, "Log-likelihood of the samples along each chain", width, bottom, items)


def add_trace(
    items: list[Item],
    values: NDArray[np.float64],
    burn_in: int,
    every: int,
    style: Style,
    top: float,
    width: float,
) -> float:
    """Add the log-likelihood of samples along their chains; return the lower end, px."""
    chains, count = values.shape
    which = np.linspace(0, count - 1, min(MOST_POINTS, count)).round().astype(np.int64)
    low, high = float(values.min()), float(values.max())
    left, right = MARGIN + width_of(f"{low:.1f}") + 10, width - MARGIN
    spread = (high - low) or 1.0
    for part in (0.0, 0.5, 1.0):
        y = top + PLOT * part
        items.append(Line(((left, y), (right, y)), "#dddddd", 0.8))
        items.append(Text(left - 6, y, f"{high - part * (high - low):.1f}", SMALL, "end", colour=MUTED))
    steps = burn_in + (which + 1) * every
    for at, chain in enumerate(values[:MOST_CHAINS]):
        xs = left + (right - left) * which / max(count - 1, 1)
        ys = top + PLOT * (high - chain[which]) / spread
        points = tuple(zip(xs.tolist(), ys.tolist(), strict=True))
        items.append(Line(points if len(points) > 1 else points * 2, style.colour(at + 1), 0.8))
    top += PLOT
    for x, step, anchor in ((left, steps[0], "start"), (right, steps[-1], "end")):
        items.append(Text(x, top + 12, f"step {step}", SMALL, anchor, colour=MUTED))
    middle = f"{min(chains, MOST_CHAINS)} of {chains} chains, a colour each"
    items.append(Text((left + right) / 2, top + 12, middle, SMALL, "middle", colour=MUTED))
    return top + ROW + 14


def _diagnostics(items: list[Item], files: ResultFiles, top: float) -> float:
    """Add the diagnostics of the sampled trees with what is wanted of them; return the lower end, px."""
    sampled = files.summary.get("samples") or files.summary.get("support")
    items.append(Text(MARGIN, top + 8, "Sampled trees", bold=True))
    top += ROW + 2
    if sampled is None:
        words = f"None were sampled: {flag_of('support', 'quick')} or {flag_of('samples')} K samples some."
        return add_note(items, [words], top, 600.0)
    head = (f"{sampled['samples']} of {sampled['chains']} chains", "value", "wanted")
    places = (MARGIN, MARGIN + 340, MARGIN + 440)
    for x, words in zip(places, head, strict=True):
        items.append(Text(x, top + 6, words, colour=MUTED))
    for name, value, wanted, good in diagnostic_rows(sampled):
        top += ROW - 4
        answer = "" if good is None else f": {'yes' if good else 'no'}"
        colour = {None: MUTED, True: "#1a1a1a", False: "#a33c00"}[good]
        for x, words in zip(places, (name, value, wanted + answer), strict=True):
            items.append(Text(x, top + 6, words, colour=colour, bold=good is False))
    return top + ROW


class Diagnostic(NamedTuple):
    """A diagnostic of sampled trees as text.

    Attributes:
        name: what is measured.
        value: its value.
        wanted: what is wanted of it.
        good: whether the value is so; None for a number that decides nothing.
    """

    name: str
    value: str
    wanted: str
    good: bool | None


def diagnostic_rows(sampled: Mapping[str, Any]) -> list[Diagnostic]:
    """Return the diagnostics of sampled trees.

    Those of support are judged by its rule (`support.rounds.enough`). The sample size of the trees is no part
    of it: it is 1 for each chain where all trees are equal, which is the surest result. Other samples are
    judged by the limits of their warnings.

    Args:
        sampled: `samples` or `support` of summary.json.
    """
    chains, of_support = sampled["chains"], "enough" in sampled
    constant = of_support and sampled.get("ess") == 1.0 and sampled.get("rhat") is None
    likely = "of the log-likelihood"
    if constant:
        rows = [Diagnostic(f"R-hat {likely}", "none", "no part, as all are equal", None)]
    else:
        rows = [
            _at_least(f"effective samples {likely}", sampled.get("ess"), ESS),
            _at_most(f"R-hat {likely}", sampled.get("rhat"), RHAT),
        ]
    spread = next((name for name in sampled if name.endswith("_spread")), None)
    if spread is not None:
        most = ERROR * math.sqrt(chains) if of_support else SPREAD
        agree = of_support and chains > 1 and sampled[spread] is None  # no mutation is above another
        rows.append(_at_most("spread between chains", 0.0 if agree else sampled[spread], most))
    if not of_support:
        return [*rows, _at_least("effective samples of the trees", sampled.get("tree_ess"), ESS / 4)]
    pairs = sampled["pairs"]
    if sampled["level"] == "full" and pairs["measured"]:
        name = f"effective samples of the worst of {pairs['measured']} uncertain pairs"
        rows.append(_at_least(name, pairs["lowest_ess"], ROUGH))
    return [
        *rows,
        Diagnostic("enough samples for support", "", "all limits above", sampled["enough"]),
        _of_trees(sampled),
    ]


def _of_trees(support: Mapping[str, Any]) -> Diagnostic:
    """Return the effective sample size of the trees of support, or that these are all equal."""
    chains = support["chains"]
    equal = support["still_chains"] == support["tree_ess"] == chains and not support["ancestor_spread"]
    value = "all trees equal" if equal else _number(support["tree_ess"])
    return Diagnostic("effective samples of the trees", value, "no part of the rule for support", None)


def _at_least(name: str, value: float | None, least: float) -> Diagnostic:
    return Diagnostic(name, _number(value), f"at least {least:.0f}", value is not None and value >= least)


def _at_most(name: str, value: float | None, most: float) -> Diagnostic:
    return Diagnostic(name, _number(value), f"at most {most:.4g}", value is not None and value <= most)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
