"""Encodings for kernels that read their sizes from an argument: one class for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings.base import Encoding
from syclade.host.data.model.problem import Problem
from syclade.kernels.arguments import Argument
from syclade.kernels.target.traits import Traits

__all__ = ["ReadsSizes"]


class ReadsSizes(Encoding):
    """First base of an encoding whose kernel serves all sizes, and reads them."""

    _kernel: ClassVar[str] = "GENERAL"
    _sizes_argument: ClassVar[Argument]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.arguments = (*self.arguments, self._sizes_argument)

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return {**super().sizes, "sizes": len(self._sizes())}

    def general(self) -> Encoding | None:
        """Return this encoding itself."""
        return self

    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """See `Encoding.problem_arrays`."""
        return super().problem_arrays() | {"sizes": np.array(self._sizes(), dtype=np.int64)}  # type: ignore[safe-super]
