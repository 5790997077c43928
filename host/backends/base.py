"""A runner keeps c chain states and takes them forward; SYCL devices and numpy each have one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import ChainState
from syclade.host.encodings import Encoding
from syclade.kernels.arguments import INFO, PROBLEM, STATE, Argument

__all__ = ["Runner"]


class Runner(ABC):
    """c slots of chain states on one device, for one problem and seed.

    States go in and come out as values; what they look like inside is the encoding's business.
    Results depend on neither the number of slots nor how steps are cut into launches.
    """

    def __init__(self, encoding: Encoding, slots: int, seed: int) -> None:
        self.encoding = encoding
        self.slots = slots
        self.seed = seed
        self._sizes = encoding.sizes(slots)

    @abstractmethod
    def _read(self, argument: Argument) -> NDArray[Any]:
        """Copy a whole argument from the device."""

    @abstractmethod
    def _write(self, argument: Argument, slot: int, values: NDArray[Any]) -> None:
        """Write one slot's part of an argument."""

    @abstractmethod
    def _write_all(self, argument: Argument, values: NDArray[Any]) -> None:
        """Write a whole argument, all slots."""

    @abstractmethod
    def _launch(self) -> None:
        """Take every slot from its `step` to its `last_step`, and wait."""

    def cpu_seconds(self) -> float:
        """Processor time so far of this process and of those that work for it."""
        return time.process_time()

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """What the chains' states and tables take, on the device or in the fallback."""

    @abstractmethod
    def close(self) -> None:
        """Give the device's memory back."""

    def put(self, slot: int, state: ChainState) -> None:
        """Place a chain's state in a slot. Its tree must be valid."""
        values = self._values(state)
        for argument in self._state_arguments():
            self._write(argument, slot, np.asarray(values[argument.name], dtype=argument.dtype))

    def put_all(self, states: Sequence[ChainState]) -> None:
        """Place a chain's state in every slot at once: far faster for many slots than one `put` each.

        Args:
            states: as many as there are slots; their trees must be valid.

        Raises:
            ValueError: another number of states.
        """
        if len(states) != self.slots:
            raise ValueError(f"{len(states)} states for {self.slots} slots")
        values = [self._values(state) for state in states]
        for argument in self._state_arguments():
            whole = np.array([each[argument.name] for each in values], dtype=argument.dtype)
            self._write_all(argument, whole)

    def _values(self, state: ChainState) -> dict[str, Any]:
        """One slot's part of every argument that makes up a chain's state, by name."""
        values = {
            "chain": state.chain,
            "step": state.step,
            "last_step": state.step,
            "score": state.score,
            "best_score": state.best_score,
            "tallies": state.tallies,
            **self.encoding.encode(state.parents),
        }
        values |= {f"best_{name}": part for name, part in self.encoding.encode(state.best_parents).items()}
        return values

    def _state_arguments(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.encoding.arguments if argument.role in (STATE, INFO))

    def get(self, slot: int) -> ChainState:
        """The state of the chain in a slot."""
        part = {argument.name: self._read(argument)[slot] for argument in self._state_arguments()}
        best = {name.removeprefix("best_"): array for name, array in part.items() if name.startswith("best_")}
        return ChainState(
            chain=int(part["chain"]),
            step=int(part["step"]),
            score=int(part["score"]),
            best_score=int(part["best_score"]),
            parents=self.encoding.decode(part),
            best_parents=self.encoding.decode(best),
            tallies=part["tallies"].copy(),
        )

    def advance(self, targets: NDArray[np.int64]) -> None:
        """Take each slot's chain forward until its step number is its target (at or below: not at all).

        Args:
            targets: int64, shape (slots,).
        """
        self._write_all(self._argument("last_step"), np.asarray(targets, dtype=np.int64))
        self._launch()

    def read_all(self, name: str) -> NDArray[Any]:
        """A copy of one argument for all slots, as the kernel's declaration describes it.

        Args:
            name: an argument with role state or info, such as `score` or what `Encoding.encode` names.
        """
        return self._read(self._argument(name)).copy()

    def best_scores(self) -> NDArray[np.int64]:
        """The best score of every slot's chain, in units of 2^-f nat, shape (slots,)."""
        return self._read(self._argument("best_score")).copy()

    def _argument(self, name: str) -> Argument:
        return next(argument for argument in self.encoding.arguments if argument.name == name)

    def _problem_arrays(self) -> dict[str, NDArray[Any]]:
        """The arguments with role `problem`, checked against their declaration."""
        arrays = self.encoding.problem_arrays(self.seed)
        for argument in self.encoding.arguments:
            if argument.role == PROBLEM:
                expected = argument.dimensions(self._sizes)
                assert arrays[argument.name].shape == expected, (argument.name, expected)
        return arrays
