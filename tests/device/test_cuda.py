"""NVIDIA GPUs: what is said without one, kernels as PTX, and, with the marker `cuda`, the engine on one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.calls import kernels as call_kernels
from syclade.host.calls.alignment_quality import BAQ_OF_READS
from syclade.host.calls.kernels import BandedEngines, place_of
from syclade.host.calls.tails.columns import KERNELS, tail_kernel
from syclade.host.calls.windows import alignment_kernels
from syclade.host.chains.backends.opening import ChainsToOpen, open_one
from syclade.host.chains.encodings import Encoding
from syclade.host.chains.encodings.bits import CladeEncoding
from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.encodings.sums import ParitiesEncoding, SumsEncoding
from syclade.host.chains.plan import Plan, chain_kernel, chain_sizes, make_leaf_plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.chains.search.kernel import BATCHED_STAGES, STAGES, batched_kernel, search_kernel
from syclade.host.chains.state import SUMMED_TREES, every
from syclade.host.commands.devices import command
from syclade.host.commands.ship.make import compile_apart
from syclade.host.data.model.problem import make_leaf_problem, make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device import cuda
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import machine_code
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_ptx
from syclade.host.device.compile.precompiled import PTX, find_shipped, is_shipped
from syclade.host.device.cuda import cuda_devices
from syclade.host.device.device import Device
from syclade.host.device.engines import Allocation, open_engine
from syclade.host.device.engines import cuda as cuda_engine
from syclade.host.device.engines.cuda import (
    CudaEngine,
    make_apart,
    near_arguments,
    near_forms,
    registers_of,
    slots_of_unit,
)
from syclade.host.device.work import GENERAL
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from syclade.host.ground.packages import version_of
from syclade.kernels.arguments import PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.baq.arguments import MEMBERS
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.target.cuda.traits import NEAR_BYTES, REGISTERS, THREADS, TRAITS
from tests.support.backends import Seen, assert_equal_chains
from tests.support.same_bits import advance

# ---- without a GPU


def no_gpu(monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    def driver() -> Any:
        raise DeviceError(message)

    monkeypatch.setattr(cuda, "_driver", driver)


@pytest.mark.parametrize("wanted", ["cuda", "cuda:0", "cuda:3"])
def test_why_there_is_no_gpu(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_gpu(monkeypatch, "there is no NVIDIA driver")
    with pytest.raises(DeviceError, match="cannot run: there is no NVIDIA driver") as caught:
        choose_device(wanted)
    assert caught.value.hint == "--device auto takes the best that can"


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "version_of", lambda _name: None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    cuda._driver.cache_clear()
    with pytest.raises(DeviceError, match=r"cuda-bindings is not installed: .*Python 3.12 or newer.*cuda"):
        choose_device("cuda")


def test_auto_asks_for_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def driver() -> Any:
        raise AssertionError("the driver was asked")

    monkeypatch.setattr(cuda, "_driver", driver)
    assert choose_device("auto").kind != "cuda"


def fake_driver(capability: tuple[int, int], count: int = 2) -> Any:
    """Return the functions of a driver that describe GPUs."""
    major, minor = capability
    attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=major,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=minor,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=132,
    )
    return SimpleNamespace(
        CUdevice_attribute=attribute,
        cuDeviceGetCount=lambda: (0, count),
        cuDeviceGet=lambda number: (0, number),
        cuDeviceGetName=lambda _length, number: (0, b"GPU %d\0\0" % number),
        cuDeviceGetAttribute=lambda value, _device: (0, value),
        cuDriverGetVersion=lambda: (0, 12040),
    )


def test_gpus_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((9, 0)))
    monkeypatch.setattr(cuda, "seems_present", lambda: True)
    first, second = cuda_devices()
    assert first == Device("cuda:0", "GPU 0", "cuda", 132, None, "CUDA 12.4")
    assert choose_device("cuda") == first
    assert choose_device("cuda:1") == second
    assert not first.takes_spirv
    with pytest.raises(DeviceError, match=r"there is no device 'cuda:2': the GPUs are cuda:0, cuda:1"):
        choose_device("cuda:2")
    shown = CliRunner().invoke(command, ["--json"])
    assert [one["filter"] for one in json.loads(shown.stdout)][-4:] == [
        "cuda:0",
        "cuda:1",
        "native",
        "numpy",
    ]


def test_an_old_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((7, 5)))
    with pytest.raises(DeviceError, match=r"its compute capability is 7\.5; the kernels need 8\.0"):
        choose_device("cuda")


def test_hidden_gpus_are_hinted_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((9, 0), count=0))
    with pytest.raises(DeviceError, match=r"lists no GPU \(CUDA_VISIBLE_DEVICES may hide them"):
        choose_device("cuda")


def test_threads_that_call_share_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((9, 0)))
    place = place_of("cuda", 2)
    assert (place.slots, place.threads) == (132 * 16 // 2, 2)
    scratch = {**scratch_sizes(7, MEMBERS, 100, 120), "line_cells": 17 * MEMBERS}
    numbers = 2 * scratch["cells"] + scratch["row_cells"] + scratch["scale_cells"]
    of_slot = 8 * numbers + scratch["window_cells"]

    def slots_with(free: int) -> int:
        monkeypatch.setattr(
            call_kernels, "open_gpu", lambda _device: SimpleNamespace(free_bytes=lambda: free)
        )
        return BandedEngines(BAQ_OF_READS, {}, place)._slots(scratch)

    assert slots_with(2**40) == place.slots
    assert slots_with(4 * (100 * of_slot + of_slot - 1)) == 100, "half of the memory, for two threads"
    assert slots_with(0) == 1, "the engine then says that there is too little"


def test_kernels_of_calling_are_precompiled() -> None:
    for kernel in [*alignment_kernels("cuda").values(), tail_kernel("grouped")]:
        assert is_shipped(kernel, PTX)
        text = load_ptx(kernel).text.decode()
        assert ".version 8.2\n.target sm_80\n" in text
        assert not re.search(r"\bfma\.", text), "all targets round products and sums apart"


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, own_cache: object) -> None:
    monkeypatch.setattr(machine_code, "version_of", lambda _name: None)
    with pytest.raises(DeviceError, match="has to be compiled, and numba-cuda is not installed"):
        load_ptx(search_kernel("subtrees", TRAITS))


def test_an_engine_that_does_not_open_frees_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    def allocate(_size: int) -> int:
        if held:
            raise DeviceMemoryError("the GPU reports CUDA_ERROR_OUT_OF_MEMORY")
        held.append(4096)
        return 4096

    gpu = SimpleNamespace(
        stream=object,
        event=lambda _stream: object(),
        free_bytes=lambda: 2**20,
        allocate=allocate,
        copy_to=lambda _address, _values: None,
        close_stream=lambda _stream: None,
        free=held.remove,
    )
    monkeypatch.setattr(cuda_engine, "open_gpu", lambda _device: gpu)
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((9, 0)))
    with pytest.raises(DeviceMemoryError, match="OUT_OF_MEMORY"):
        engine_of(3)
    assert held == []


def test_launches_wait_for_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver lets launches pass zeros and copies that are under way."""
    done: list[str] = []

    def noted(name: str, found: object = None) -> Callable[..., Any]:
        def note(*_: object, **__: object) -> object:
            done.append(name)
            return found

        return note

    gpu = SimpleNamespace(
        stream=object,
        event=noted("event", object()),
        free_bytes=lambda: 2**20,
        allocate=noted("write", 4096),
        copy_to=noted("write"),
        finish_writes=noted("finish"),
        launch=noted("launch"),
        finish=lambda _stream: None,
    )
    monkeypatch.setattr(cuda_engine, "open_gpu", lambda _device: gpu)
    monkeypatch.setattr(CudaEngine, "_function", noted("load", object()))
    monkeypatch.setattr(cuda, "_driver", lambda: fake_driver((9, 0)))
    engine = addition_engine(2)
    number = engine.load(addition_kernel())
    engine.start(number, 0)
    assert done == ["event", *["write"] * 5, "load", "finish", "event", "launch", "event"]
    done.clear()
    engine.start(number, 1)
    engine.launch([number] * 2)
    assert done == ["event", "launch", "event", "launch"], "nothing was written"
    done.clear()
    engine.write("code", 5, 1)
    engine.launch([number] * 2)
    assert done == ["write", "finish", "launch"]


