"""Every device gives the bits of numpy, for each kernel, and has done all of the columns itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.tails import blocked, grouped, tilt, tilted
from syclade.host.calls.tails import Columns, Tails, columns_of, log_tails
from syclade.host.calls.tails.columns import KERNELS
from syclade.host.device.work import COLUMNS
from tests.support.did_all import assert_did_all
from tests.support.on_devices import on_every_device
from tests.support.tails import Case, error_of, random_case

BLOCK = 100
with_every_kernel = pytest.mark.parametrize("kernel", KERNELS)


@cache
def cases(kernel: str, *, few: bool = False) -> list[Case]:
    """Return columns of few trials for kernels that take them one by one, and few for slow devices."""
    rng = np.random.default_rng(11)
    most = {"grouped": 1e6, "tilted": 1e4, "blocked": 1e3}[kernel]
    if few:
        return [random_case(rng, 100) for _ in range(6)]
    special = [
        Case(np.array([0.2, 0.001]), np.array([10, 20]), 30),
        Case(np.array([0.2]), np.array([1000]), 3),
        Case(np.array([0.2]), np.array([1000]), 150),
        Case(np.array([1.0, 0.0, 0.3]), np.array([3, 4, 5]), 6),
        Case(np.array([1e-200, 0.5]), np.array([50, 1]), 7),
    ]
    return special + [random_case(rng, most) for _ in range(60)]


@cache
def of_numpy(kernel: str, *, few: bool = False) -> NDArray[np.float64]:
    """Return the tails of the cases by the fallback, one column after another."""
    columns = cases(kernel, few=few)
    if kernel == "blocked":
        return np.array([blocked.log_tail(*one, BLOCK) for one in columns])
    return np.array([{"grouped": grouped, "tilted": tilted}[kernel].log_tail(*one) for one in columns])


@pytest.fixture
def computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that changes the fallback get its tails."""
    monkeypatch.setattr(f"{__name__}.of_numpy", of_numpy.__wrapped__)


def run(columns: Columns, device: str, kernel: str, **options: Any) -> Tails:
    return log_tails(columns, device=device, kernel=kernel, block=BLOCK, **options)


def assert_conforms(kernel: str, device: str) -> None:
    few = device == "python"
    columns = cases(kernel, few=few)
    found = run(columns_of(columns), device, kernel, slots=9)
    np.testing.assert_array_equal(found.log_tails, of_numpy(kernel, few=few))
    assert_did_all(found, device)
    (work,) = found.work
    assert (work.unit, work.count) == (COLUMNS, len(columns))


@on_every_device
@with_every_kernel
def test_all_devices_have_the_same_bits(kernel: str, device: str) -> None:
    assert_conforms(kernel, device)


@with_every_kernel
def test_kernels_in_python_have_the_same_bits(kernel: str) -> None:
    assert_conforms(kernel, "python")


@on_every_device
@with_every_kernel
def test_results_depend_neither_on_slots_nor_on_order(kernel: str, device: str) -> None:
    columns = cases(kernel)[:20]
    found = run(columns_of(columns), device, kernel).log_tails
    back = run(columns_of(columns[::-1]), device, kernel, slots=3)
    np.testing.assert_array_equal(found[::-1], back.log_tails)
    assert back.launches == 7


def test_kernels_agree() -> None:
    columns = columns_of(cases("blocked"))
    one, *others = (log_tails(columns, device="native", kernel=name).log_tails for name in KERNELS)
    for other in others:
        assert max(error_of(a, b) for a, b in zip(one.tolist(), other.tolist(), strict=True)) < 1e-12


# ---- negative controls: the comparison and the check of the executor can fail


@pytest.mark.usefixtures("computed_anew")
@pytest.mark.parametrize("name", ["log", "log1p"])
def test_another_logarithm_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of_numpy = getattr(np, name)  # on some processors it has our last bit, too
    monkeypatch.setattr(tilt, name, lambda values: np.nextafter(of_numpy(values), np.inf))
    with pytest.raises(AssertionError, match="not equal"):
        assert_conforms("grouped", "native")


@pytest.mark.usefixtures("computed_anew")
def test_another_order_of_sums_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tilt, "in_order", lambda values: float(values[::-1].cumsum()[-1]))
    with pytest.raises(AssertionError, match="not equal"):
        assert_conforms("grouped", "native")


def test_another_executor_is_found() -> None:
    found = log_tails(columns_of(cases("grouped", few=True)), device="numpy")
    with pytest.raises(AssertionError, match="others than native"):
        assert_did_all(found, "native")
