"""Clones of a consensus as records: the numbers of clones.tsv, in full precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = ["CloneRecord", "clone_records_of"]


class CloneRecord(NamedTuple):
    """A clone of a consensus, as a line of clones.tsv.

    Attributes:
        number: its number in all files and figures; 0 for the root, which has no mutations.
        parent: number of its parent; None for the root.
        mutations: names of its mutations, in no known order.
        support: share of the sampled trees that have it; 1 for the root.
        cells, below: expected number of its own cells, and of those with all clones below it.
        prevalence: part of the placed cells that are its own.
        low, high: ends of the central 90 % of its share of the tissue; NaN where claims on its mutations are
            kept back.
        seen: for each of its mutations, part of the cells with a value in which it is seen.
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


def clone_records_of(found: CloneConsensus) -> tuple[CloneRecord, ...]:
    """Return the clones of a consensus, in preorder, the root first."""
    tree, mixture = found.tree, found.cells.mixture
    below = tree.within @ mixture.expected
    return tuple(
        CloneRecord(
            number=clone,
            parent=parent if clone else None,
            mutations=tuple(found.mutations[one] for one in own),
            support=float(found.support[clone]),
            cells=float(mixture.expected[clone]),
            below=float(below[clone]),
            prevalence=float(mixture.prevalence[clone]),
            low=math.nan if found.open_mutations[clone] else float(mixture.low[clone]),
            high=math.nan if found.open_mutations[clone] else float(mixture.high[clone]),
            seen=tuple(float(found.seen[one]) for one in own),
        )
        for clone, (parent, own) in enumerate(zip(tree.parents.tolist(), tree.members, strict=True))
    )
