"""Description of a score on the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import Problem, SlotRates

__all__ = ["Score"]


@dataclass(frozen=True)
class Score:
    """Score of a tree.

    Attributes:
        name: name shown to users.
        of: the definition: (problem, parents, rates, settings) -> the tree's score, in units of 2^-f nat.
        device: `module:NAME` of a `kernels.chain.parts.Score`.
        numpy: `module:NAME` of a `fallback.chain.parts.Score`.
        exact: whether all backends give the same bits.
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    of: Callable[[Problem, NDArray[np.int32], SlotRates, Mapping[str, int]], int]
    device: str
    numpy: str
    exact: bool = True
    defaults: Mapping[str, int] = field(default_factory=dict)
