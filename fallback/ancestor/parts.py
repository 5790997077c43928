"""Types that the stages share: the arrays that they work on, and the parts of a chain."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from syclade.fallback.chain.parts import Move, Recorder, Score

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays by name, in the shapes that kernels/ancestor/stage_arguments.py declares."""

KIND, EDIT, V, W, T = range(5)
"""Columns of `move`."""


class ChainParts(NamedTuple):
    """The parts of a chain that the stages depend on.

    Attributes:
        moves: the moves, which propose edits.
        score: the score of a cell.
        recorders: select the states that chains emit.
    """

    moves: Sequence[Move]
    score: Score
    recorders: Sequence[Recorder] = ()
