"""Trees of a result in the forms that other programs read with their support: NHX, FigTree's NEXUS, plain
Newick.

A node is a clone, with the names of its mutations, and a branch is as long as the clone has mutations.
Programs for phylogenies look for support at the inner nodes, and for names at the leaves. So the plain form
has a leaf of length 0 for each clone that has others below it, and the support in place of the name above.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

from syclade.host.answer.figures.kinds import files_of_folder
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnClone, DrawnTree
from syclade.host.data.trees.newick import newick_of
from syclade.host.data.trees.tree import root_label
from syclade.host.findings.consensus.tables import separator_of
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = ["FORMS", "NAMES", "tree_files", "tree_files_of"]

FORMS = {"nhx": "tree.nhx", "figtree": "tree.nexus", "phylo": "tree.nwk"}
"""Forms of trees, and the names of their files."""

NAMES = "labels.tsv"
"""File of the labels that differ from the names of the clones; it is the same for all forms of a tree."""


def tree_files_of(folder: Path, form: str, tree: str = "published") -> dict[str, Content]:
    """Return the files of the tree of a folder in a form that other programs read; see `tree_files`.

    Args:
        folder: a folder of `infer` or of `consensus`.
        form: one of `FORMS`.
        tree: published or likely.

    Raises:
        OptionError: this is no such folder, or its tree has cells as leaves.
        TableError: a file of it is damaged.
    """
    return tree_files(files_of_folder(folder), form, tree)


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
    return {FORMS[form]: text, **({NAMES: tsv_text(("label", "clone"), changed)} if changed else {})}


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


def _children(tree: DrawnTree) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in tree.clones]
    for at, clone in enumerate(tree.clones[1:], 1):
        below[clone.parent].append(at)
    return below


def _values(clone: DrawnClone) -> list[tuple[str, str]]:
    """Return numbers of a clone by name: support, own cells, share with its interval."""
    found = {name: getattr(clone, name) for name in ("support", "cells", "share", "low", "high")}
    return [(name, f"{one:.4g}") for name, one in found.items() if one is not None and not math.isnan(one)]


def _newick(tree: DrawnTree, names: Sequence[str], comments: Sequence[str]) -> str:
    """Return the tree in Newick format, with texts behind the names; the root comes last for `newick_of`."""
    below = _children(tree)
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
    below = _children(tree)
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
