"""Encodings: how they are chosen, and what they refuse."""

import numpy as np
import pytest

import syclade.host.encodings.preorder as module
from syclade.host.backends import default_slots
from syclade.host.devices.choice import NUMPY, Device
from syclade.host.encodings import choose_encoding, make_encoding
from syclade.host.encodings.preorder import PreorderEncoding
from syclade.host.errors import OptionError
from syclade.host.model.problem import make_problem
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate
from syclade.kernels.preorder.layout import make_layout


def test_auto_is_preorder_where_that_is_faster() -> None:
    assert choose_encoding("auto", NUMPY) is PreorderEncoding
    assert choose_encoding("ancestor", NUMPY).name == "ancestor"


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(OptionError, match=r"no encoding 'leaf'"):
        make_encoding("leaf")


def test_tables_whose_rows_do_not_start_at_an_int32_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(simulate(20, 10, 1e-6, 0.25, 0.25, 1).matrix, Rates(1e-6, 0.25))
    fits = PreorderEncoding(problem).constants
    size = fits["rows"] * fits["cells"]
    monkeypatch.setattr(module, "LARGEST_TABLES", size)
    assert PreorderEncoding(problem).constants == fits
    monkeypatch.setattr(module, "LARGEST_TABLES", size - 1)
    with pytest.raises(OptionError, match=r"10 mutations and .* too many for preorder") as caught:
        PreorderEncoding(problem)
    assert "--encoding ancestor" in str(caught.value.hint)


def test_rows_start_where_layout_says() -> None:
    layout = make_layout(48, 32, 8)
    starts = (
        layout.zero,
        layout.weights,
        layout.prefix,
        layout.suffix,
        layout.top,
        layout.before,
        layout.after,
    )
    assert all(start % 32 == 0 for start in starts)
    assert list(starts) == sorted(set(starts))
    assert layout.after + 6 * 32 == layout.rows * 32


def test_small_tables_leave_room_for_more_slots() -> None:
    """Four to sixteen slots a unit, as many as fit in a megabyte; and no more than there are chains."""
    device = Device("opencl:cpu:0", "a processor", "cpu", 3)

    def slots(cells: int, mutations: int, chains: int = 1000) -> int:
        problem = make_problem(simulate(cells, mutations, 1e-6, 0.25, 0.25, 1).matrix, Rates(1e-6, 0.25))
        return default_slots(device, PreorderEncoding(problem), chains)

    assert slots(32, 31) == 3 * 16
    assert 3 * 4 < slots(64, 63) < 3 * 16
    assert slots(300, 200) == 3 * 4
    assert slots(32, 31, chains=5) == 5


def test_bytes_of_a_slot_are_what_a_slot_more_takes() -> None:
    problem = make_problem(simulate(20, 10, 1e-6, 0.25, 0.25, 1).matrix, Rates(1e-6, 0.25))
    encoding = PreorderEncoding(problem)

    def taken(slots: int) -> int:
        sizes = encoding.sizes(slots)
        return sum(
            int(np.prod(one.dimensions(sizes))) * np.dtype(one.dtype).itemsize for one in encoding.arguments
        )

    assert encoding.slot_bytes == taken(5) - taken(4)
