"""The maximum score: a cell is worth the score of its best attachment."""

from typing import Any

from numpy.typing import NDArray

from syclade.fallback.chain.parts import Score, State


def of_cells(_state: State, _slots: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
    """The best attachments' scores themselves."""
    return best


SCORE = Score(of_cells=of_cells)
