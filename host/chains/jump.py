"""Proposals that change trees, their shares and the rates of their mutations together, between launches.

A proposal is accepted by the rule of Metropolis, Hastings and Green, in which the volume of its map counts.
Proposals are made for several chains at once, whose numbers are in the rows of arrays.

Source: Green, "Reversible jump Markov chain Monte Carlo computation", Biometrika 82, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.points import Points
from syclade.host.chains.shares import LOWEST_OCTAVE
from syclade.host.data.model.problem import Problem

__all__ = [
    "LOWEST_LOG_SHARE",
    "NUMBERS",
    "Jumps",
    "Proposals",
    "accepts",
    "chosen",
    "each",
    "log_beta_part",
    "log_shares_in",
    "shares_beside",
]

NUMBERS = 3
"""Uniform numbers of a proposal, of which the last one decides whether it is accepted."""


LOWEST_LOG_SHARE = (LOWEST_OCTAVE + 1) * math.log(2.0)
"""Log share, natural log, up to which one counts as at the lowest limit, where a way back is not unique."""


class Jumps(NamedTuple):
    """A proposal for each chain.

    Attributes:
        points: what is proposed; where a chain is, if there is no proposal from there.
        log_ratios: float64, shape (chains,): log of the prior densities, the volumes, and the probabilities
            of the proposals, after the jump and before it; -inf without a proposal.
    """

    points: Points
    log_ratios: NDArray[np.float64]

    @classmethod
    def to(cls, points: Points, there: Points, log_ratios: NDArray[np.float64]) -> Jumps:
        """Return jumps between points, but for chains with a ratio of -inf, which have none."""
        return cls(points.taking(there, log_ratios > -np.inf), log_ratios)


class Proposals(Protocol):
    """Source of proposals."""

    def propose(
        self,
        points: Points,
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jumps:
        """Return a proposal for each chain.

        Args:
            points: where the chains are.
            common: float64, shape (chains, 2): shapes of the common Beta of the rates (`RateDraws.common`).
            numbers: float64, shape (chains, `NUMBERS`): uniform numbers.
        """
        ...


def accepts(jumps: Jumps, log_gains: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which proposals are accepted, by what log-likelihoods gain, and a uniform number of each."""
    return np.asarray(each(math.log, uniform) < log_gains + jumps.log_ratios)


def each(function: Callable[[float], float], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a function of few values: the same bits on every processor, unlike those of numpy."""
    return np.array([function(value) for value in values.tolist()])


def log_shares_in(problem: Problem, log_shares: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the log shares of the nodes, natural log: float64, (chains, n + 1)."""
    logs = log_shares * (math.log(2.0) * 2.0**-problem.scale_bits)
    return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))


def chosen(uniform: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the number of one of so many things for each chain, by uniform numbers."""
    return np.minimum((uniform * count).astype(np.int64), count - 1)


def shares_beside(
    logs: NDArray[np.float64],
    others: NDArray[np.bool_],
    log_factors: NDArray[np.float64],
    node: NDArray[np.int64],
    log_share: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return log shares in which one node has another one, and some others change by the same factor.

    Args:
        logs: float64, shape (chains, nodes): the present ones, natural log.
        others: bool, shape (chains, nodes): nodes whose shares change by the factor.
        log_factors: float64, shape (chains,): its log.
        node, log_share: shape (chains,): the one node, and its new log share.

    Returns:
        float64, shape (chains, nodes); and whether all of the others stay above the lowest limit, (chains,).
    """
    moved = np.where(others, logs + log_factors[:, None], logs)
    moved[np.arange(len(logs)), node] = log_share
    return moved, np.where(others, moved, 0.0).min(axis=1) > LOWEST_LOG_SHARE


def log_beta_part(part: float, shape: float, least: float, other: float) -> float:
    """Return the log of part^(shape - 1), less that of the density with which parts are drawn.

    Half of these are drawn by the density of a Beta(shape, 1) distribution. Parts up to `least` are one
    point, since the log of such a share is at its lowest limit.

    Args:
        part: above 0, up to 1.
        shape: above 0.
        least: the part that counts as the lowest limit.
        other: density of the other half of the draws at the part, times a half; at `least`, their probability
            of all parts up to it, times a half.
    """
    if part > least:
        own, drawn = (shape - 1.0) * math.log(part), 0.5 * shape * math.exp((shape - 1.0) * math.log(part))
    else:
        own, drawn = shape * math.log(least) - math.log(shape), 0.5 * math.exp(shape * math.log(least))
    return own - math.log(drawn + other)
