"""What the host asks of an encoding. It never looks further inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import Problem, SlotRates
from syclade.kernels.arguments import Argument
from syclade.kernels.target.traits import Traits

__all__ = ["Encoding", "round_up"]


def round_up(number: int, multiple: int) -> int:
    """The next multiple at or above a number."""
    return -(-number // multiple) * multiple


class Encoding(ABC):
    """One way to hold trees on a device, made for one problem and what suits one target.

    Attributes:
        name: for users.
        device: `module:NAME` of a `kernels.chain.parts.Encoding`.
        arguments: what the kernel takes for it, in order.
        group: what a slot's lanes are on a SYCL device: "sub-group" or "work-group".
        constants: what the kernel is specialised by.
    """

    name: ClassVar[str]
    group: ClassVar[str]
    device: str
    arguments: tuple[Argument, ...]
    constants: dict[str, int]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        self.problem = problem
        self.traits = traits

    @property
    def sizes(self) -> Mapping[str, int]:
        """Values of the symbols in the shapes of the arguments: where a kernel is for one shape, its own."""
        return self.constants

    @property
    def specialisation(self) -> tuple[int, ...]:
        """Values of the kernel's specialisation constants; none where its sizes are compiled in or read."""
        return ()

    def specialised(self) -> Encoding | None:
        """The same for a kernel with specialisation constants; None if there is none for this problem."""
        return None

    def general(self) -> Encoding | None:
        """The same for a kernel that serves problems of many sizes; None if there is none for this one."""
        return None

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """Why the encoding cannot hold a problem on a target, in words; None if it can."""
        return None

    def can_score(self, rates: SlotRates) -> str | None:
        """Why a slot cannot have rates other than the problem's, in words; None if it can."""
        return self.problem.can_score(rates)

    @abstractmethod
    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """The arguments with role `problem`, by name, in their shapes."""

    @abstractmethod
    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
        """A tree as the encoding's arrays (without the slot axis), by the names of the current tree."""

    @abstractmethod
    def decode(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
        """The parent vector of a tree from the arrays that `encode` gives, best ones without `best_`."""

    @property
    def lanes(self) -> int:
        """Lanes a slot."""
        return self.constants["lanes"]
