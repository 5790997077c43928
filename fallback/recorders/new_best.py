"""Every state with a score above all that the chain had before."""

from typing import Any

from numpy.typing import NDArray

from syclade.fallback.chain.parts import Recorder, State


def wants(
    _state: State,
    _slots: NDArray[Any],
    _step: NDArray[Any],
    score: NDArray[Any],
    best: NDArray[Any],
    accepted: NDArray[Any],
) -> NDArray[Any]:
    """Is the score a new best one?"""
    return accepted & (score > best)


RECORDER = Recorder(wants=wants)
