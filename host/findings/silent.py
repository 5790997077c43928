"""Nodes that a specimen does not tell apart: shares among them follow from the prior, or from few cells.

A mutation without a value in nearly all cells of a specimen does not tell its node from the one above. A cell
of such nodes can be at any of them, so Gibbs steps that draw nodes of cells and shares in turn stay near the
shares from which they begin. So shares among these nodes are also drawn without the nodes of the cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.share_draws import log2_gamma, uniform_numbers
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.findings.consensus.clone_tree import CloneTree

__all__ = [
    "DIGITS",
    "INTERVAL",
    "JointShare",
    "Silent",
    "equal_nodes",
    "group_name",
    "joined_groups",
    "joint_entries",
    "joint_share",
    "joint_shares",
    "joint_warnings",
    "number_text",
    "renewed",
    "silent_nodes",
    "unmeasured_cells",
]

INTERVAL = (0.05, 0.95)
"""Quantiles at the ends of an interval."""

UNMEASURED = 0.05
"""Part of a specimen's cells with a value below which a mutation is named as not measured, if the part of all
cells is four times as large."""

WEAK = 0.25
"""Part of the cells with a value below which a mutation tells too little for Gibbs steps alone."""

DIGITS = 6
"""Digits after the point of shares in summary.json; smaller ones are 0 in tables, too."""

_MOST_NAMED = 8
"""Most clones of a group that a message names."""

_MOST_MOVES = 32
"""Most proposals of each step for some nodes that few cells tell apart."""


class Silent(NamedTuple):
    """Nodes that a specimen does not tell apart, or that few of its cells do.

    Attributes:
        nodes: int64: the nodes, at least two.
        likelihoods: float64, shape (nodes, cells): likelihoods of these nodes for the cells that tell; None
            if no cell does.
        cells: int64: the cells that tell, by their numbers in the specimen.
    """

    nodes: NDArray[np.int64]
    likelihoods: NDArray[np.float64] | None
    cells: NDArray[np.int64]


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
        return f" (not identifiable: clones {self.name} together {self.share:.1%})"

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
        f"(together {one.share:.1%}, 90 %: {one.low:.1%} to {one.high:.1%})"
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


def joint_share(clones: tuple[int, ...], shares: NDArray[np.float64]) -> JointShare:
    """Return the share of clones together, of draws of the shares of all: (draws, clones)."""
    sums = shares[:, clones].sum(axis=1)
    low, high = np.quantile(sums, INTERVAL).tolist()
    return JointShare(clones, float(sums.mean()), low, high)


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


def silent_nodes(
    parents: NDArray[np.int32], gains: NDArray[np.float64], likelihoods: NDArray[np.float64] | None
) -> list[Silent]:
    """Return the nodes of a tree that the cells of a specimen do not tell apart, or too few of them.

    Args:
        parents: int32, shape (n + 1,): the tree.
        gains: float64, shape (n, cells): what each mutation adds to the score of a cell, 0 without a value.
        likelihoods: float64, shape (n + 1, cells): likelihoods of the nodes; None for only those nodes that
            no cell tells apart.
    """
    measured = gains != 0.0
    least = 0.0 if likelihoods is None else WEAK * gains.shape[1]
    weak = np.append(measured.sum(axis=1) <= least, False)
    found = []
    for nodes in equal_nodes(parents, weak):
        inner = nodes[weak[nodes] & np.isin(parents[nodes], nodes)]
        cells = np.flatnonzero(measured[inner].any(axis=0))
        own = None if likelihoods is None or not len(cells) else likelihoods[np.ix_(nodes, cells)]
        found.append(Silent(nodes, own, cells))
    return found


def renewed(
    shares: NDArray[np.float64],
    prior: NDArray[np.float64],
    groups: list[Silent],
    likelihoods: NDArray[np.float64] | None,
    generator: np.random.Philox,
) -> NDArray[np.float64]:
    """Return shares in which those of silent nodes are redrawn, given their sum, without the nodes of cells.

    Args:
        shares: float64, shape (nodes,).
        prior: float64, of the same shape: concentrations of the Dirichlet prior.
        groups: the silent nodes.
        likelihoods: float64, shape (nodes, cells); None to draw all of them from the prior.
        generator: source of the draws.
    """
    shares = shares.copy()
    for nodes, own, cells in groups:
        if own is None or likelihoods is None:
            shares[nodes] = shares[nodes].sum() * _dirichlet(prior[nodes][None], generator)[0]
        else:
            total = shares @ likelihoods[:, cells]
            shares[nodes] = _with_moves(shares[nodes], prior[nodes], own, total, generator)
    return shares


def _with_moves(
    shares: NDArray[np.float64],
    prior: NDArray[np.float64],
    likelihoods: NDArray[np.float64],
    total: NDArray[np.float64],
    generator: np.random.Philox,
) -> NDArray[np.float64]:
    """Return shares after Metropolis steps, each of which divides the sum of two anew by the prior.

    Args:
        shares, prior: of the nodes of a group.
        likelihoods: float64, shape (nodes, cells): those of these nodes for the cells that tell.
        total: float64, shape (cells,): likelihood of each of these cells, over all nodes.
        generator: source of the draws.
    """
    moves, count = min(2 * len(shares), _MOST_MOVES), len(shares)
    first, step, accept = uniform_numbers(generator, 3 * moves).reshape(3, -1)
    one = (first * count).astype(np.int64)
    two = (one + 1 + (step * (count - 1)).astype(np.int64)) % count
    parts = _dirichlet(np.stack([prior[one], prior[two]], axis=1), generator)[:, 0]
    log_total = np.log(total)
    for at in range(moves):
        here, there = one[at], two[at]
        both = shares[here] + shares[there]
        change = parts[at] * both - shares[here]
        other = total + change * (likelihoods[here] - likelihoods[there])
        log_other = np.log(np.maximum(other, np.finfo(float).tiny))
        if np.log(accept[at]) < (log_other - log_total).sum():
            shares[here], shares[there] = parts[at] * both, (1.0 - parts[at]) * both
            total, log_total = other, log_other
    return shares


def _dirichlet(concentrations: NDArray[np.float64], generator: np.random.Philox) -> NDArray[np.float64]:
    """Return a draw from the Dirichlet distribution of each row."""
    size = concentrations.shape
    first, second = uniform_numbers(generator, 2 * concentrations.size).reshape(2, *size)
    logs = log2_gamma(concentrations, first, second)
    drawn = np.exp2(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
