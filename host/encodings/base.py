"""What the host asks of an encoding. It never looks further inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import Problem
from syclade.kernels.arguments import STATE, Argument

__all__ = ["Encoding", "round_up"]

NUMPY_SLOTS = 64
"""Slots of the fallback: its cost a call is spread over all of them."""


def round_up(number: int, multiple: int) -> int:
    """The next multiple at or above a number."""
    return -(-number // multiple) * multiple


class Encoding(ABC):
    """One way to hold trees on a device, made for one problem.

    Attributes:
        name: for users.
        factory: `module:function` that makes the kernel from `constants`.
        arguments: the kernel's arguments, in order.
        constants: what the kernel is specialised by: the factory's keyword arguments.
    """

    name: ClassVar[str]
    factory: ClassVar[str]
    arguments: ClassVar[tuple[Argument, ...]]

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.constants = self._constants()

    @abstractmethod
    def _constants(self) -> dict[str, int]:
        """Capacities of the kernel, rounded up so that like inputs share a compiled kernel."""

    @abstractmethod
    def problem_arrays(self, seed: int) -> dict[str, NDArray[Any]]:
        """The arguments with role `problem`, by name, in their shapes."""

    @abstractmethod
    def encode(self, parents: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """A tree as the encoding's arrays (without the slot axis), by the names of the current tree."""

    @abstractmethod
    def decode(self, arrays: dict[str, NDArray[Any]]) -> NDArray[np.int32]:
        """The parent vector of a tree from the arrays that `encode` gives."""

    @abstractmethod
    def numpy_steps(self) -> Any:
        """The fallback's chain stepper for this problem: an object with `advance(state, seed)`."""

    def numpy_slots(self) -> int:
        """How many slots the fallback takes forward at once without losing time."""
        return NUMPY_SLOTS

    @property
    def lanes(self) -> int:
        """Work-items a slot."""
        return self.constants["lanes"]

    @property
    def slot_bytes(self) -> int:
        """What a slot takes of a device's memory."""
        sizes = self.sizes(1)
        return sum(argument.nbytes(sizes) for argument in self.arguments if "slots" in argument.shape)

    def sizes(self, slots: int) -> dict[str, int]:
        """Values of the symbols in the arguments' shapes."""
        return {**self.constants, "slots": slots, "log_sizes": len(self.problem.log_sizes)}

    def state_arguments(self) -> tuple[Argument, ...]:
        """The arguments that a chain's state consists of."""
        return tuple(argument for argument in self.arguments if argument.role == STATE)

    def parameter_block(self, seed: int) -> NDArray[np.int64]:
        """The argument `parameters`; a seed of 2^63 and above is stored as its two's complement."""
        problem = self.problem
        values = (
            problem.mutations,
            problem.gain_one,
            problem.loss_zero,
            problem.prune_below,
            problem.swap_below,
            seed,
            0,
            0,
        )
        return np.array(values, dtype=np.uint64).view(np.int64)
