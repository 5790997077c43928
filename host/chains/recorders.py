"""Recorders: which states a chain emits while it runs; events: the emitted states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.rate_model import NOWHERE, Places

__all__ = ["EQUAL_BEST", "NEW_BEST", "Event", "Recorder", "Sink", "every"]


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
