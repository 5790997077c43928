"""The fallback: chain states in numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.base import Runner
from syclade.host.encodings import Encoding
from syclade.kernels.arguments import INFO, STATE, Argument

__all__ = ["NumpyRunner"]


class NumpyRunner(Runner):
    """All slots advance together, each numpy call working on all of them."""

    def __init__(self, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(encoding, slots, seed)
        self._state: dict[str, NDArray[Any]] = {
            argument.name: np.zeros(argument.dimensions(self._sizes), dtype=argument.dtype)
            for argument in encoding.arguments
            if argument.role in (STATE, INFO)
        }
        self._steps = encoding.numpy_steps()

    def _read(self, argument: Argument) -> NDArray[Any]:
        return self._state[argument.name]

    def _write(self, argument: Argument, slot: int, values: NDArray[Any]) -> None:
        self._state[argument.name][slot] = values

    def _write_all(self, argument: Argument, values: NDArray[Any]) -> None:
        self._state[argument.name][...] = values

    def _launch(self) -> None:
        # On a copy: what is interrupted has not happened.
        state = {name: array.copy() for name, array in self._state.items()}
        self._steps.advance(state, self.seed)
        self._state = state

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        return sum(array.nbytes for array in self._state.values()) + int(self._steps.memory_bytes)

    def close(self) -> None:
        """See `Runner.close`."""
        self._state.clear()
