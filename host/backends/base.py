"""Runners: each holds c chain states in slots and advances them; one kind per technology."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.devices.device import Device
from syclade.host.encodings.base import Encoding

__all__ = ["Advanced", "Runner"]


@dataclass(frozen=True, eq=False)
class Advanced:
    """Result of a launch.

    Attributes:
        steps: int64, shape (slots,): step number of each slot, below its target where a ring was full.
        events: events that the chains emitted, slot by slot, in the order of their steps.
    """

    steps: NDArray[np.int64]
    events: list[Event]


class Runner(ABC):
    """c slots of chain states on one device, for one plan and seed.

    Results depend neither on the number of slots nor on how steps are divided into launches.

    Attributes:
        executor: the device that does the steps, as the runner itself reports it.
    """

    executor: Device

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        self.plan = plan
        self.encoding = encoding
        self.slots = slots
        self.seed = seed

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """Memory of the chains' states and tables in bytes, on the device or in the fallback."""

    @abstractmethod
    def close(self) -> None:
        """Free the device's memory."""

    @abstractmethod
    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """Put a chain's state into a slot. Its tree must be valid.

        Raises:
            ValueError: the state's rates do not fit the problem's unit of scores.
        """

    @abstractmethod
    def put_all(self, states: Sequence[ChainState]) -> None:
        """Put a chain's state into every slot; for many slots this is far faster than one `put` each.

        Args:
            states: one per slot; their trees must be valid.

        Raises:
            ValueError: the number of states is not the number of slots, or as for `put`.
        """

    @abstractmethod
    def set_gamma(self, slot: int, gamma: float) -> None:
        """Set the exponent of the chain in a slot for the next steps, as annealing and tempering do.

        Raises:
            OptionError: gamma is not between 1e-6 and 1e6.
        """

    @abstractmethod
    def get(self, slot: int) -> ChainState:
        """Return the state of the chain in a slot."""

    @abstractmethod
    def info(self, slot: int) -> ChainInfo:
        """Return the statistics of the chain in a slot."""

    @abstractmethod
    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """Advance each slot's chain until its step number reaches its target.

        A slot that is already at its target or beyond it does no steps. A slot whose ring of events is full
        stops before its target, and continues at the next call.

        Args:
            targets: int64, shape (slots,): step number at which each slot stops.
        """

    @abstractmethod
    def read_all(self, name: str) -> NDArray[Any]:
        """Return a copy of one argument for all slots, in its declared shape and dtype.

        Args:
            name: an argument with role state or info, such as `score` or an array of `Encoding.encode`.
        """

    def best_scores(self) -> NDArray[np.int64]:
        """Return the best score of every slot's chain: int64, shape (slots,), in units of 2^-f nat."""
        return self.read_all("best_score")

    def cpu_seconds(self) -> float:
        """Return the CPU time so far of this process and of those that work for it, in seconds."""
        return time.process_time()
