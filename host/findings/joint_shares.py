"""Groups of clones that a specimen does not tell from each other: only their share together is known.

A mutation without a value in nearly all cells of a specimen does not tell its clone from the one above.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.findings.consensus.clone_tree import CloneTree

__all__ = [
    "DIGITS",
    "JointShare",
    "equal_nodes",
    "group_name",
    "interval_of",
    "joined_groups",
    "joint_entries",
    "joint_share",
    "joint_share_of",
    "joint_shares",
    "joint_warnings",
    "number_text",
    "per_cent_text",
    "rounded",
    "share_text",
    "unmeasured_cells",
]

_ENDS = (0.05, 0.95)
"""Quantiles at the ends of an interval."""

UNMEASURED = 0.05
"""Part of a specimen's cells with a value below which a mutation is named as not measured, if the part of all
cells is four times as large."""

DIGITS = 6
"""Digits after the point of shares in summary.json; smaller ones are 0 in tables, too."""

_MOST_NAMED = 8
"""Most clones of a group that a message names."""


def unmeasured_cells(
    gains: NDArray[np.float64], specimen_of: NDArray[np.int64], specimens: int
) -> NDArray[np.int64]:
    """Return the number of cells with a value of each mutation that a specimen did not measure, else -1.

    Args:
        gains: float64, shape (n, cells): 0 where there is no value.
        specimen_of: int64, shape (cells,).
        specimens: number of specimens.

    Returns:
        int64, shape (specimens, n).
    """
    measured = gains != 0.0
    of_all = measured.mean(axis=1)
    found = np.full((specimens, len(gains)), -1)
    for specimen in range(specimens):
        own = specimen_of == specimen
        cells, size = measured[:, own].sum(axis=1), int(own.sum())
        few = (cells < UNMEASURED * size) & (4 * cells < of_all * size)
        if size:
            found[specimen, few] = cells[few]
    return found


def number_text(value: float) -> str:
    """Return a number as text; 0 for what rounds to it."""
    return f"{value:.4g}" if abs(value) >= 0.5 * 10**-DIGITS else "0"


def rounded(numbers: NDArray[np.float64]) -> list[float]:
    """Return numbers with `DIGITS` digits after the point, as plain values for JSON; no -0."""
    values: list[float] = (numbers.round(DIGITS) + 0.0).tolist()
    return values


def share_text(value: float) -> str:
    """Return a share in percent, rounded as in tables first: figures, which read these, print the same."""
    return f"{per_cent_text(value)}%"


def per_cent_text(value: float) -> str:
    """Return a share in percent without the sign, rounded as in `share_text`."""
    return f"{float(number_text(value)):.1%}".removesuffix("%")


class JointShare(NamedTuple):
    """Share of clones together that a specimen does not tell from each other.

    Attributes:
        clones: their numbers, ascending.
        share, low, high: mean, and ends of the central 90 %, of the sum of their shares.
    """

    clones: tuple[int, ...]
    share: float
    low: float
    high: float

    @classmethod
    def of_table(cls, name: str, share: float, low: float, high: float) -> JointShare:
        """Return the share of a group by its name in tables."""
        return cls(tuple(map(int, name.split("+"))), share, low, high)

    @property
    def name(self) -> str:
        """Name of the group in tables."""
        return group_name(self.clones)

    @property
    def mark(self) -> str:
        """Text behind the share of one of the clones, which is not known."""
        return f" (not identifiable: clones {self.name} together {share_text(self.share)})"

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json, with six digits after the point."""
        numbers = {
            name: round(value, DIGITS) + 0.0 for name, value in self._asdict().items() if name != "clones"
        }
        return {"clones": list(self.clones), **numbers}


def group_name(clones: Iterable[int]) -> str:
    """Return the name of a group of clones in tables: their numbers, such as 3+5."""
    return "+".join(map(str, clones))


