"""Comparison of two trees by names: trees of mutations, and trees whose leaves are cells."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import (
    Agreement,
    Distances,
    Pairs,
    distances_between,
    number_or_none,
    shared_splits,
    shared_triplets,
)
from syclade.host.data.trees.labelled import listed
from syclade.host.data.trees.multi_label import MultiLabel, mp3_similarity, multi_label_distance
from syclade.host.data.trees.named import BAR, CellTree, NamedTree
from syclade.host.ground.errors import TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject

__all__ = ["CellComparison", "Comparison", "compare_cell_trees", "compare_trees"]

logger = logging.getLogger("syclade.compare")

_FEW = 4
"""Part of the names of the smaller tree, at most one in so many, that are few to compare."""

_BETWEEN, _MORE = (" ", ",", ";", "/", "&", "+", "_"), 3
"""Texts that other programs write between the mutations of a node, and the least matches to hint at one."""

MOST_OF_MP3 = 1000
"""Most shared mutations for MP3: its time, 3 s then, grows with their third power."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of two trees of mutations, which may have different ones.

    Attributes:
        tree, true: names of the trees.
        shared: number of mutations of both trees: those that are compared.
        only_tree, only_true: mutations of one tree alone, which are left out.
        distances: agreements of pairs and clades, CASet and DISC.
        mltd: MLTD of the shared mutations; None if it was not requested.
        mp3: MP3's similarity of the shared mutations, 0 to 1; NaN for fewer than three; None if it was not
            requested, or if there are more than `MOST_OF_MP3`.
    """

    tree: str
    true: str
    shared: int
    only_tree: tuple[str, ...]
    only_true: tuple[str, ...]
    distances: Distances
    mltd: MultiLabel | None
    mp3: float | None
    items: ClassVar[str] = "mutations"

    @property
    def agreements(self) -> dict[str, Agreement]:
        """Numbers of claims by kind."""
        return self.distances.agreements

    @property
    def numbers(self) -> dict[str, float]:
        """The other distances by name; NaN where too few mutations are compared."""
        found: dict[str, float] = {"caset": self.distances.caset, "disc": self.distances.disc}
        if self.mltd is not None:
            found |= {"mltd": self.mltd.distance, "mltd_similarity": self.mltd.similarity}
        return found if self.mp3 is None else found | {"mp3_similarity": self.mp3}

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        return _dict_of(self)


@dataclass(frozen=True)
class CellComparison:
    """Comparison of two trees whose leaves are cells, on the cells of both.

    Attributes:
        tree, true, shared, only_tree, only_true: as of `Comparison`, of cells.
        clades: sets of two or more cells below a node, but not of all; `distance` is that of Robinson and
            Foulds (Mathematical Biosciences 53, 1981) for rooted trees.
        splits: partitions of the cells by an edge, with two or more on each side: the same for unrooted
            trees.
        triplets: triples of cells of which two part last; those that a tree leaves open are no claims
            (Critchlow, Pearl, Qian, Systematic Biology 45, 1996).
    """

    tree: str
    true: str
    shared: int
    only_tree: tuple[str, ...]
    only_true: tuple[str, ...]
    clades: Agreement
    splits: Agreement
    triplets: Agreement
    items: ClassVar[str] = "cells"
    numbers: ClassVar[dict[str, float]] = {}

    @property
    def agreements(self) -> dict[str, Agreement]:
        """Numbers of claims by kind."""
        return {"clades": self.clades, "splits": self.splits, "triplets": self.triplets}

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        return _dict_of(self)


def _dict_of(found: Comparison | CellComparison) -> JsonObject:
    return {
        "tree": found.tree,
        "true": found.true,
        "shared": found.shared,
        "only_tree": list(found.only_tree),
        "only_true": list(found.only_true),
        **{name: one.to_dict() for name, one in found.agreements.items()},
        **{name: number_or_none(value) for name, value in found.numbers.items()},
    }


def compare_trees(
    trees: Sequence[NamedTree], true: NamedTree, *, slow: bool | None = None
) -> list[Comparison]:
    """Compare trees of mutations with a true one, each on the mutations that both have.

    Args:
        trees: the trees.
        true: the true tree.
        slow: whether to compute MLTD and MP3, too; by default for a single tree.

    Raises:
        TreeError: a tree shares no mutation with the true one.
    """
    slow = len(trees) == 1 if slow is None else slow
    cached: dict[tuple[str, ...], Pairs] = {}
    return [_compared(tree, true, slow, cached) for tree in trees]


def _compared(
    tree: NamedTree, true: NamedTree, slow: bool, cached: dict[tuple[str, ...], Pairs]
) -> Comparison:
    """Return a comparison; the relations of the true tree are cached by the shared mutations."""
    true = true.rooted(tree.names)
    tree = tree.rooted(true.names)
    true = true.rooted(tree.names)
    shared, only_tree, only_true = _shared_names(tree.names, true.names, tree.title, true.title, "mutation")
    node, true_node = tree.at(shared), true.at(shared)
    key = (str(len(true.parents)), *shared)
    if key not in cached:
        cached.clear()
        cached[key] = Pairs(true.parents, true_node)
    placed = (tree.parents, node, true.parents, true_node)
    return Comparison(
        tree=tree.title,
        true=true.title,
        shared=len(shared),
        only_tree=only_tree,
        only_true=only_true,
        distances=distances_between(Pairs(tree.parents, node), cached[key]),
        mltd=multi_label_distance(*placed) if slow else None,
        mp3=mp3_similarity(*placed) if slow and len(shared) <= MOST_OF_MP3 else None,
    )


def compare_cell_trees(trees: Sequence[CellTree], true: CellTree) -> list[CellComparison]:
    """Compare trees whose leaves are cells with a true one, each on the cells that both have.

    Raises:
        TreeError: a tree shares no cell with the true one.
    """
    return [_compared_cells(tree, true) for tree in trees]


def _compared_cells(tree: CellTree, true: CellTree) -> CellComparison:
    names = _shared_names(tree.cells, true.cells, tree.title, true.title, "cell")
    clades: list[NDArray[np.bool_]] = [one.clades_of(names[0]) for one in (tree, true)]
    rooted, unrooted = shared_splits(*clades)
    return CellComparison(
        tree.title, true.title, len(names[0]), *names[1:], rooted, unrooted, shared_triplets(*clades)
    )


def _separator_hint(own: set[str], others: set[str]) -> str:
    """Return the hint at the text between names by which labels of many more mutations would be equal."""
    same = len(own & others)

    def match(between: tuple[str, str]) -> int:
        parts = ({part for name in names for part in name.split(text)} - {""}
                 for names, text in zip((own, others), between, strict=True))  # fmt: skip
        return len(set.intersection(*parts))

    pairs = [(one, one) for one in _BETWEEN]
    pairs += [pair for one in _BETWEEN for pair in ((one, BAR), (BAR, one))]
    best = max(pairs, key=match)
    if match(best) < max(_MORE, 2 * same):
        return ""
    flags = " ".join(f"--separator {shlex.quote(text)}" for text in dict.fromkeys(best))
    return f"with {flags} between the mutations of a node, {match(best)} would match"


def _shared_names(
    names: Sequence[str], true_names: Sequence[str], title: str, true_title: str, what: str
) -> tuple[list[str], tuple[str, ...], tuple[str, ...]]:
    """Return the names of both trees, of the one alone, and of the other, each sorted."""
    own, others = set(names), set(true_names)
    shared = sorted(own & others)
    hint = _separator_hint(own, others) if what == "mutation" else ""
    least = min(len(own), len(others))
    if 0 < len(shared) <= least / _FEW and least > 1:
        logger.warning(
            "%d of %d %ss of %s, and of %d of %s, are in both: only they are compared%s",
            len(shared), len(own), what, title, len(others), true_title, f" ({hint})" if hint else "",
        )  # fmt: skip
    if len(shared) < 2 and (not shared or least > 1):
        number = f"only one {what}, {shared[0]}" if shared else f"no {what}"
        raise TreeError(
            f"the trees share {number}: {title} has {listed(sorted(own)) or 'none'}; "
            f"{true_title} has {listed(sorted(others)) or 'none'}",
            hint="give trees whose leaves are cells"
            if what == "cell"
            else hint
            or f"if a file has numbers, give the names in their order ({flag_of('names')}); if nodes have "
            "several mutations, the text between them (--separator), of either tree; if the leaves are "
            "cells, --kind cells",
        )
    return shared, tuple(sorted(own - others)), tuple(sorted(others - own))
