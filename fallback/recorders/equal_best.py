"""Recorder of every state that reaches a tree with the chain's best score so far: co-optimal trees."""

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
    """Return whether a tree was accepted whose score equals the best one."""
    return accepted & (score == best)


RECORDER = Recorder(wants=wants)