# ---- kernels as PTX

RATES = Rates(0.01, 0.2)


def matrix() -> Any:
    return simulate(40, 20, missing=0.1, seed=1, **RATES.to_dict()).matrix


def maximum() -> tuple[Plan, type[Encoding]]:
    return make_plan(make_problem(matrix(), RATES), recorders=(every(100),)), PreorderEncoding


def summed() -> tuple[Plan, type[Encoding]]:
    problem = make_problem(matrix(), RATES, octaves=True)
    return make_plan(problem, score=score_named("sum", problem)), PreorderEncoding


def learned() -> tuple[Plan, type[Encoding]]:
    return make_plan(
        make_problem(matrix(), RATES, model=make_rate_model(RATES, learn_fn=0.2))
    ), PreorderEncoding


def doublets() -> tuple[Plan, type[Encoding]]:
    problem = make_problem(matrix(), RATES, octaves=True)
    score = score_named("max", problem, doublets=0.1)
    return make_plan(problem, score=score, space=SUMMED_TREES), SumsEncoding


def recurrent() -> tuple[Plan, type[Encoding]]:
    options = ScoreOptions(doublets=None, recurrent=0)
    problem = make_problem(matrix(), RATES, octaves=options.octaves)
    score = score_named(options.name, problem, options.doublets, options.recurrent)
    return make_plan(problem, score=score, space=space_of(options)), ParitiesEncoding


