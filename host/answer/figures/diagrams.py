"""Figures of the posterior and of convergence: relations of pairs of mutations, searches, chains, samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import (
    LETTERS,
    MUTED,
    Box,
    Disc,
    Item,
    Line,
    Picture,
    Scene,
    Text,
    width_of,
    wrapped,
)
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import OKABE_ITO, DrawnTree, Style, hex_of, mixed
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note
from syclade.host.findings.samples.diagnostics import ESS, RHAT, SPREAD
from syclade.host.findings.support.rounds import ERROR
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of

__all__ = ["convergence_scene", "posterior_scene", "relations_of", "trace_scene"]

BEFORE, APART = (0, 114, 178), (230, 159, 0)
LEVELS = 20
"""Colours of both relations, and the steps in which a pixel mixes them with white."""

_MIXED = [(one, two) for one in range(LEVELS + 1) for two in range(LEVELS + 1 - one)]
_PALETTE = [mixed(255, BEFORE, one / LEVELS, APART, two / LEVELS) for one, two in _MIXED]


LEAST_NAME, ALWAYS_NAMED = 80.0, 12
"""Least width of names, px, and most mutations that have their names however narrow the figure is."""


def relations_of(files: ResultFiles) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return the placed mutations in the order of the tree, and their relations in the sampled trees.

    Args:
        files: the files of a result with relations.tsv.

    Returns:
        The names; float64, shape (n, n): the probability that the row's mutation is before the column's, and
        that both are apart; NaN for pairs that the table leaves out.

    Raises:
        OptionError: no trees were sampled.
    """
    if files.table("relations.tsv") is None:
        raise OptionError(
            f"{files.place} has no relations.tsv, as no mutation trees were sampled",
            hint=f"infer with {flag_of('support', 'quick')}, or {flag_of('samples')} K",
        )
    names = [name for clone in files.published.clones for name in clone.mutations]
    place = {name: at for at, name in enumerate(names)}
    before, apart = np.full((2, len(names), len(names)), np.nan)
    columns = [
        files.column("relations.tsv", name) for name in ("first", "second", "before", "after", "apart")
    ]
    for first, second, up, down, two in zip(*columns, strict=True):
        if second:
            one, other = place[first], place[second]
            before[one, other], before[other, one] = float(up), float(down)
            apart[one, other] = apart[other, one] = float(two)
    return names, before, apart


def _sizes(names: Sequence[str], style: Style) -> tuple[float, float, dict[str, list[str]]]:
    """Return the size of a pair and of letters, and the lines of each name, px: the largest that fit.

    Names that do not fit are left out if there are many; all if the style has none.
    """
    room = style.room - 2 * MARGIN - ROW - 6
    n = max(len(names), 1)
    for letters, part in product((LETTERS, 11.0, 10.0, 9.0, 8.0, 7.6), (0.3, 0.2)):
        if style.names == 0:
            break
        most = max(part * style.room, LEAST_NAME)
        labels = {one: wrapped([one], most, letters, one in style.highlight) for one in names}
        highest = max(map(len, labels.values()), default=1)
        wide = max((width_of(line, letters, one in style.highlight) for one in names for line in labels[one]),
                   default=0.0)  # fmt: skip
        for size in (16.0, letters / 0.95):
            size = max(size, highest * letters / 0.95)
            if wide + size * n <= room:
                return size, letters, labels
    if style.names != 0 and (style.names is None or n <= ALWAYS_NAMED):
        return size, letters, labels
    return min(16.0, max(room, 1.0) / n), LETTERS, {}


def posterior_scene(files: ResultFiles, style: Style) -> Scene:
    """Return the relations of all pairs of mutations in the sampled trees as a square."""
    names, before, apart = relations_of(files)
    left_out = np.isnan(before) & ~np.eye(len(names), dtype=np.bool_)
    before, apart = _with_sure(files.published, before, apart)
    items: list[Item] = []
    n = max(len(names), 1)
    top = MARGIN
    size, letters, labels = _sizes(names, style)
    named = bool(labels)
    widths = [width_of(line, letters, one in style.highlight) for one in labels for line in labels[one]]
    space = max(widths, default=0.0) + 6 if named else 0.0
    left, top = MARGIN + space + ROW, top + space + ROW
    with np.errstate(invalid="ignore"):
        up, two = np.rint(np.stack([before, apart]) * LEVELS)
    number = {pair: at for at, pair in enumerate(_MIXED)}
    blank, grey = len(_PALETTE), len(_PALETTE) + 1
    pixels = np.full((n, n), blank, np.uint8)
    for row in range(len(names)):
        for column in range(len(names)):
            if row != column:
                one, other = up[row, column], two[row, column]
                known = not math.isnan(one)
                pixels[row, column] = number[int(one), int(min(other, LEVELS - one))] if known else grey
    words = "Relations of pairs of mutations in the sampled trees"
    palette = [*_PALETTE, (255, 255, 255), (190, 190, 190)]
    items.append(Picture(left, top, size * n, size * n, pixels, palette, words))
    items.append(Line(((left, top), (left + size * n, top + size * n)), "#999999", 0.8))
    _sides(items, files, style, labels, left, top, size, letters)
    total = max(left + size * n + MARGIN, min(420.0, max(380.0, style.room)))
    y = top + size * n + 20
    for colour, words in ((BEFORE, "row before column"), (APART, "apart: on different branches")):
        y = _scale(items, y, colour, words)
    notes = ["White: the column is before the row; paler colours are less probable, mixed ones undecided."]
    if left_out.any():
        notes.append(
            "Pairs that relations.tsv leaves out are the surest of so many mutations: they have the relation "
            f"that the tree has{', or are grey in one clone' if np.isnan(before[left_out]).any() else ''}."
        )
    if not named and style.names != 0:
        notes.append("Names of so many mutations are left out.")
    y = add_note(items, notes, y + 4, total - 2 * MARGIN)
    title = "Posterior of pairs of mutations: how probable each order is, in the order of the tree"
    return Scene("posterior", title, total, y + MARGIN / 2, items)


