"""Advice on claims of the consensus that the most likely tree contradicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.claims import claim_warnings
from syclade.host.findings.consensus.find_consensus import find_consensus

SAMPLED, LIKELY = np.array([[2, 0, 2]] * 50, dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
"""A before B in all samples, and B before A in the most likely tree."""


def advice(a_alone: int, b_alone: int, *, enough: bool = True) -> str:
    """Return the advice on "A before B", where so many cells have one of the two alone."""
    cells = [(1, 0)] * a_alone + [(0, 1)] * b_alone + [(1, 1)] * 400 + [(0, 0)] * 50
    matrix = matrix_from_array(np.array(cells, dtype=np.uint8).T, ("A", "B"))
    found = find_consensus(lambda: [SAMPLED], LIKELY, matrix, Rates(0.01, 0.1))
    assert found is not None
    (message,) = claim_warnings(replace(found, enough=enough))
    assert "the most likely tree contradicts 1 claim" in message
    return message.rpartition("; ")[2]


@pytest.mark.parametrize(("a_alone", "b_alone"), [(5, 0), (7, 1), (40, 20)])
def test_a_clear_majority_of_cells_is_to_be_published(a_alone: int, b_alone: int) -> None:
    assert advice(a_alone, b_alone) == "publish these relations as the consensus has them"
    of_few = advice(a_alone, b_alone, enough=False)
    assert of_few == "too few trees were sampled to decide: these relations are open, publish neither"


@pytest.mark.parametrize(("a_alone", "b_alone"), [(3, 3), (4, 0), (5, 2), (29, 26)])
@pytest.mark.parametrize("enough", [False, True])
def test_what_cells_do_not_decide_is_open(a_alone: int, b_alone: int, enough: bool) -> None:
    words = "the cells that decide are on both sides, or too few: these relations are open, publish neither"
    assert advice(a_alone, b_alone, enough=enough) == words


def test_cells_on_the_other_side_are_not_published() -> None:
    assert advice(3, 20).startswith("more cells are on the other side")
    assert advice(0, 0).startswith("no cell decides")
