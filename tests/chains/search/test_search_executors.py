"""Executors of a search: the requested device, or with `auto` this processor instead of a CPU device."""

from __future__ import annotations

from pathlib import Path

import pytest

import syclade
from syclade.host.chains.search.kernel import STAGES
from syclade.host.chains.search.runner import device_for_search
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import machine_code, program
from syclade.host.device.device import NUMPY, Device, native_device
from tests.support.did_all import assert_did_all

MATRIX = simulate(20, 12, 0.01, 0.2, 0.1, 1).matrix
CPU = Device("opencl:cpu:0", "Some CPU", "cpu", 2)
EMULATOR = Device("opencl:accelerator:0", "An emulator", "fpga-emu", 2)


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", pytest.param("fpga-emu", marks=pytest.mark.verification)])
def test_a_device_that_was_asked_for_does_every_sweep(
    device: str, own_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is empty; the run waits for the driver and logs this once."""
    monkeypatch.setattr(program, "_built", {})
    monkeypatch.setattr(program, "_announced", set())
    caplog.set_level("INFO", "syclade")
    result = syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.2, device=device, support="none")
    assert_did_all(result, device)
    assert [one.unit for one in result.work] == ["steps", "sweeps"]
    (said,) = [message for message in caplog.messages if "only once" in message]
    assert said.startswith("the driver of ")
    assert said.endswith(" translates the kernels: about 4 s, only once")


@pytest.mark.parametrize("device", [EMULATOR, native_device(), NUMPY])
def test_other_devices_search_themselves(device: Device) -> None:
    assert device_for_search(device, tuple(STAGES)) is device


def test_auto_searches_on_this_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` does so if the native kernels are precompiled or cached."""
    assert device_for_search(CPU, tuple(STAGES)) == native_device()
    monkeypatch.setattr(machine_code, "is_compiled", lambda _kernel: False)
    assert device_for_search(CPU, tuple(STAGES)) is CPU


@pytest.mark.sycl
def test_the_result_names_the_executor_that_auto_took(own_cache: Path) -> None:
    assert choose_device("auto").kind == "cpu"
    result = syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.2, support="none")
    assert [(one.executor.kind, one.unit) for one in result.work] == [
        ("native", "steps"),
        ("native", "sweeps"),
    ]
    assert (result.device, result.device_name) == ("native", "this processor, by numba")
    with pytest.raises(AssertionError, match="others than cpu did some of the work"):
        assert_did_all(result, "cpu")
