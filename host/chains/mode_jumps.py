"""Jumps of chains between trees that fit nearly as well, with other shares and rates.

Where cells do not tell the order of two mutations, two trees are nearly as likely, each with shares and rates
of its own. Moves of the tree at given shares and rates, and draws of these given the tree, seldom lead from
one to the other. A jump goes from a tree of a list to another one, and changes shares and rates by as much as
those differ that fit the two trees best.

Nodes are matched by the rank of their fitted shares, the root with the root; the prior's concentrations go
with the nodes. Shares of nodes with few cells, which differ by orders of magnitude, stay. All other values,
less those that fit, are stretched from one normal distribution to the other (`curvature.py`), so that ridges
are followed: were both posteriors normal, only the evidence of the two trees would count. A jump back undoes
all changes. Likely trees are proposed more often.

Source: Tjelmeland, Hegstad, "Mode jumping proposals in MCMC", Scandinavian Journal of Statistics 28, 2001.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.curvature import Curvature, log_odds
from syclade.host.chains.jump import LOWEST_LOG_SHARE, Jumps, log_shares_in
from syclade.host.chains.points import Points
from syclade.host.chains.shares import rounded_log_shares
from syclade.host.data.model.dropout import are_inside_limits, class_weights, rates_by
from syclade.host.data.model.problem import Problem

__all__ = ["FittedTree", "ModeJumps"]

_FEW_CELLS = 3.0
"""Expected cells of a node below which a fit says nothing of its share."""

_LEAST_INFORMATION = 0.1
"""Least information of a direction: nothing goes further than some of its standard deviations."""

_LEAST_WEIGHT = 0.01
"""Least weight with which a tree is proposed, beside that of the best one."""

_MOST_NUMBERS = 2**22
"""Most numbers of all maps that are kept."""

_DIGITS = 9
"""Digits of maps and weights that count: the last ones differ between processors."""


class FittedTree(NamedTuple):
    """A tree, and the shares and rates that fit it.

    Attributes:
        parents: int32, shape (n + 1,).
        log_likelihood: at these, natural log, without the constant of the matrix.
        shares: float64, shape (n + 1,): shares of the nodes.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations.
    """

    parents: NDArray[np.int32]
    log_likelihood: float
    shares: NDArray[np.float64]
    fn_rates: NDArray[np.float64]


class _Mode(NamedTuple):
    """A tree of the list. Nodes are by falling share, the root last.

    Attributes:
        parents: int32, shape (n + 1,).
        ranked: int64, shape (n + 1,): the nodes.
        sure: bool, shape (n + 1,): whether they have many cells.
        values: float64, shape (n + 1 + n,): log shares, beside that of the first node, and log odds of rates.
        information: float64, shape (n + 1 + n, n + 1 + n): of these.
    """

    parents: NDArray[np.int32]
    ranked: NDArray[np.int64]
    sure: NDArray[np.bool_]
    values: NDArray[np.float64]
    information: NDArray[np.float64]


class _Map(NamedTuple):
    """The map from the values of one tree to those of another.

    Attributes:
        moved: int64: which values change.
        shares: int64: nodes whose shares change, the first one among them.
        before, after: their fits.
        stretch: float64, square.
        volume: log of the volume.
    """

    moved: NDArray[np.int64]
    shares: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    stretch: NDArray[np.float64]
    volume: float

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of the other tree."""
        found = values.copy()
        found[self.moved] = self.after + self.stretch @ (values[self.moved] - self.before)
        return found


class _Place(NamedTuple):
    """Where a chain is, or where it jumps to.

    Attributes:
        parents: int32, shape (n + 1,): the tree.
        log_shares: float64, shape (n + 1,): natural log.
        fn_rates: float64, shape (n,): rates of the mutations.
        shapes: float64, shape (n + 1,): concentrations of the nodes.
        log_ratio: as for `Jumps`; -inf where it is.
    """

    parents: NDArray[np.int32]
    log_shares: NDArray[np.float64]
    fn_rates: NDArray[np.float64]
    shapes: NDArray[np.float64]
    log_ratio: float


