"""Files of a result for other programs: clones with their shares, and trees with their support.

Clones and shares are for fishplot, timescape, ClonEvol, Jellyfish and oncotreeVIS, trees in NHX, FigTree's
NEXUS and plain Newick. A node of such a tree is a clone, with the names of its mutations, and a branch is as
long as the clone has mutations. Programs for phylogenies look for support at the inner nodes, and for names
at the leaves. So the plain form has a leaf of length 0 for each clone that has others below it, and the
support in place of the name above.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.clone_shares import Specimens, specimens_of
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnClone, DrawnTree, Style
from syclade.host.data.trees.newick import newick_of
from syclade.host.data.trees.tree import root_label
from syclade.host.findings.consensus.tables import separator_of
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = ["FORMS", "LABELS", "PROGRAMS", "export_of", "shares_by_prior", "tree_files"]


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
    return np.asarray(np.floor(_parts(shares)), dtype=np.int64)


def _in_all_units(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return shares as whole numbers of units whose sum is 100 %: the largest remainders are rounded up."""
    parts, found = _parts(shares), _in_units(shares)
    for of, whole in zip(parts, found, strict=True):
        largest = np.argsort(whole - of, kind="stable")
        whole[largest[: 100 * UNITS - int(whole.sum())]] += 1
    return found


def _parts(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(shares / shares.sum(axis=1, keepdims=True) * 100 * UNITS)


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
    units = _in_all_units(found.share)  # the shares of a sample must sum to 1
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
    """Return trees.json: the tree of oncotreeVIS, with the size of each clone and its mutations as events.

    It takes one size for each clone, so these are the shares of all cells, as in clones.tsv.
    """
    nodes: list[dict[str, Any]] = [
        {
            "node_id": number,
            "matching_label": 0 if at == 0 else "|".join(sorted(clone.mutations)),
            "size_percent": round(clone.share, 6),
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


FORMS = {"nhx": "tree.nhx", "figtree": "tree.nexus", "phylo": "tree.nwk"}
"""Forms of trees, and the names of their files."""

LABELS = "labels.tsv"
"""File of the labels that differ from the names of the clones; it is the same for all forms of a tree."""


def tree_files(files: ResultFiles, form: str, tree: str = "published") -> dict[str, Content]:
    """Return the files of a tree of a result in a form that other programs read.

    Quotes are read by few programs, so characters that need them become underscores in labels; then a table
    has the names.

    Args:
        files: the files of the result.
        form: nhx (values in NHX comments), figtree (NEXUS with values in comments as BEAST writes them) or
            phylo (plain Newick, with the support as labels of inner nodes).
        tree: published, the consensus where there is one; or likely, the most likely tree.

    Raises:
        OptionError: there is no such form or tree, or its leaves are cells.
    """
    if form not in FORMS:
        raise OptionError(f"the form is {shown(form)}", hint=f"use one of {', '.join(FORMS)}")
    if tree not in ("published", "likely"):
        raise OptionError(f"tree is {shown(tree)}", hint="use published or likely")
    if files.summary.get("tree") == "leaf":
        sampled = files.read("consensus.newick") is not None
        raise OptionError(
            "the leaves of this tree are cells",
            hint="other programs read consensus.newick, with support as labels of inner nodes"
            if sampled
            else f"other programs read tree.newick; for support, sample trees ({flag_of('samples')} K)",
        )
    drawn = files.published if tree == "published" else files.likely
    labels, names = _labels_of(drawn, files.mutations)
    text = {"nhx": _nhx, "figtree": _figtree, "phylo": _phylo}[form](drawn, labels)
    changed = [pair for pair in zip(labels, names, strict=True) if pair[0] != pair[1]]
    return {FORMS[form]: text, **({LABELS: tsv_text(("label", "clone"), changed)} if changed else {})}


def _labels_of(tree: DrawnTree, mutations: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the labels of the clones, which need no quotes, and their names: mutations between bars."""
    bar = separator_of(mutations)
    names = [root_label(mutations), *(bar.join(clone.mutations) for clone in tree.clones[1:])]
    labels: list[str] = []
    for name in names:
        label = plain = re.sub(r"[^\w.+|-]+", "_", name).strip("_") or "clone"
        for number in itertools.count(2):
            if label not in labels:
                break
            label = f"{plain}_{number}"
        labels.append(label)
    return labels, names


def _values(clone: DrawnClone) -> list[tuple[str, str]]:
    """Return numbers of a clone by name: support, own cells, share with its interval."""
    found = {name: getattr(clone, name) for name in ("support", "cells", "share", "low", "high")}
    return [(name, f"{one:.4g}") for name, one in found.items() if one is not None and not math.isnan(one)]


def _newick(tree: DrawnTree, names: Sequence[str], comments: Sequence[str]) -> str:
    """Return the tree in Newick format, with texts behind the names; the root comes last for `newick_of`."""
    below = tree.children
    order = [*range(1, len(below)), 0]
    number = {at: place for place, at in enumerate(order)}
    children = [[number[child] for child in below[at]] for at in order]
    return newick_of(children, [names[at] for at in order], [comments[at] for at in order], quoted=False)


def _nhx(tree: DrawnTree, names: Sequence[str]) -> str:
    comments = []
    for clone in tree.clones:
        values = "".join(f":{name}={value}" for name, value in _values(clone))
        comments.append(f":{len(clone.mutations)}" + (f"[&&NHX{values}]" if values else ""))
    return _newick(tree, names, comments)


def _figtree(tree: DrawnTree, names: Sequence[str]) -> str:
    comments = []
    for clone, name in zip(tree.clones, names, strict=True):
        values = ",".join(f"{key}={value}" for key, value in (("name", f'"{name}"'), *_values(clone)))
        comments.append(f"[&{values}]:{len(clone.mutations)}")
    return f"#NEXUS\nbegin trees;\n\ttree clones = [&R] {_newick(tree, names, comments)}end;\n"


def _phylo(tree: DrawnTree, names: Sequence[str]) -> str:
    below = tree.children
    texts: list[str] = [""] * len(below)
    for at in range(len(below) - 1, -1, -1):  # children come after their parents
        clone, name = tree.clones[at], names[at]
        if not below[at] and at:
            texts[at] = f"{name}:{len(clone.mutations)}"
            continue
        inside = ",".join([f"{name}:0", *(texts[child] for child in below[at])])
        support = "" if clone.support is None or math.isnan(clone.support) else f"{clone.support:.4g}"
        texts[at] = f"({inside}){support}:{len(clone.mutations)}"  # with a length, ape takes the root for one
    return texts[0] + ";\n"