def cells() -> tuple[Plan, type[Encoding]]:
    return make_leaf_plan(make_leaf_problem(matrix(), RATES)), CladeEncoding


def chains(make: Callable[[], tuple[Plan, type[Encoding]]]) -> Kernel:
    plan, encoding = make()
    return chain_kernel(plan, encoding(plan.problem, TRAITS))


OF_CHAINS = (maximum, summed, learned, doublets, recurrent, cells)


@pytest.mark.parametrize("make", OF_CHAINS)
def test_kernels_of_chains_are_precompiled(make: Callable[[], tuple[Plan, type[Encoding]]]) -> None:
    """No compiler is needed for them, and drivers of CUDA 12.2 take them."""
    plan, encoding = make()
    general = encoding(plan.problem, TRAITS).general()
    assert general is not None
    kernel = chain_kernel(plan, general)
    assert kernel.reads_sizes
    assert not chains(make).reads_sizes
    for form in near_forms(kernel)[plan.problem.learns :]:
        near = [one.name for one in form]
        text = load_ptx(kernel, near).text.decode()
        assert ".version 8.2\n.target sm_80\n" in text
        (parameters,) = re.findall(r"\.visible \.entry \w+\(([^)]*)\)", text)
        of_slot = [one for one in kernel.arguments if "slots" in one.shape]
        assert parameters.count(".param") == 1 + len(of_slot) + len(kernel.arguments)
        assert not re.search(r"\bfma\.", text)


