"""Files of clones and their shares for fishplot, timescape, ClonEvol, Jellyfish and oncotreeVIS."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.clone_shares import Specimens, specimens_of
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnTree, Style
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of

__all__ = ["PROGRAMS", "export_of", "shares_by_prior"]


@dataclass(frozen=True, eq=False)
class Clones:
    """The published tree with its shares, as other programs take them.

    Attributes:
        tree: the tree; its root is the clone without mutations.
        found: the shares in specimens; all cells are one specimen where they have none.
        highlight: names of mutations that programs mark as drivers.
        colours: colour of each clone.
        name: name of the result.
    """

    tree: DrawnTree
    found: Specimens
    highlight: tuple[str, ...]
    colours: list[str]
    name: str

    @property
    def numbers(self) -> list[int]:
        """Numbers of the clones."""
        return [at if clone.number is None else clone.number for at, clone in enumerate(self.tree.clones)]

    @property
    def parents(self) -> list[int]:
        """Numbers of the clones' parents; the root is its own."""
        return [self.numbers[clone.parent] for clone in self.tree.clones]


def export_of(files: ResultFiles, program: str, style: Style, name: str) -> dict[str, str]:
    """Return the files for a program, by name.

    Args:
        files: the files of the result.
        program: a name of `PROGRAMS`.
        style: the style, for colours and highlighted names.
        name: name of the result.

    Raises:
        OptionError: there is no such program, it needs time points, their shares are of nodes of the most
            likely tree, or a name to highlight is unknown.
    """
    if program not in PROGRAMS:
        raise OptionError(f"there are no files for {program!r}", hint=f"use {', '.join(PROGRAMS)}")
    with files.as_a_whole():
        style = style.checked(files.mutations)
        if program in _OVER_TIME:
            specimens_of(files)  # refuses shares of nodes, which `_clones_of` leaves out
        return PROGRAMS[program](_clones_of(files, style, name))


def shares_by_prior(files: ResultFiles) -> list[str]:
    """Return which clones specimens do not tell from each other: other programs have no mark for that."""
    found = specimens_of(files) if files.published.published else None
    return [] if found is None else [f"{note.removesuffix('.')}, also in these files" for note in found.notes]


def _clones_of(files: ResultFiles, style: Style, name: str) -> Clones:
    """Return the published tree with its shares."""
    tree = files.published
    colours = [style.colour(clone.number) for clone in tree.clones]
    found = specimens_of(files) if tree.published else None
    if found is None:
        share = np.array([[clone.share for clone in tree.clones]])
        low, high = (
            np.array(
                [[clone.share if end is None else end for clone, end in zip(tree.clones, ends, strict=True)]]
            )
            for ends in zip(*((clone.low, clone.high) for clone in tree.clones), strict=True)
        )
        numbers = tuple(clone.number for clone in tree.clones)
        found = Specimens(("all",), (), share, low, high, numbers)
    return Clones(tree, found, style.highlight, colours, name)


UNITS = 1024
"""Parts of a per cent: fractions are whole numbers of them, which sum up without rounding in any program."""


