"""10,000 columns of the shapes of Table 1 against integers of 160 bits, for each kernel, on native."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from syclade.host.calls.tails import columns_of, log_tails
from syclade.quality.design.columns.generate import generate_shape, group_errors
from syclade.quality.design.columns.reader import datasets
from syclade.quality.oracle.tails import precise_log_tail
from tests.support.did_all import assert_did_all
from tests.support.tails import Case, error_of

PARTS, COLUMNS = 20, 500
ALL_CELLS, CELLS_OF_ALGORITHM_1 = np.inf, 3e6
"""Largest N·K; both are reduced by the same factor for Algorithm 1, which takes 5 ns for each cell."""


def case_of(rng: np.random.Generator, most_cells: float) -> Case:
    """Return a column with N and K of a random column of a random data set."""
    data = list(datasets().values())[rng.integers(len(datasets()))]
    shape = generate_shape(data, int(rng.integers(2**31)), columns=300)
    depth, at_least = (int(one[rng.integers(300)]) for one in (shape.depths, shape.at_least))
    factor = max(1.0, np.sqrt(depth * at_least / most_cells))
    depth, at_least = max(1, int(depth / factor)), max(1, int(at_least / factor))
    at_least = min(at_least, depth)
    expected = at_least * 10 ** rng.uniform(-2.5, 0.1)
    return Case(*group_errors(depth, expected, int(rng.integers(1, 60)), rng), at_least)


def exact_of(case: Case) -> float:
    """Return ln p, to the last bit of a double."""
    used = case.counts > 0
    p, counts = case.probabilities[used].tolist(), case.counts[used].tolist()
    return float(precise_log_tail(p, counts, case.at_least, bits=128))


def largest_errors(
    kernels: Sequence[str], most_cells: float, columns: int, seed: int
) -> tuple[dict[str, float], float]:
    """Return the largest error of each kernel on the same random columns, and the least ln p."""
    rng = np.random.default_rng([seed, len(kernels)])
    cases = [case_of(rng, most_cells) for _ in range(columns)]
    exact = [exact_of(case) for case in cases]
    errors = {}
    for kernel in kernels:
        found = log_tails(columns_of(cases), device="native", kernel=kernel)
        assert_did_all(found, "native")
        pairs = zip(found.log_tails.tolist(), exact, strict=True)
        errors[kernel] = max(error_of(one, expected) for one, expected in pairs)
    return errors, min(exact)


def check(columns: int, seed: int) -> dict[str, float]:
    """Assert that no error exceeds 1e-12; return the largest ones, and the least ln p."""
    errors, least = largest_errors(("grouped", "tilted"), ALL_CELLS, columns, seed)
    others, _ = largest_errors(("blocked",), CELLS_OF_ALGORITHM_1, columns, seed)
    assert max((errors | others).values()) <= 1e-12
    return errors | others | {"least": least}


def test_some_columns() -> None:
    check(15, PARTS)


@pytest.mark.verification
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_columns(part: int) -> None:
    assert check(COLUMNS, part)["least"] < -2e4
