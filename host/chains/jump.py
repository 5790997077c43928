"""Proposals that change a tree, its shares and the rates of its mutations together, between launches.

A proposal is accepted by the rule of Metropolis, Hastings and Green, in which the volume of its map counts.

Source: Green, "Reversible jump Markov chain Monte Carlo computation", Biometrika 82, 1995.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.shares import LOWEST_OCTAVE
from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = ["LOWEST_LOG_SHARE", "NUMBERS", "Jump", "Proposals", "accepts", "log_beta_part", "log_shares_in"]

NUMBERS = 3
"""Uniform numbers of a proposal, of which the last one decides whether it is accepted."""


LOWEST_LOG_SHARE = (LOWEST_OCTAVE + 1) * math.log(2.0)
"""Log share, natural log, up to which one counts as at the lowest limit, where a way back is not unique."""


class Jump(NamedTuple):
    """A proposal.

    Attributes:
        parents: int32, shape (n + 1,): the tree.
        rates: its shares and rates as the integers of a chain.
        shapes: float64, shape (n + 1,): concentrations of the nodes.
        log_ratio: log of the prior densities, the volumes, and the probabilities of the proposals, after the
            jump and before it.
    """

    parents: NDArray[np.int32]
    rates: SlotRates
    shapes: NDArray[np.float64]
    log_ratio: float


class Proposals(Protocol):
    """Source of proposals."""

    def propose(
        self,
        state: ChainState,
        shapes: NDArray[np.float64],
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jump | None:
        """Return a proposal; None if there is none from here.

        Args:
            state: a state with shares and rates.
            shapes: float64, shape (n + 1,): concentrations of the shares' prior.
            common: float64, shape (2, 1): shapes of the common Beta of the rates (`RateDraws.common`).
            numbers: float64, shape (`NUMBERS`,): uniform numbers.
        """
        ...


def accepts(jump: Jump, log_gain: float, uniform: float) -> bool:
    """Return whether a proposal is accepted, by what the log-likelihood gains, and a uniform number."""
    return math.log(uniform) < log_gain + jump.log_ratio


def log_shares_in(problem: Problem, rates: SlotRates) -> NDArray[np.float64]:
    """Return the log shares of the nodes, natural log: float64, (n + 1,)."""
    logs = np.array(rates.log_shares) * (math.log(2.0) * 2.0**-problem.scale_bits)
    return np.asarray(logs - np.logaddexp.reduce(logs))


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