_SURE = 0.9
"""Largest probability in a table from which the pairs that it leaves out, the surest, are as in the tree."""


def _with_sure(
    tree: DrawnTree, before: NDArray[np.float64], apart: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return relations of mutations in which pairs that the table leaves out have those of the tree.

    Pairs of one clone stay unknown, and all do if the table's surest pairs are not sure.

    Args:
        tree: the published tree.
        before, apart: as `relations_of` returns them.
    """
    known = ~np.isnan(before)
    if not known.any() or max(before[known].max(), apart[known].max()) < _SURE:
        return before, apart
    of = np.repeat(np.arange(len(tree.clones)), [len(clone.mutations) for clone in tree.clones])
    above = tree.within[np.ix_(of, of)]
    fill = ~known & (of[:, None] != of)
    return np.where(fill, above, before), np.where(fill, ~above & ~above.T, apart)


def _sides(
    items: list[Item], files: ResultFiles, style: Style, labels: dict[str, list[str]],
    left: float, top: float, size: float, letters: float,
) -> None:  # fmt: skip
    """Add the clones along both sides of the square, and the names beside them."""
    start = 0.0
    for clone in files.published.clones[1:]:
        wide = size * len(clone.mutations)
        fill = style.colour(clone.number)
        items.append(Box(left - 12, top + start, 9, wide, fill))
        items.append(Box(left + start, top - 12, wide, 9, fill))
        start += wide
    for at, (name, lines) in enumerate(labels.items()):
        bold = name in style.highlight
        for line, text in enumerate(lines):
            middle = size * (at + 0.5) + letters / 0.95 * (line - (len(lines) - 1) / 2)
            items.append(Text(left - 16, top + middle, text, letters, "end", bold))
            items.append(Text(left + middle, top - 16, text, letters, "start", bold, upright=True))


def _scale(items: list[Item], y: float, colour: tuple[int, int, int], words: str) -> float:
    """Add the scale of a colour, from 0 to 1; return its lower end, px."""
    for step in range(LEVELS):
        part = (step + 0.5) / LEVELS
        items.append(Box(MARGIN + 16 + 6 * step, y - 6, 6.5, 12, hex_of(mixed(255, colour, part))))
    items.append(Text(MARGIN + 12, y, "0", SMALL, "end", colour=MUTED))
    items.append(Text(MARGIN + 20 + 6 * LEVELS, y, "1", SMALL, colour=MUTED))
    items.append(Text(MARGIN + 36 + 6 * LEVELS, y, words))
    return y + ROW - 4


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
    """Add the diagnostics of the sampled trees with their thresholds; return the lower end, px."""
    sampled = files.summary.get("samples") or files.summary.get("support")
    items.append(Text(MARGIN, top + 8, "Sampled trees", bold=True))
    top += ROW + 2
    if sampled is None:
        words = f"None were sampled: {flag_of('support', 'quick')} or {flag_of('samples')} K samples some."
        return add_note(items, [words], top, 600.0)
    rows = [
        ("effective samples of the log-likelihood", sampled.get("ess"), f"at least {ESS:.0f}", ESS, 1),
        ("effective samples of the trees", sampled.get("tree_ess"), f"at least {ESS / 4:.0f}", ESS / 4, 1),
        ("R-hat of the log-likelihood", sampled.get("rhat"), f"at most {RHAT}", RHAT, -1),
    ]
    spread = next((name for name in sampled if name.endswith("_spread")), None)
    if spread is not None:
        most = ERROR * math.sqrt(sampled["chains"]) if "enough" in sampled else SPREAD
        rows.append(("spread between chains", sampled[spread], f"at most {most:.4g}", most, -1))
    head = (f"{sampled['samples']} of {sampled['chains']} chains", "value", "wanted")
    places = (MARGIN, MARGIN + 340, MARGIN + 440)
    for x, words in zip(places, head, strict=True):
        items.append(Text(x, top + 6, words, colour=MUTED))
    for name, value, wanted, bound, sign in rows:
        top += ROW - 4
        good = value is not None and sign * value >= sign * bound
        texts = (name, "unknown" if value is None else f"{value:.4g}", f"{wanted}: {'yes' if good else 'no'}")
        for x, words in zip(places, texts, strict=True):
            items.append(Text(x, top + 6, words, colour="#1a1a1a" if good else "#a33c00", bold=not good))
    return top + ROW
