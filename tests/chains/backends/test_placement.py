"""Where chains and searches run beside a GPU: described by a driver that is not there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from syclade.host.chains import backends
from syclade.host.chains.backends import default_slots, slot_bytes
from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import Plan, chain_kernel, chain_sizes, make_plan
from syclade.host.chains.runs import run
from syclade.host.chains.runs.run import (
    AUTO_ENTRIES,
    CHAINS_A_CORE,
    GENERAL_CHAINS_A_CORE,
    SEARCH_ENTRIES,
    place_of_chains,
    place_of_few,
    place_of_searches,
)
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device import cuda
from syclade.host.device.choice import Devices
from syclade.host.device.compile import machine_code
from syclade.host.device.device import Device, native_device
from syclade.host.ground.errors import DeviceError
from syclade.kernels.target.cuda.traits import TRAITS

GPU = Device("cuda:0", "GPU", "cuda", 132, None, "CUDA 13.0")
LONG = 100_000_000


def plan() -> Plan:
    return make_plan(make_problem(simulate(40, 20, 0.01, 0.2, 0.1, 1).matrix, Rates(0.01, 0.2)))


def without_compiler(monkeypatch: pytest.MonkeyPatch, problem: str | None) -> None:
    monkeypatch.setattr(machine_code, "ptx_compiler_problem", lambda: problem)
    monkeypatch.setattr(run, "ptx_compiler_problem", lambda: problem)


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "cuda_devices", lambda: [GPU])
    monkeypatch.setattr(cuda, "seems_usable", lambda: True)
    without_compiler(monkeypatch, "no compiler")
    monkeypatch.setattr(cuda, "seems_present", lambda: True)
    monkeypatch.setattr(run, "usable_cores", lambda: 2)


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("wanted", ["cuda", "cuda:0", GPU, Devices(["cuda:0", "cuda:1"]), "cuda:0,cuda:1"])
def test_few_chains_and_searches_leave_gpus(wanted: Any) -> None:
    assert place_of_few(wanted) == native_device()
    assert place_of_few(wanted, plan()) == native_device()


@pytest.mark.usefixtures("with_gpu")
def test_searches_of_large_matrices_run_on_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = int(SEARCH_ENTRIES), int(SEARCH_ENTRIES) + 1
    assert place_of_searches("cuda", small) == native_device()
    assert place_of_searches("cuda", large) == "cuda"
    assert place_of_searches("cuda:0,native", large) == "cuda:0,native"
    assert place_of_searches("native", large) == "native"
    assert place_of_searches("auto", int(AUTO_ENTRIES)) == "auto"
    assert place_of_searches("auto", int(AUTO_ENTRIES) + 1) == GPU
    monkeypatch.setattr(cuda, "seems_usable", lambda: False)
    assert place_of_searches("auto", int(AUTO_ENTRIES) + 1) == "auto"


def test_other_places_stay() -> None:
    for wanted in ("native", "numpy", native_device(), Devices(["native", "numpy"])):
        assert place_of_few(wanted) is wanted
    assert place_of_few("auto") == "auto"
    assert place_of_few(Devices(["cuda:0", "native"])) == "native"
    left = place_of_few("cuda:1,native,numpy")
    assert isinstance(left, Devices)
    assert left.names == ("native", "numpy")


def test_a_gpu_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "cuda_devices", lambda: [Device("cuda", "GPU", "cuda", 1, "no driver")])
    with pytest.raises(DeviceError, match="cannot run: no driver"):
        place_of_few("cuda")


@pytest.mark.usefixtures("with_gpu")
def test_auto_takes_a_gpu_for_many_long_chains_only(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 2 * GENERAL_CHAINS_A_CORE + 1
    assert place_of_chains(plan(), chains=many, steps=LONG) == GPU
    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "is_shipped", lambda *_: False)
        assert place_of_chains(plan(), chains=many, steps=LONG) != GPU, "no kernel, and no compiler"
        without_compiler(patch, None)
        assert place_of_chains(plan(), chains=2 * CHAINS_A_CORE + 1, steps=LONG) == GPU
    others = [
        place_of_chains(plan(), chains=many - 1, steps=LONG),
        place_of_chains(plan(), chains=many, steps=1000),
        place_of_chains(plan(), chains=many, steps=None),
    ]
    monkeypatch.setattr(run, "usable_cores", lambda: 64)  # together faster than all that the GPU runs
    others.append(place_of_chains(plan(), chains=100_000, steps=LONG))
    assert all(one.kind != "cuda" for one in others)


def test_auto_asks_for_no_gpu_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def options() -> Any:
        raise AssertionError("the driver was asked")

    monkeypatch.setattr(cuda, "_driver", options)
    monkeypatch.setattr(cuda, "seems_usable", lambda: False)
    assert place_of_chains(plan(), chains=10_000, steps=LONG).kind != "cuda"


@pytest.mark.parametrize(("room", "expected"), [(10**6, 3168), (700, 700), (0, 1)])
def test_a_busy_gpu_has_fewer_slots(
    room: int, expected: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`room` chains fit beside the problem and the reserve; one is tried in any case."""
    chains = plan()
    encoding = PreorderEncoding(chains.problem, TRAITS)
    sizes = chain_sizes(chains, encoding, 1)
    given = [one for one in chain_kernel(chains, encoding).arguments if "slots" not in one.shape]
    free = backends._SPARE_BYTES + sum(one.nbytes(sizes) for one in given)
    free += room * slot_bytes(chains, encoding)
    monkeypatch.setattr(cuda, "open_gpu", lambda _device: SimpleNamespace(free_bytes=lambda: free))
    caplog.set_level("INFO", "syclade.devices")
    assert default_slots(GPU, chains, encoding, 5000) == expected
    assert ("chains take turns" in caplog.text) == (expected < 3168)
