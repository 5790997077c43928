"""Mutations of all cells that dropout hides from the reader: germline variants, not the tumour's trunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.findings.inputs import InAllCellsFinding

NAMES = ("germline", "trunk", "left", "right")


def calls(normal: float, cells: int = 4000, dropout: float = 0.15) -> NDArray[np.uint8]:
    """Return calls of a germline variant, and of a trunk with two branches, among normal cells."""
    draws = np.random.default_rng(5)
    kind = draws.choice(4, cells, p=[normal, 0.2 * (1 - normal), 0.4 * (1 - normal), 0.4 * (1 - normal)])
    has = np.array([kind >= 0, kind > 0, kind == 2, kind == 3])
    seen = np.where(has, draws.random(has.shape) >= dropout, draws.random(has.shape) < 0.005)
    return seen.astype(np.uint8)


def found(values: NDArray[np.uint8], **more: Any) -> tuple[str, ...]:
    result = syclade.infer(values, names=NAMES[: len(values)], support="none", device="native", **more)
    findings = [one for one in result.findings if isinstance(one, InAllCellsFinding)]
    if not findings:
        assert not any("if dropout is counted" in words for words in result.warnings)
        return ()
    (finding,) = findings
    assert finding.warnings[0] in result.warnings
    return tuple(one.name for one in finding.found)


@pytest.mark.parametrize("normal", [0.03, 0.1, 0.3])
def test_a_germline_variant_is_told_from_the_trunk_by_normal_cells(normal: float) -> None:
    values = calls(normal)
    assert 0.8 < values[0].mean() < 0.9
    assert found(values) == ("germline",)


def test_the_trunk_alone_is_not_named_where_there_are_normal_cells() -> None:
    assert found(calls(0.05)[1:]) == ()


def test_without_normal_cells_the_words_leave_open_which_it_is() -> None:
    result = syclade.infer(calls(0.0), names=NAMES, support="none", device="native")
    (words,) = [one for one in result.warnings if "dropout is counted" in one]
    assert words.startswith("2 mutations are in all cells if dropout is counted (germline 8")
    assert "or the first mutations of the tumour, if the sample has no normal cells" in words
    assert result.summary()["in_all_cells"] == ["germline", "trunk"]


def test_few_cells_say_nothing() -> None:
    assert found(calls(0.0, cells=200)) == ()


def test_what_the_reader_names_is_not_named_again() -> None:
    assert found(calls(0.1, dropout=0.02)) == ()