def _in_units(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return shares as whole numbers of units whose sum is at most 100 %."""
    parts = np.floor(shares / shares.sum(axis=1, keepdims=True) * 100 * UNITS)
    return np.asarray(parts, dtype=np.int64)


def _times(clones: Clones) -> tuple[list[str], NDArray[np.float64]]:
    """Return the time points with their shares."""
    if not clones.found.times:
        raise OptionError(
            "this program draws clones over time, and the result has no time points",
            hint=f"infer with {flag_of('metadata')} TABLE and {flag_of('time_column')} NAME",
        )
    return clones.found.by_time()


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def fishplot(clones: Clones) -> dict[str, str]:
    """Return the tables of `createFishObject`: per cent of each clone with those below it."""
    points, shares = _times(clones)
    inside = (_in_units(shares) @ clones.tree.within.T)[:, 1:].T / UNITS  # without the root
    heads = points if all(map(_is_number, points)) else [str(at) for at in range(len(points))]
    numbers = clones.numbers[1:]
    rows = (
        (number, *(f"{part:.12g}" for part in parts))
        for number, parts in zip(numbers, inside.tolist(), strict=True)
    )
    row_of = {0: 0} | {number: at for at, number in enumerate(numbers, 1)}
    described = (
        (number, row_of[parent], colour, ", ".join(clone.mutations))
        for number, parent, colour, clone in zip(
            numbers, clones.parents[1:], clones.colours[1:], clones.tree.clones[1:], strict=True
        )
    )
    return {
        "fractions.tsv": tsv_text(("clone", *heads), rows),
        "clones.tsv": tsv_text(("clone", "parent_row", "colour", "mutations"), described),
        "timepoints.tsv": tsv_text(("timepoint", "label"), zip(heads, points, strict=True)),
    }


def timescape(clones: Clones) -> dict[str, str]:
    """Return clonal_prev.tsv, tree_edges.tsv and clone_colours.tsv, with the columns of `timescape`."""
    points, shares = _times(clones)
    units = _in_units(shares) / (100 * UNITS)
    prevalence = (
        (point, number, f"{part:.12g}")
        for point, parts in zip(points, units.tolist(), strict=True)
        for number, part in zip(clones.numbers, parts, strict=True)
    )
    edges = zip(clones.parents[1:], clones.numbers[1:], strict=True)
    colours = zip(clones.numbers, (colour.lstrip("#") for colour in clones.colours), strict=True)
    return {
        "clonal_prev.tsv": tsv_text(("timepoint", "clone_id", "clonal_prev"), prevalence),
        "tree_edges.tsv": tsv_text(("source", "target"), edges),
        "clone_colours.tsv": tsv_text(("clone_id", "colour"), colours),
    }


def clonevol(clones: Clones) -> dict[str, str]:
    """Return tree.tsv and variants.tsv for ClonEvol's `import.tree`.

    A clone is in the specimens in which the interval of its share, or the share of a clone without one, does
    not begin at 0. Clones have a C before their numbers, as ClonEvol would take numbers for rows.
    """
    found, tree = clones.found, clones.tree
    least = np.where(np.isnan(found.low), found.share, found.low)
    rows = []
    for at, clone in enumerate(tree.clones):
        present = [name for name, low in zip(found.names, least[:, at].tolist(), strict=True) if low > 0]
        parent = "-1" if at == 0 else f"C{clones.parents[at]}"
        events = [name for name in clone.mutations if name in clones.highlight]
        rows.append(
            (f"C{clones.numbers[at]}", parent, ",".join(present), clones.colours[at], ",".join(events))
        )
    inside = found.share @ tree.within.T
    variants = (
        (f"C{clones.numbers[at]}", name, "TRUE" if name in clones.highlight else "FALSE",
         *(f"{50.0 * part:.4g}" for part in inside[:, at].tolist()))
        for at, clone in enumerate(tree.clones)
        for name in clone.mutations
    )  # fmt: skip
    head = ("clone", "parent", "sample.with.nonzero.cell.frac.ci", "color", "events")
    return {
        "tree.tsv": tsv_text(head, rows),
        "variants.tsv": tsv_text(("cluster", "gene", "is.driver", *found.names), variants),
    }


def jellyfish(clones: Clones) -> dict[str, str]:
    """Return samples.tsv, phylogeny.tsv and compositions.tsv, the tables of Jellyfish and jellyfisher."""
    found = clones.found
    ranks = list(dict.fromkeys(found.times))
    samples = (
        (name, ranks.index(found.times[at]) + 1 if ranks else 1, "") for at, name in enumerate(found.names)
    )
    phylogeny = (
        (
            number,
            "" if at == 0 else clones.parents[at],
            clones.colours[at],
            max(1, len(clones.tree.clones[at].mutations)),
        )
        for at, number in enumerate(clones.numbers)
    )
    units = _in_units(found.share)
    units[:, 0] += 100 * UNITS - units.sum(axis=1)  # the shares of a sample must sum to 1
    compositions = (
        (name, number, f"{part / (100 * UNITS):.12g}")
        for name, parts in zip(found.names, units.tolist(), strict=True)
        for number, part in zip(clones.numbers, parts, strict=True)
        if part
    )
    return {
        "samples.tsv": tsv_text(("sample", "rank", "parent"), samples),
        "phylogeny.tsv": tsv_text(("subclone", "parent", "color", "branchLength"), phylogeny),
        "compositions.tsv": tsv_text(("sample", "subclone", "clonalPrevalence"), compositions),
    }


def oncotreevis(clones: Clones) -> dict[str, str]:
    """Return trees.json: the tree of oncotreeVIS, with the size of each clone and its mutations as events."""
    sizes = clones.found.share.mean(axis=0)
    nodes: list[dict[str, Any]] = [
        {
            "node_id": number,
            "matching_label": 0 if at == 0 else "|".join(sorted(clone.mutations)),
            "size_percent": round(float(sizes[at]), 6),
            "gene_events": {name: {"mutation": ""} for name in clone.mutations},
            "children": [],
        }
        for at, (number, clone) in enumerate(zip(clones.numbers, clones.tree.clones, strict=True))
    ]
    for at, node in enumerate(nodes[1:], 1):
        nodes[clones.tree.clones[at].parent]["children"].append(node)
    marked = {"highlighted_genes": dict.fromkeys(clones.highlight, "bold")} if clones.highlight else {}
    text = json.dumps({"trees": {clones.name: {"tree": nodes[0]}}, **marked}, indent=1, ensure_ascii=False)
    return {"trees.json": text + "\n"}


PROGRAMS: dict[str, Callable[[Clones], dict[str, str]]] = {
    "fishplot": fishplot,
    "timescape": timescape,
    "clonevol": clonevol,
    "jellyfish": jellyfish,
    "oncotreevis": oncotreevis,
}
"""Files for other programs, by their names."""

_OVER_TIME = ("fishplot", "timescape")
"""Programs that draw clones over time."""