@pytest.mark.parametrize("mutations", [20, 500])
def test_a_general_kernel_has_the_form_that_fits(mutations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = simulate(40, mutations, missing=0.1, seed=1, **RATES.to_dict()).matrix
    plan = make_plan(make_problem(values, RATES))
    general = PreorderEncoding(plan.problem, TRAITS).general()
    assert general is not None
    kernel, sizes = chain_kernel(plan, general), chain_sizes(plan, general, 1)
    hot, few = near_forms(kernel)
    assert [one.name for one in few] == ["drawn"]
    assert len(hot) == 8
    near, size = near_arguments(kernel, sizes)
    assert near == (hot if mutations == 20 else few)
    assert size == sum(one.nbytes(sizes) for one in near) <= NEAR_BYTES
    monkeypatch.setattr(cuda_engine, "is_shipped", lambda *_: False)
    assert near_arguments(kernel, sizes)[0] == few, "a form that is not there is not taken"


QUICK = {"search-exact", "tails-tilted"}
"""Kernels that `make test` compiles where the compiler is installed, beside one with near arguments; `make
verify` compiles all."""


def kernels() -> list[Any]:
    found: dict[str, Callable[[], Kernel]] = {one.__name__: partial(chains, one) for one in OF_CHAINS}
    found |= {f"search-{one}": partial(search_kernel, one, TRAITS) for one in STAGES}
    found |= {f"tails-{one}": partial(tail_kernel, one) for one in KERNELS}
    return [
        pytest.param(make, id=name, marks=[] if name in QUICK else [pytest.mark.verification])
        for name, make in found.items()
    ]


needs_compiler = pytest.mark.skipif(
    version_of("numba-cuda") is None, reason="numba-cuda is not installed: it is for Python 3.12 or newer"
)


@needs_compiler
@pytest.mark.parametrize("make", kernels())
def test_every_kernel_becomes_ptx(
    make: Callable[[], Kernel], own_cache: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_to_compile(_kernel: Kernel, _near: object) -> Any:
        raise AssertionError("compiled again")

    kernel = make()
    found = load_ptx(kernel)
    text = found.text.decode()
    (entry,) = re.findall(r"\.visible \.entry (\w+)\(([^)]*)\)", text)
    assert entry[0] == found.entry_point == kernel.name
    assert entry[1].count(".param") == 1 + len(kernel.arguments), "the number of slots, and the arguments"
    assert ".target sm_80" in text
    assert not re.search(r"\bfma\.", text), "a sum is fused with a product: other bits than on other targets"
    monkeypatch.setattr(machine_code, "compile_ptx", refuse_to_compile)
    assert load_ptx(kernel) == found, "the second time it comes from the cache"


@needs_compiler
def test_near_arguments_are_in_shared_memory(own_cache: object) -> None:
    kernel = chains(summed)
    near = [one.name for one in kernel.arguments if one.hot]
    text = load_ptx(kernel, near).text.decode()
    (parameters,) = re.findall(r"\.visible \.entry \w+\(([^)]*)\)", text)
    of_slot = [one for one in kernel.arguments if "slots" in one.shape]
    assert parameters.count(".param") == 1 + len(of_slot) + len(kernel.arguments)
    assert text.count("ld.shared") > 100, "steps read them there, and not through generic addresses"
    keys = {machine_code.ptx_key(kernel, one) for one in (near, near[1:], ())}
    assert len(keys) == 3, "each choice of near arguments is another kernel"


def test_the_slots_of_a_unit_fit() -> None:
    """Compute capability 9.0: 65,536 registers and 228 KB of shared memory, of which each block takes one."""
    for near_bytes in range(0, NEAR_BYTES + 1, 8):
        slots, registers = slots_of_unit(near_bytes), registers_of(near_bytes)
        blocks = slots * TRAITS.lanes // THREADS
        assert blocks * (THREADS // TRAITS.lanes * near_bytes + 1024) <= 228 * 1024
        assert registers <= REGISTERS
        assert not near_bytes or slots * TRAITS.lanes * registers <= 65_536
    assert (slots_of_unit(5504), registers_of(5504)) == (24, 80)
    assert (slots_of_unit(8320), registers_of(8320)) == (20, 96)


@pytest.mark.parametrize("stage", BATCHED_STAGES)
def test_batched_stages_are_precompiled(stage: str, own_cache: object) -> None:
    """No compiler is needed for them, and drivers of CUDA 12.2 take them."""
    kernel = batched_kernel(stage)
    hot = [one.name for one in kernel.arguments if one.hot]
    of_teams = [one for one in kernel.arguments if "teams" in one.shape]
    for near in (hot, []):
        assert is_shipped(kernel, PTX, near)
        text = load_ptx(kernel, near).text.decode()
        assert ".version 8.2\n.target sm_80\n" in text
        (parameters,) = re.findall(r"\.visible \.entry \w+\(([^)]*)\)", text)
        assert parameters.count(".param") == 1 + len(of_teams) + len(kernel.arguments)
        assert not re.search(r"\bfma\.", text)
        assert "ld.acquire.gpu" in text, "teams wait for each other"
        assert ("slot_memory" in text) == bool(near)


@needs_compiler
@pytest.mark.verification
def test_the_compiler_makes_the_same_ptx() -> None:
    """`python -m syclade.host.commands.ship.make --ptx --check` compares all."""
    found = find_shipped(batched_kernel("by-columns"), PTX)
    assert found is not None
    entry_point, content = compile_apart("search-by-columns-batched", PTX)
    assert (entry_point, content) == found


# ---- on a GPU


def engine_of(slots: int) -> Any:
    arguments = (
        Argument("given", PROBLEM, "int32", ("wide",), ""),
        Argument("made", STATE, "int64", ("slots", "wide"), ""),
    )
    given = np.arange(5, dtype=np.int32)
    return open_engine(
        choose_device("cuda"), Allocation(arguments, {"slots": slots, "wide": 5}, {"given": given})
    )


@pytest.mark.cuda
def test_arrays_are_written_and_read() -> None:
    engine = engine_of(3)
    assert engine.read("given").tolist() == [0, 1, 2, 3, 4]
    assert not engine.read("made").any()
    engine.write("made", [[1] * 5, [2] * 5, [3] * 5])
    engine.write("made", [7, 8, 9, 10, 11], slot=1)
    assert engine.read("made", 1).tolist() == [7, 8, 9, 10, 11]
    assert engine.read("made").tolist() == [[1] * 5, [7, 8, 9, 10, 11], [3] * 5]
    engine.close()


@pytest.mark.cuda
def test_more_memory_than_there_is() -> None:
    with pytest.raises(DeviceMemoryError, match=r"slots need .* GiB, and .* has .* GiB free") as caught:
        engine_of(10**11)
    assert caught.value.hint == "use fewer --slots"


ADDITION = (
    Argument("code", STATE, "int64", ("slots",), ""),
    Argument("amount", STATE, "int64", ("slots",), ""),
    Argument("scale", PROBLEM, "int64", ("one",), ""),
    Argument("total", STATE, "int64", ("slots", "lanes"), ""),
)


def addition_engine(slots: int) -> Any:
    sizes = {"slots": slots, "one": 1, "lanes": TRAITS.lanes}
    return open_engine(choose_device("cuda"), Allocation(ADDITION, sizes, {"scale": np.array([2])}))


def addition_kernel() -> Kernel:
    """Return a kernel: each lane adds the slot's amount times 10 times the scale, if the slot's code is 5."""
    factory = "tests.support.device_checks:make_addition"
    constants = {"code": 5, "factor": 10, "lanes": TRAITS.lanes}
    records = (Record("Given", ADDITION),)
    return Kernel("addition", factory, {}, constants, records, "work-group", TRAITS.lanes)


@pytest.mark.cuda
def test_slots_have_launches_of_their_own_and_times() -> None:
    engine = addition_engine(9)
    engine.write("code", [5, 5, 5, 5, 5, 5, 5, 5, 6])
    engine.write("amount", range(1, 10))
    number = engine.load(addition_kernel())
    engine.launch([number] * 9)
    once = 20 * np.array([1, 2, 3, 4, 5, 6, 7, 8, 0])
    assert (engine.read("total") == once[:, None]).all()
    first = engine.start(number, 2)
    second = engine.start(number, 7, after=[first])
    engine.wait(second)
    (begun, ended), (later, last) = engine.times(first), engine.times(second)
    assert 0 <= begun <= ended <= later <= last
    once[[2, 7]] *= 2
    assert (engine.read("total") == once[:, None]).all()
    engine.close()


@pytest.mark.cuda
def test_zeros_are_there_before_a_launch() -> None:
    """Those of 4 GiB take longer than a launch takes to begin; what it has stored must not become zero."""
    first = addition_engine(2)
    first.load(addition_kernel())  # the second time nothing waits for the driver
    given = {"code": np.full(2, 5), "amount": np.ones(2, np.int64), "scale": np.array([2])}
    arguments = (
        *(one._replace(role=PROBLEM) for one in ADDITION if one.name in given),
        Argument("room", SCRATCH, "int32", ("room",), ""),
        *(one for one in ADDITION if one.name not in given),
    )
    sizes = {"slots": 2, "one": 1, "lanes": TRAITS.lanes, "room": 2**30}
    engine = open_engine(choose_device("cuda"), Allocation(arguments, sizes, given))
    engine.launch([engine.load(addition_kernel())] * 2)
    assert (engine.read("total") == 20).all()
    engine.close()
    first.close()


@pytest.mark.cuda
@pytest.mark.parametrize("is_near", [True, False], ids=["near", "far"])
@pytest.mark.parametrize("make", OF_CHAINS)
def test_chains_need_no_compiler(
    make: Callable[[], tuple[Plan, type[Encoding]]],
    is_near: bool,
    own_cache: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The general kernel of the package does all steps, and has the bits of numpy."""

    def refuse_to_compile(_kernel: Kernel, _near: object) -> Any:
        raise AssertionError("a kernel was compiled")

    monkeypatch.setattr(machine_code, "compile_ptx", refuse_to_compile)
    if not is_near:
        monkeypatch.setattr(cuda_engine, "is_shipped", lambda *_: False)
    plan, steps, slots = make()[0], 300, 5
    found = []
    for device in ("cuda", "numpy"):
        opened = open_one(device, ChainsToOpen(plan, "auto", slots, steps, slots, 1))
        runner = opened.runner
        runner.put_all([initial_state(plan, 1, chain) for chain in range(slots)])
        advance(runner, [steps] * slots)
        found.append([Seen(*one) for one in runner.get_all(slots)])
        assert device == "numpy" or [(one.kernel, one.count) for one in runner.work] == [
            (GENERAL, steps * slots)
        ]
        runner.close()
    for one, other in zip(*found, strict=True):
        assert_equal_chains(one, other)


@pytest.mark.cuda
def test_a_kernel_is_made_apart_once(own_cache: object) -> None:
    kernel, gpu = tail_kernel(next(iter(KERNELS))), choose_device("cuda")
    process = make_apart(kernel, (), 128, gpu)
    assert process is not None
    assert process.wait(300) == 0
    assert make_apart(kernel, (), 128, gpu) is None
    others = make_apart(kernel, (), 96, gpu)
    assert others is not None, "with other registers it is other machine code"
    others.wait(300)


@pytest.mark.cuda
def test_a_broken_kernel_is_refused() -> None:
    gpu = cuda.open_gpu(choose_device("cuda"))
    with pytest.raises(
        DeviceError, match="cannot build the kernel broken: the GPU reports CUDA_ERROR_INVALID_PTX"
    ):
        gpu.function(
            "none",
            "broken",
            b".version 8.0\n.target sm_80\n.address_size 64\n.entry broken() { nonsense; }",
            registers=128,
        )


@pytest.mark.cuda
def test_a_gpu_of_the_parent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = cuda.open_gpu(choose_device("cuda"))
    monkeypatch.setattr(gpu, "_process", -1)
    with pytest.raises(DeviceError, match="a forked process cannot use the GPU of its parent"):
        gpu.free_bytes()
