"""States of chains, and the events that they emit.

A state is a plain value with all that the next step of its chain needs; statistics are kept separately. A
recorder selects the states that a chain emits as events while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.problem import SlotRates
from syclade.host.data.model.rate_model import NOWHERE, Places

__all__ = [
    "EQUAL_BEST",
    "NEW_BEST",
    "ChainInfo",
    "ChainState",
    "Event",
    "Recorder",
    "Sink",
    "bytes_of_states",
    "every",
    "no_tallies",
]


@dataclass(frozen=True)
class Recorder:
    """Selection of the states to emit.

    Attributes:
        name: name shown to users.
        device: `module:NAME` of a `kernels.chain.parts.Recorder`.
        numpy: `module:NAME` of a `fallback.chain.parts.Recorder`.
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    device: str
    numpy: str
    defaults: Mapping[str, int] = field(default_factory=dict)


def _own(name: str, module: str, **defaults: int) -> Recorder:
    place = f"recorders.{module}:RECORDER"
    return Recorder(name, f"syclade.kernels.{place}", f"syclade.fallback.{place}", defaults)


def every(steps: int, first: int = 0) -> Recorder:
    """Return a recorder that emits the state after `first` steps, and then every `steps` steps.

    If `first` is 0, the first state is that after `steps` steps.
    """
    return _own(f"every {steps} steps", "every", every=steps, first_sample=first or steps)


NEW_BEST = _own("new best", "new_best")
EQUAL_BEST = _own("equal to the best", "equal_best")


class Event(NamedTuple):
    """A state that a recorder selected.

    Attributes:
        chain: number of the chain.
        step: steps that the chain had done.
        score: integer score of the tree, in units of 2^-f nat.
        why: bit r is set if the plan's r-th recorder selected the state.
        key: key of the tree (`host.data.trees.tree`).
        parents: int32, shape (n + 1,): the tree.
        rate_at: grid indices of the learned rates.
    """

    chain: int
    step: int
    score: int
    why: int
    key: int
    parents: NDArray[np.int32]
    rate_at: Places = NOWHERE


class Sink(Protocol):
    """A consumer of events. It receives the events of each chain in the order of the chain's steps."""

    def take(self, events: Sequence[Event]) -> None:
        """Take the events of a launch."""


_BYTES = 1000
"""Bytes of a state and its statistics in Python besides its trees, at least."""


def bytes_of_states(chains: int, labels: int) -> int:
    """Return the least bytes that states of chains take, with trees of this many nodes."""
    return chains * (_BYTES + 2 * 4 * (labels + 1))


def no_tallies(kinds: int) -> NDArray[np.int64]:
    """Return zero tallies for `kinds` kinds of moves: int64, shape (2 * kinds,)."""
    return np.zeros(2 * kinds, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ChainState:
    """One chain between two steps. Together with the seed and the plan, it determines all later steps.

    Attributes:
        chain: number of the chain; with the seed it determines the random numbers.
        step: number of steps done, which is the number of the next step.
        parents: int32, shape (n + 1,): the tree.
        score: integer score of the tree, in units of 2^-f nat.
        best_parents: int32, shape (n + 1,): the first tree that had the best score.
        best_score: best score so far.
        rates: the weights used for scoring.
        gamma: exponent of the likelihood in the accept test; may be changed between launches.
        settings: further settings of the slot for scores and recorders, by argument name.
        rate_at: grid indices of the learned rates; they determine `rates`, and some of the settings.
        best_rate_at: the grid indices at which the best tree was found.
        tables: arrays of the slot for its moves, by argument name. Checkpoints do not have them.
    """

    chain: int
    step: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int
    rates: SlotRates
    gamma: float = 1.0
    settings: Mapping[str, int] = field(default_factory=dict)
    rate_at: Places = NOWHERE
    best_rate_at: Places = NOWHERE
    tables: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ChainInfo:
    """Statistics of a chain, which do not affect its steps.

    Attributes:
        tallies: int64, shape (2 * kinds,): steps proposed by kind of move, then steps accepted.
    """

    tallies: NDArray[np.int64]
