from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import OptionError, RatesError

rate = st.floats(1e-300, 1 - 1e-12)


def test_table_of_the_model() -> None:
    rates = Rates(1e-6, 0.25)
    table = rates.log_table()
    expected = [
        [math.log(1 - 1e-6), math.log(0.25)],
        [math.log(1e-6), math.log(0.75)],
        [0.0, 0.0],
        [0.0, 0.0],
    ]
    assert table.shape == (4, 2)
    assert table.dtype == np.float64
    np.testing.assert_allclose(table, expected, rtol=1e-9)


@given(rate, rate)
def test_weights_say_what_they_should(fp_rate: float, fn_rate: float) -> None:
    assume(1 - fn_rate > fp_rate)
    rates = Rates(fp_rate, fn_rate)
    table, weights = rates.log_table(), rates.weights()
    assert np.isfinite(table).all()
    np.testing.assert_array_equal(weights, table[:, 1] - table[:, 0])
    assert weights[0] <= 0 <= weights[1]
    assert weights[2] == weights[3] == 0
    delta = max(abs(math.log(fp_rate) - math.log1p(-fn_rate)), abs(math.log(fn_rate) - math.log1p(-fp_rate)))
    assert rates.flip_effect() == delta


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, math.inf, "0.1", None, True])
def test_rates_refused(value: Any) -> None:
    for rates, option in [((value, 0.1), "--fp-rate"), ((0.1, value), "--fn-rate")]:
        with pytest.raises(RatesError, match=option):
            Rates(*rates)


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.9, 0.2)])
def test_rates_that_turn_evidence_round(rates: tuple[float, float]) -> None:
    with pytest.raises(OptionError, match="against the mutation"):
        Rates(*rates)


def test_any_real_number_will_do() -> None:
    narrow: Any = np.float32(0.25)
    assert Rates(narrow, 0.5) == Rates(0.25, 0.5)
