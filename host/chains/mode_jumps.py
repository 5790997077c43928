"""Jumps of chains between trees that fit nearly as well, with other shares and rates.

Where cells do not tell the order of two mutations, two trees are nearly as likely, each with shares and rates
of its own. Moves of the tree at given shares and rates, and draws of these given the tree, seldom lead from
one to the other. A jump goes from a tree of a list to another one, and changes shares and rates by as much as
those differ that fit the two trees best. It is accepted by the rule of Metropolis, Hastings and Green.

Nodes are matched by the rank of their fitted shares, the root with the root, since shares of nodes without
cells differ by orders of magnitude; the prior's concentrations go with the nodes. Values that are some
standard deviations from one fit will be as many from the other one. A jump back undoes all changes.

Source: Tjelmeland, Hegstad, "Mode jumping proposals in MCMC", Scandinavian Journal of Statistics 28, 2001;
Green, "Reversible jump Markov chain Monte Carlo computation", Biometrika 82, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.shares import LOWEST_OCTAVE, log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import are_inside_limits, rates_in, slot_rates
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["FittedTree", "Jump", "ModeJumps"]

_FEW_CELLS = 3.0
"""Expected cells of a node, or with a mutation, below which a fit says nothing of its share or rate."""


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


class Jump(NamedTuple):
    """A proposal.

    Attributes:
        parents: int32, shape (n + 1,): the other tree.
        rates: its shares and rates as the integers of a chain.
        shapes: float64, shape (n + 1,): concentrations of the nodes.
        log_ratio: log of the prior densities, and of the volumes, after the jump and before it.
    """

    parents: NDArray[np.int32]
    rates: SlotRates
    shapes: NDArray[np.float64]
    log_ratio: float


class _Numbers(NamedTuple):
    """Numbers that a jump changes: where they are in a tree, and how far they differ from there.

    Attributes:
        mean: float64: fitted values; NaN where a fit says nothing.
        deviation: float64: standard deviations, if it were known which cells are at which nodes.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def to(self, other: _Numbers, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return values of one tree as those of another, as far from the means, and the log of the volume."""
        scale = other.deviation / self.deviation
        found = other.mean + (values - self.mean) * scale
        known = ~np.isnan(found)
        return np.where(known, found, values), float(np.log(scale[known]).sum())


class _Mode(NamedTuple):
    """A tree of the list.

    Attributes:
        parents: int32, shape (n + 1,).
        ranked: int64, shape (n + 1,): the nodes by falling share, the root last.
        shares: of the logs of all shares but the first in this order, beside that one: (n,).
        rates: of the log odds of the rates: (n,).
    """

    parents: NDArray[np.int32]
    ranked: NDArray[np.int64]
    shares: _Numbers
    rates: _Numbers


class ModeJumps:
    """Proposals of jumps between fitted trees.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.
        trees: at least two trees, with what fits them.
    """

    def __init__(self, problem: Problem, fp_rate: float, trees: Sequence[FittedTree]) -> None:
        self._problem, self._fp_rate = problem, fp_rate
        cells = float(problem.multiplicity.sum())
        self._modes = [_mode_of(tree, cells) for tree in trees]
        self._number = {tree.parents.tobytes(): at for at, tree in enumerate(trees)}

    def propose(
        self, state: ChainState, shapes: NDArray[np.float64], common: NDArray[np.float64], uniform: float
    ) -> Jump | None:
        """Return a jump to another tree; None if the chain's is not in the list, or at limits of values.

        Args:
            state: a state with shares and rates.
            shapes: float64, shape (n + 1,): concentrations of the shares' prior.
            common: float64, shape (2, 1): shapes of the common Beta of the rates (`RateDraws.common`).
            uniform: uniform number that chooses the tree.
        """
        at = self._number.get(np.asarray(state.parents, dtype=np.int32).tobytes())
        if at is None:
            return None
        others = len(self._modes) - 1
        other = min(int(uniform * others), others - 1)
        here, there = self._modes[at], self._modes[other + (other >= at)]
        logs = np.array(state.rates.log_shares) * (math.log(2.0) * 2.0**-self._problem.scale_bits)
        logs -= np.logaddexp.reduce(logs)
        ratios, volume = here.shares.to(there.shares, (logs - logs[here.ranked[0]])[here.ranked[1:]])
        moved = np.zeros_like(logs)
        moved[there.ranked[1:]] = ratios
        moved -= np.logaddexp.reduce(moved)
        before = rates_in(self._problem, self._fp_rate, state.rates)
        odds, volume_of_rates = here.rates.to(there.rates, np.log(before) - np.log1p(-before))
        after = 1.0 / (1.0 + np.exp(-odds))
        if not (_are_inside(logs, before, self._fp_rate) and _are_inside(moved, after, self._fp_rate)):
            return None
        shapes_there = np.empty_like(shapes)
        shapes_there[there.ranked] = shapes[here.ranked]
        # Volumes are those of log shares and log odds, whose densities have exponents that are larger by 1.
        of_shares = float(shapes_there @ moved - shapes @ logs)
        of_rates = common[0] * np.log(after / before) + common[1] * (np.log1p(-after) - np.log1p(-before))
        log_ratio = of_shares + float(of_rates.sum()) + volume + volume_of_rates
        slot = slot_rates(self._problem, self._fp_rate, after)
        log_shares = log_shares_of(self._problem, np.exp(moved))
        return Jump(there.parents, replace(slot, log_shares=log_shares), shapes_there, log_ratio)

    def accepts(self, jump: Jump, gain: int, uniform: float) -> bool:
        """Return whether a jump is accepted, by what its score gains, and a uniform number."""
        return math.log(uniform) < gain * self._problem.unit + jump.log_ratio


def _are_inside(log_shares: NDArray[np.float64], rates: NDArray[np.float64], fp_rate: float) -> bool:
    """Return whether no share or rate is at a limit of its values: a jump back would not undo one there."""
    lowest = (LOWEST_OCTAVE + 1) * math.log(2.0)
    return bool(log_shares.min() > lowest and are_inside_limits(rates, fp_rate).all())


def _mode_of(tree: FittedTree, cells: float) -> _Mode:
    """Return a tree of the list, with its nodes by their shares."""
    ranked = np.append(np.argsort(-tree.shares[:-1], kind="stable"), len(tree.shares) - 1)
    of_node, having = cells * tree.shares[ranked], cells * (ancestor_matrix(tree.parents)[:-1] @ tree.shares)
    missed, seen = having * tree.fn_rates, having * (1.0 - tree.fn_rates)
    return _Mode(
        tree.parents,
        ranked,
        _numbers(np.log(of_node[1:] / of_node[0]), 1.0 / of_node[1:] + 1.0 / of_node[0], of_node[1:]),
        _numbers(np.log(tree.fn_rates) - np.log1p(-tree.fn_rates), 1.0 / missed + 1.0 / seen, missed),
    )


def _numbers(
    mean: NDArray[np.float64], variance: NDArray[np.float64], cells: NDArray[np.float64]
) -> _Numbers:
    """Return numbers, without those of few cells."""
    return _Numbers(np.where(cells < _FEW_CELLS, np.nan, mean), np.sqrt(variance))
