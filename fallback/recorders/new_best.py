"""Recorder of every state with a score above the chain's best so far."""

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
    """Return whether a tree was accepted whose score is a new best."""
    return accepted & (score > best)


RECORDER = Recorder(wants=wants)
