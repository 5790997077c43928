"""Clones of a consensus: their numbers as records in full precision, and as lines of clones.tsv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.prevalence import Mixture
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.consensus.tables import separator_of
from syclade.host.findings.joint_shares import JointShare, joint_entries
from syclade.host.findings.unplaced import UNPLACED_MARK
from syclade.host.ground.files import tsv_text

__all__ = ["CLONES", "CloneRecord", "clone_records_of", "clones_table", "descents_of"]

CLONES = (
    "clone", "parent", "support", "descent", "cells", "prevalence", "low", "high", "below", "seen", "open",
    "mutations",
)  # fmt: skip
"""Columns of clones.tsv: number of the clone, 0 for the root, and of its parent; share of the samples that
have it; least probability that a mutation of the parent is before one of the clone; expected number of its
own cells (a doublet is two cells, each of its own clone); its prevalence, which is that number divided by
the number of placed cells, with doublets by the sum of these numbers; the ends of the central 90 % of its
share of the tissue, which a clone with `open` lacks; expected number of cells of the clone and all below
it; for each of its mutations the part of all cells with a value in which it is seen; names of those of its
mutations between which a claim is kept back, so that its cells need not have all of them; names of its
mutations. The last line has the unplaced mutations, and the number of unplaced cells, if there are any."""

JOINT = ("identifiable", "joint", "joint_prevalence", "joint_low", "joint_high")
"""Last columns of clones.tsv if a specimen does not tell some clones from each other: `no` if that is so of
the clone in some specimen, else `yes`; and if it is, the clones that are not told from each other, such as
3+5, with their prevalence and the ends of their interval together. How the cells of such clones are divided
among them follows from the prior."""


class CloneRecord(NamedTuple):
    """A clone of a consensus, as a line of clones.tsv.

    Attributes:
        number: its number in all files and figures; 0 for the root, which has no mutations.
        parent: number of its parent; None for the root.
        mutations: names of its mutations, in no known order.
        support: share of the sampled trees that have it; 1 for the root.
        cells, below: expected number of its own cells, and of those with all clones below it; NaN without
            cells, as the next three.
        prevalence: part of the placed cells that are its own.
        low, high: ends of the central 90 % of its share of the tissue; NaN where claims on its mutations are
            kept back.
        seen: for each of its mutations, part of the cells with a value in which it is seen; empty without
            cells.
        descent: least probability that a mutation of its parent is before one of its own; NaN where the
            parent has none.
        open: names of those of its mutations that need not be in the same cells.
    """

    number: int
    parent: int | None
    mutations: tuple[str, ...]
    support: float
    cells: float
    below: float
    prevalence: float
    low: float
    high: float
    seen: tuple[float, ...]
    descent: float
    open: tuple[str, ...]


def descents_of(tree: CloneTree, relations: Relations) -> NDArray[np.float64]:
    """Return the least probability that a mutation of each clone's parent is before one of the clone.

    Returns:
        float64, shape (clones,): NaN for the root and for clones below it.
    """
    found = np.full(tree.clones, np.nan)
    for clone, parent in enumerate(tree.parents.tolist()):
        if parent:
            pairs = np.ix_(tree.members[parent], tree.members[clone])
            found[clone] = relations.above[pairs].min() / relations.samples
    return found


def clone_records_of(
    tree: CloneTree,
    mutations: Sequence[str],
    support: NDArray[np.float64],
    relations: Relations,
    cells: Mixture | None = None,
    seen: NDArray[np.float64] | None = None,
    open_mutations: Sequence[Sequence[int]] = (),
) -> tuple[CloneRecord, ...]:
    """Return the clones of a consensus, in preorder, the root first.

    Args:
        tree: the clone tree.
        mutations: the n names.
        support: float64, shape (clones,): support of each clone.
        relations: relations in the samples.
        cells: the placed cells as a mixture of the clones; None if there are no cells.
        seen: float64, shape (n,): part of the cells in which each mutation is seen; None without cells.
        open_mutations: for each clone, its mutations between which a claim is kept back; empty for none.
    """
    own, below, prevalence, low, high = np.full((5, tree.clones), np.nan)
    if cells is not None:
        own, prevalence, below = cells.expected, cells.prevalence, tree.within @ cells.expected
        is_open = np.array(list(map(bool, open_mutations)) or [False] * tree.clones)
        low, high = (np.where(is_open, np.nan, ends) for ends in (cells.low, cells.high))
    descents, open_of = descents_of(tree, relations), open_mutations or [()] * tree.clones
    return tuple(
        CloneRecord(
            number=clone,
            parent=parent if clone else None,
            mutations=tuple(mutations[one] for one in members),
            support=float(support[clone]),
            cells=float(own[clone]),
            below=float(below[clone]),
            prevalence=float(prevalence[clone]),
            low=float(low[clone]),
            high=float(high[clone]),
            seen=() if seen is None else tuple(float(seen[one]) for one in members),
            descent=float(descents[clone]),
            open=tuple(mutations[one] for one in open_of[clone]),
        )
        for clone, (parent, members) in enumerate(zip(tree.parents.tolist(), tree.members, strict=True))
    )


def clones_table(
    records: Sequence[CloneRecord],
    unplaced: Sequence[str] = (),
    unplaced_cells: int | None = None,
    joint: Sequence[JointShare] = (),
) -> str:
    """Return the text of ``clones.tsv``: a line with `CLONES`, then the clones in preorder.

    With clones that some specimens do not tell from each other, `JOINT` follow.

    Args:
        records: the clones.
        unplaced: names of the unplaced mutations.
        unplaced_cells: number of unplaced cells; None if there are no cells.
        joint: groups of clones that some specimens do not tell from each other.
    """
    bar = separator_of([*(name for one in records for name in one.mutations), *unplaced])
    rows: list[Sequence[object]] = []
    for one in records:
        group = joint_entries(joint, one.number)
        rows.append(
            (
                one.number,
                "" if one.parent is None else one.parent,
                _text(one.support, 3) if one.number else "",
                _text(one.descent, 3),
                *map(_text, (one.cells, one.prevalence, one.low, one.high, one.below)),
                "|".join(_text(share, 3) for share in one.seen),
                bar.join(one.open),
                bar.join(one.mutations),
                *(("no" if group[0] else "yes", *group) if joint else ()),
            )
        )
    if unplaced or unplaced_cells:
        cells = "" if unplaced_cells is None else unplaced_cells
        nothing = [""] * len(JOINT) if joint else []
        rows.append((UNPLACED_MARK, "", "", "", cells, *[""] * 6, bar.join(unplaced), *nothing))
    return tsv_text((*CLONES, *(JOINT if joint else ())), rows)


def _text(number: float, digits: int = 4) -> str:
    """Return a number with some digits; nothing for NaN."""
    return "" if math.isnan(number) else f"{number:.{digits}g}"
