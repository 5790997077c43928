"""A runner keeps c chain states in slots and takes them forward; every technology has one."""

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
    """How far a launch has got.

    Attributes:
        steps: int64, shape (slots,): each slot's step number. Short of its target where a ring was full.
        events: what left the chains, slot by slot, in the order of their steps.
    """

    steps: NDArray[np.int64]
    events: list[Event]


class Runner(ABC):
    """c slots of chain states on one device, for one plan and seed.

    Results depend on neither the number of slots nor how steps are cut into launches.

    Attributes:
        executor: the device that does the steps, as the runner itself knows it.
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
        """What the chains' states and tables take, on the device or in the fallback."""

    @abstractmethod
    def close(self) -> None:
        """Give the device's memory back."""

    @abstractmethod
    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """Place a chain's state in a slot. Its tree must be valid.

        Raises:
            ValueError: its rates do not go with the problem's unit of scores.
        """

    @abstractmethod
    def put_all(self, states: Sequence[ChainState]) -> None:
        """Place a chain's state in every slot at once: far faster for many slots than one `put` each.

        Args:
            states: as many as there are slots; their trees must be valid.

        Raises:
            ValueError: another number of states, or see `put`.
        """

    @abstractmethod
    def set_gamma(self, slot: int, gamma: float) -> None:
        """Give the chain in a slot another exponent for the steps to come, as annealing and tempering do.

        Raises:
            OptionError: it makes no sense.
        """

    @abstractmethod
    def get(self, slot: int) -> ChainState:
        """The state of the chain in a slot."""

    @abstractmethod
    def info(self, slot: int) -> ChainInfo:
        """What is told of the chain in a slot."""

    @abstractmethod
    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """Take each slot's chain forward until its step number is its target (at or below: not at all).

        A slot whose ring of events is full stops before its target, and goes on at the next call.

        Args:
            targets: int64, shape (slots,).
        """

    @abstractmethod
    def read_all(self, name: str) -> NDArray[Any]:
        """A copy of one argument for all slots, as the kernel's declaration describes it.

        Args:
            name: an argument with role state or info, such as `score` or what `Encoding.encode` names.
        """

    def best_scores(self) -> NDArray[np.int64]:
        """The best score of every slot's chain, in units of 2^-f nat, shape (slots,)."""
        return self.read_all("best_score")

    def cpu_seconds(self) -> float:
        """Processor time so far of this process and of those that work for it."""
        return time.process_time()
