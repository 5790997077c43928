"""Score with a setting per slot: a cell scores a fraction of its best attachment's score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain import parts as numpy_parts
from syclade.host.chains.scores.score import Score
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.kernels.arguments import SETTING, Argument
from syclade.kernels.chain import parts as device_parts
from syclade.kernels.target import device_function

BITS = 8
"""Fractional bits: the setting is in units of 1/256."""

_BITS = np.int64(BITS)

TEMPER = Argument("temper", SETTING, "int64", ("slots",), "what a cell's score is multiplied by, in 1/256")


@device_function
def of_cell(
    given: Any,  # IN the kernel's arguments
    number: Any,  # IN uint64: the slot
    best: Any,  # IN int32, one per lane
) -> Any:
    """Return a fraction of the best attachment's score, rounded down (int64)."""
    return (np.int64(best) * given.temper[number]) >> _BITS


DEVICE = device_parts.Score(arguments=(TEMPER,), of_cell=of_cell, wide=True)


def of_cells(state: numpy_parts.State, slots: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
    """Return the same in numpy, shape (lanes, columns), int64."""
    scaled: NDArray[np.int64] = (best.astype(np.int64) * state["temper"][slots][:, None]) >> BITS
    return scaled


NUMPY = numpy_parts.Score(of_cells=of_cells)


def definition(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the same by definition, cell by cell, summed over all cells."""
    best = problem.best_attachments(parents, rates).tolist()
    worth = [cell * settings["temper"] // 2**BITS for cell in best]
    return sum(int(count) * cell for count, cell in zip(problem.multiplicity, worth, strict=True))


TEMPERED = Score(
    name="tempered",
    of=definition,
    device=f"{__name__}:DEVICE",
    numpy=f"{__name__}:NUMPY",
    defaults={"temper": 2**BITS},
)