class ModeJumps:
    """Proposals of jumps between fitted trees: see `Proposals`.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.
        trees: at least two trees, with what fits them.
    """

    def __init__(self, problem: Problem, fp_rate: float, trees: Sequence[FittedTree]) -> None:
        self._problem, self._fp_rate = problem, fp_rate
        curvature, cells = Curvature(problem, fp_rate), float(problem.multiplicity.sum())
        self._modes = [_mode_of(tree, cells, curvature) for tree in trees]
        weights = _weights_of(trees, self._modes)
        others = weights * (1.0 - np.eye(len(trees)))
        self._ends, self._weights, self._all = others.cumsum(axis=1), weights.tolist(), float(weights.sum())
        self._number = {tree.parents.tobytes(): at for at, tree in enumerate(trees)}
        self._maps: dict[tuple[int, int, bytes], _Map] = {}

    def propose(
        self,
        points: Points,
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jumps:
        """See `Proposals.propose`: the first number chooses the tree.

        There is no proposal if the chain's tree is not in the list. Values at limits stay.
        """
        logs = log_shares_in(self._problem, points.log_shares)
        rates = rates_by(self._problem, self._fp_rate, points.weights)
        parts = zip(points.parents, logs, rates, points.shapes, strict=True)
        here = [_Place(*one, -math.inf) for one in parts]
        ends = [self._jumped(*one) for one in zip(here, common.tolist(), numbers[:, 0].tolist(), strict=True)]
        log_ratios = np.array([end.log_ratio for end in ends])
        if all(end is own for end, own in zip(ends, here, strict=True)):
            return Jumps(points, log_ratios)
        parents, log_shares, fn_rates, shapes = (np.array([end[at] for end in ends]) for at in range(4))
        there = Points(
            parents,
            class_weights(self._problem, self._fp_rate, fn_rates),
            rounded_log_shares(self._problem, log_shares),
            shapes,
        )
        return Jumps.to(points, there, log_ratios)

    def _jumped(self, place: _Place, common: Sequence[float], uniform: float) -> _Place:
        """Return where a chain jumps to; the place itself if there is no proposal.

        Args:
            place: where it is.
            common: shapes of the common Beta of the rates.
            uniform: the number that chooses the tree.
        """
        logs, before, shapes = place.log_shares, place.fn_rates, place.shapes
        at = self._number.get(place.parents.tobytes())
        if at is None:
            return place
        other, chosen = self._other(at, uniform)
        here, there = self._modes[at], self._modes[other]
        ranked = logs[here.ranked]
        if ranked[0] <= LOWEST_LOG_SHARE:
            return place
        free = self._free(ranked, before)
        move = self._map(at, other, free)
        values = move(np.concatenate((ranked - ranked[0], log_odds(before))))
        after = np.where(free[len(logs) :], 1.0 / (1.0 + np.exp(-values[len(logs) :])), before)
        taken = move.shares
        beside = np.logaddexp.reduce(ranked[taken]) - np.logaddexp.reduce(values[taken])
        ranked_there = ranked.copy()
        ranked_there[taken] = values[taken] + beside  # what these nodes have together stays
        if not (self._free(ranked_there, after) == free).all():
            return place
        moved, shapes_there = np.empty_like(logs), np.empty_like(shapes)
        moved[there.ranked], shapes_there[there.ranked] = ranked_there, shapes[here.ranked]
        # Volumes are those of log shares and log odds, whose densities have exponents that are larger by 1.
        of_shares = float(shapes_there @ moved - shapes @ logs)
        of_rates = common[0] * np.log(after / before) + common[1] * (np.log1p(-after) - np.log1p(-before))
        log_ratio = of_shares + float(of_rates.sum()) + move.volume + chosen
        return _Place(there.parents, moved, after, shapes_there, log_ratio)

    def _other(self, at: int, uniform: float) -> tuple[int, float]:
        """Return another tree, drawn, and the log probability of the way back, less its own."""
        ends = self._ends[at]
        other = int(ends.searchsorted(uniform * ends[-1], side="right"))
        own, chosen = self._weights[at], self._weights[other]
        return other, math.log(own / (self._all - chosen)) - math.log(chosen / (self._all - own))

    def _map(self, at: int, other: int, free: NDArray[np.bool_]) -> _Map:
        """Return the map of a jump that changes some values."""
        key = at, other, free.tobytes()
        if key not in self._maps:
            if len(self._maps) * len(free) ** 2 > _MOST_NUMBERS:
                self._maps.clear()
            self._maps[key] = _map_of(self._modes[at], self._modes[other], free)
        return self._maps[key]

    def _free(self, log_shares: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which shares and rates are not at limits: a jump back would not undo one there."""
        return np.concatenate((log_shares > LOWEST_LOG_SHARE, are_inside_limits(rates, self._fp_rate)))


def _mode_of(tree: FittedTree, cells: float, curvature: Curvature) -> _Mode:
    """Return a tree of the list, with its nodes by their shares."""
    ranked = np.append(np.argsort(-tree.shares[:-1], kind="stable"), len(tree.shares) - 1)
    logs = np.log(tree.shares[ranked])
    information = curvature.at(tree.parents, tree.shares, tree.fn_rates).information
    order = np.concatenate((ranked, np.arange(len(ranked), len(information))))
    return _Mode(
        tree.parents,
        ranked,
        cells * tree.shares[ranked] >= _FEW_CELLS,
        np.concatenate((logs - logs[0], log_odds(tree.fn_rates))),
        information[np.ix_(order, order)],
    )


def _weights_of(trees: Sequence[FittedTree], modes: Sequence[_Mode]) -> NDArray[np.float64]:
    """Return the weights with which trees are proposed: their evidence if posteriors were normal."""
    logs = np.array(
        [
            tree.log_likelihood - 0.5 * np.log(np.maximum(np.linalg.eigvalsh(mode.information), 1.0)).sum()
            for tree, mode in zip(trees, modes, strict=True)
        ]
    )
    return np.asarray(np.maximum(np.exp(logs - logs.max()).round(_DIGITS), _LEAST_WEIGHT))


def _map_of(here: _Mode, there: _Mode, free: NDArray[np.bool_]) -> _Map:
    """Return the map between two trees of the free values that both fits say something of."""
    moved = free.copy()
    moved[: len(here.sure)] &= here.sure & there.sure
    moved[0] = False  # the log share of the first node is 0 in both
    which = np.flatnonzero(moved)
    part = np.ix_(which, which)
    (shrink, _, before), (_, grow, after) = (_roots(one.information[part]) for one in (here, there))
    return _Map(
        which,
        np.append(0, which[which < len(here.sure)]),
        here.values[which],
        there.values[which],
        (grow @ shrink).round(_DIGITS),
        before - after,
    )


def _roots(information: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the symmetric root of a matrix, its inverse, and half the log of the determinant."""
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, _LEAST_INFORMATION)
    root = np.sqrt(values)
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T, 0.5 * float(np.log(values).sum())