def joint_warnings(specimens: str, groups: Sequence[JointShare]) -> list[str]:
    """Return that specimens do not tell clones from each other, as the beginning of a sentence; else nothing.

    Args:
        specimens: subject and verb, such as "P1 does".
        groups: the groups of clones.
    """
    names = (
        f"{one.name if len(one.clones) <= _MOST_NAMED else group_name(one.clones[:_MOST_NAMED]) + '+…'} "
        f"(together {share_text(one.share)}, 90 %: {share_text(one.low)} to {share_text(one.high)})"
        for one in groups
    )
    return [
        f"{specimens} not tell clones {' from each other, nor clones '.join(names)} from each other: how the "
        "cells of such clones are divided follows from the prior"
    ][: len(groups)]


def joint_entries(groups: Iterable[JointShare], clone: int) -> tuple[str, ...]:
    """Return name and numbers of the group of a clone as entries of a table; empty ones without a group."""
    for one in groups:
        if clone in one.clones:
            return one.name, *map(number_text, one[1:])
    return ("",) * len(JointShare._fields)


def interval_of(
    draws: NDArray[np.float64], mean: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the central 90 % of draws, wider where they would not contain the mean.

    A mean is beyond them where a few draws are far from all others.

    Args:
        draws: float64, shape (draws, ...).
        mean: float64, shape (...): the value that is published with the interval.
    """
    low, high = np.quantile(draws, _ENDS, axis=0)
    return np.minimum(low, mean), np.maximum(high, mean)


def joint_share(clones: tuple[int, ...], shares: NDArray[np.float64]) -> JointShare:
    """Return the share of clones together, of draws of the shares of all: (draws, clones)."""
    sums = shares[:, clones].sum(axis=1)
    return joint_share_of(clones, sums, float(sums.mean()))


def joint_share_of(clones: tuple[int, ...], sums: NDArray[np.float64], mean: float) -> JointShare:
    """Return the share of clones together, of draws of it and its mean."""
    low, high = interval_of(sums, mean)
    return JointShare(clones, mean, float(low), float(high))


def equal_nodes(parents: NDArray[np.int32], silent: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the groups of at least two nodes that are joined by silent edges.

    Args:
        parents: int32, shape (nodes,): a parent vector whose root is its own parent.
        silent: bool, shape (nodes,): whether nothing tells a node from its parent; that of the root is not
            used.
    """
    top = np.where(silent, parents, np.arange(len(parents)))
    while (top[top] != top).any():
        top = top[top]
    nodes = np.argsort(top, kind="stable")
    parts = np.split(nodes, np.flatnonzero(np.diff(top[nodes])) + 1)
    return [part for part in parts if len(part) > 1]


def joint_shares(
    tree: CloneTree, silent: NDArray[np.bool_], shares: NDArray[np.float64], unions: Collection[int] = ()
) -> tuple[JointShare, ...]:
    """Return the groups of clones that a specimen does not tell from each other, by their first clones.

    A clone differs from the one above by any of its mutations. The cells of a union need not have all of
    them, so all have to be measured: a cell with the one that was not looks like one of the clone above.

    Args:
        tree: the clone tree.
        silent: bool, shape (n,): mutations that the specimen did not measure.
        shares: float64, shape (draws, clones): draws of the specimen's shares.
        unions: clones whose cells need not have all of their mutations.
    """
    all_silent = np.array(
        [
            bool(own) and bool(silent[own].any() if clone in unions else silent[own].all())
            for clone, own in enumerate(tree.members)
        ]
    )
    groups = sorted(np.sort(one).tolist() for one in equal_nodes(tree.parents, all_silent))
    return tuple(joint_share(tuple(clones), shares) for clones in groups)


def joined_groups(groups: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return groups of numbers, of which those with a number in common are one, by their first numbers."""
    found: list[set[int]] = []
    for group in groups:
        joined = set(group)
        for one in [other for other in found if joined & other]:
            joined |= one
            found.remove(one)
        found.append(joined)
    return sorted(tuple(sorted(one)) for one in found)
