"""Alignment qualities: every device gives the bits of numpy, and has done all of the work itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.baq import blocks, forward
from syclade.host.calls.alignment_quality import AlignmentQuality, GapQuality
from syclade.host.calls.kernels import BANDS, Place, place_of
from syclade.host.calls.record_parser import Reads
from syclade.host.calls.windows import alignment_kernels
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.device import Device, open_queue, require_float64
from syclade.host.device.work import GAPS, READS
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.spirv import Op, instructions
from syclade.kernels.pileup.arguments import FIELDS
from tests.calls.test_baq import random_read, reads_of
from tests.calls.test_gap_quality import made as reads_with_gaps
from tests.support.did_all import assert_did_all
from tests.support.on_devices import on_every_device

CONTRACTION_OFF = 31  # execution mode


def place(device: str, slots: int = 1) -> Place:
    return Place(choose_device(device), slots)


def reads_of_all_shapes(lengths: list[int], number: int, band: int) -> tuple[Reads, NDArray[np.uint8]]:
    """Return reads with unknown bases, most of them of a shape that others have, too, and the reference."""
    rng = np.random.default_rng(band)
    reference = rng.integers(0, 4, 900).astype(np.uint8)
    reference[rng.integers(0, 900, 30)] = 4
    made = [random_read(rng, reference, int(rng.choice(lengths)), band) for _ in range(number)]
    return reads_of(*(list(one) for one in zip(*made, strict=True))), reference


def states_on(device: str, slots: int, reads: Reads, reference: NDArray[np.uint8]) -> tuple[Any, Any]:
    computed = AlignmentQuality(place=place(device, slots))
    found = computed.compute(reads, reference)
    assert_did_all(computed, device)
    assert sum(one.count for one in computed.work) == len(reads)
    assert {one.unit for one in computed.work} == {READS}
    computed.close()
    return found


def assert_same_states(device: str, slots: int, reads: Reads, reference: NDArray[np.uint8]) -> None:
    expected = states_on("numpy", 1, reads, reference)
    found = states_on(device, slots, reads, reference)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert len(set(expected[1].tolist())) > 20


@on_every_device
@pytest.mark.parametrize("slots", [1, 3])
def test_states_are_the_same(device: str, slots: int) -> None:
    assert_same_states(device, slots, *reads_of_all_shapes([1, 2, 5, 30, 31, 60], 90, 7))


@on_every_device
def test_states_in_wide_bands_are_the_same(device: str) -> None:
    reads, reference = reads_of_all_shapes([40, 150, 600], 20, 40)
    assert reads.field("band").max() > BANDS[0]
    assert_same_states(device, 1, reads, reference)


def test_states_by_python_are_the_same() -> None:
    assert_same_states("python", 2, *reads_of_all_shapes([12, 25], 12, 7))


def test_numpy_divides_many_reads_of_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, reference = reads_of_all_shapes([30], 60, 7)
    expected = states_on("numpy", 1, reads, reference)
    monkeypatch.setattr(blocks, "MOST_READS", 16)
    np.testing.assert_array_equal(states_on("numpy", 1, reads, reference), expected)


def errors_on(device: str, slots: int, widest: int) -> NDArray[np.float64]:
    """Return error probabilities of gaps, with all their bits; reads have none to three gaps."""
    reads, reference, gaps, _ = reads_with_gaps(np.random.default_rng(3), [14, 25, 25, 40] * 6, 7)
    chosen = np.sort(np.random.default_rng(4).choice(len(gaps), 30))
    with_gaps = np.unique(chosen)
    computed = GapQuality(place(device, slots))
    found = computed._errors(widest, reads, with_gaps, gaps[chosen], reference)
    assert_did_all(computed, device)
    (work,) = computed.work
    assert (work.unit, work.count) == (GAPS, 30)
    computed.close()
    return found


@on_every_device
@pytest.mark.parametrize(("slots", "widest"), [(1, BANDS[0]), (3, BANDS[0]), (1, BANDS[1])])
def test_gaps_have_the_same_bits(device: str, slots: int, widest: int) -> None:
    expected = errors_on("numpy", 1, widest)
    np.testing.assert_array_equal(errors_on(device, slots, widest), expected)
    assert len(set(expected.tolist())) > 15


def test_gaps_by_python_have_the_same_bits() -> None:
    np.testing.assert_array_equal(errors_on("python", 2, BANDS[0]), errors_on("numpy", 1, BANDS[0]))


@on_every_device
def test_an_engine_that_grew_has_the_same_states(device: str) -> None:
    reads, reference = reads_of_all_shapes([20, 60], 40, 7)
    short = Reads(reads.raw, reads.fields.copy(), reads.bases, reads.qualities, 0, False, 0)
    short.fields[1:, FIELDS.index("reference")] = 0
    computed = AlignmentQuality(place=place(device, 2))
    for given in (short, reads, short):
        found = computed.compute(given, reference)
        np.testing.assert_array_equal(found, states_on_part(given, reference))
    assert sum(one.count for one in computed.work) == 2 + len(reads)
    computed.close()


def states_on_part(reads: Reads, reference: NDArray[np.uint8]) -> tuple[Any, Any]:
    computed = AlignmentQuality()
    found = computed.compute(reads, reference)
    computed.close()
    return found


# ---- compilers keep products and sums apart


@pytest.mark.sycl
def test_spirv_forbids_contraction() -> None:
    queue = open_queue(choose_device("cpu").filter)
    for kernel in alignment_kernels("cpu").values():
        found = list(instructions(spirv_of(queue, kernel).module))
        modes = [one.operands[1] for one in found if one.code == Op.EXECUTION_MODE]
        assert CONTRACTION_OFF in modes, kernel.name


# ---- places


def test_auto_is_this_processor() -> None:
    assert place_of("auto", 4).device.filter == "native"
    assert place_of("native", 4).slots == place_of("numpy", 1).slots == 1


@pytest.mark.sycl
def test_threads_share_a_device() -> None:
    units = choose_device("cpu").units
    assert place_of("cpu", 1).slots == units
    assert place_of("cpu", units).slots == 1


def test_cards_have_no_images_of_calling(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Device("opencl:accelerator:1", "a card", "fpga", 1)
    monkeypatch.setattr("syclade.host.calls.kernels.choose_device", lambda _: card)
    with pytest.raises(DeviceError, match="a card runs images only"):
        place_of("fpga", 1)


def test_a_device_without_doubles_is_refused() -> None:
    device = SimpleNamespace(has_aspect_fp64=False, name="a GPU ")
    with pytest.raises(DeviceError, match="a GPU has no 64-bit floating-point numbers"):
        require_float64(SimpleNamespace(sycl_device=device))
    device.has_aspect_fp64 = True
    require_float64(SimpleNamespace(sycl_device=device))


@pytest.mark.sycl
def test_engines_with_doubles_require_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_queue: Any) -> None:
        raise DeviceError("no doubles")

    monkeypatch.setattr("syclade.host.device.engines.sycl.require_float64", refuse)
    with pytest.raises(DeviceError, match="no doubles"):
        states_on("cpu", 1, *reads_of_all_shapes([5], 3, 7))


# ---- negative controls: the comparisons and the check of the executor can fail


def test_another_order_of_sums_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = errors_on("native", 1, BANDS[0])
    monkeypatch.setattr(forward, "_in_order", lambda values: np.add.accumulate(values[::-1])[-1])
    assert (errors_on("numpy", 1, BANDS[0]) != expected).any()


def test_a_fused_product_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding a · b + c once, instead of twice, changes bits of gaps."""
    expected = errors_on("native", 1, BANDS[0])
    exact = forward.chain_of

    def fused(opened: NDArray[np.float64], stay: float) -> NDArray[np.float64]:
        chain = exact(opened, stay).astype(np.longdouble)
        for at in range(1, len(chain)):
            chain[at] = opened[at - 1] + np.longdouble(stay) * chain[at - 1]
        return chain.astype(np.float64)

    monkeypatch.setattr(forward, "chain_of", fused)
    assert (errors_on("numpy", 1, BANDS[0]) != expected).any()


def test_other_states_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "INSERTED", 0.2)
    with pytest.raises(AssertionError, match="not equal"):
        assert_same_states("native", 1, *reads_of_all_shapes([30], 40, 7))


def test_another_executor_is_found() -> None:
    computed = AlignmentQuality(place=place("numpy"))
    computed.compute(*reads_of_all_shapes([5], 3, 7))
    with pytest.raises(AssertionError, match="others than native"):
        assert_did_all(computed, "native")
