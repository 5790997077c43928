"""Recorder of every k-th step's state."""

from typing import Any

from numpy.typing import NDArray

from syclade.fallback.chain.parts import Recorder, State


def wants(state: State, slots: NDArray[Any], step: NDArray[Any], *_others: NDArray[Any]) -> NDArray[Any]:
    """Return whether the number of steps done is that of the first sample, plus a multiple of `every`."""
    since = step + 1 - state["first_sample"][slots]
    return (since >= 0) & (since % state["every"][slots] == 0)


RECORDER = Recorder(wants=wants)
