"""Compiled kernels: their keys, the cache of SPIR-V, and starts without numba."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syclade.host.chains.encodings import make_encoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.compile import program as module
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.program import load_kernel, spirv_of
from syclade.host.device.compile.translate import Spirv, translation
from syclade.host.device.survey import probe_spirv
from syclade.host.device.workarounds import prepare
from syclade.host.ground.errors import DeviceError
from syclade.kernels.arguments import STATE, Argument
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

pytestmark = pytest.mark.usefixtures("compile_here")

X = Argument("x", STATE, "int64", (4,), "")
KERNEL = Kernel(
    name="some_kernel",
    factory="tests.support.build_kernel:make_control",
    parts={},
    constants={"lanes": 16},
    records=(Record("Given", (X,)),),
    group="work-group",
    lanes=16,
)
PROBE = Spirv("probe", probe_spirv())


class Compiler:
    """Stand-in for `translate` that counts its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, result: Spirv) -> None:
        self.calls = 0
        self.result = result
        monkeypatch.setattr(module, "translate", self)

    def __call__(self, queue: Any, kernel: Kernel) -> Spirv:
        self.calls += 1
        return self.result


@pytest.fixture
def compiler(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    monkeypatch.setattr(module, "_built", {})
    return Compiler(monkeypatch, PROBE)


def cached_file(own_cache: Path) -> Path:
    (file,) = (own_cache / "spirv").iterdir()
    return file


# ---- keys


def test_the_key_tells_specialisations_apart() -> None:
    kernels = [
        KERNEL,
        replace(KERNEL, name="other"),
        replace(KERNEL, factory="tests.support.device_checks:make_draw_check"),
        replace(KERNEL, parts={"score": "syclade.kernels.scores.best_attachment:SCORE"}),
        replace(KERNEL, constants={"lanes": 32}),
        replace(KERNEL, constants={"lanes": 16, "words": 1}),
        replace(KERNEL, records=(Record("Given", (X._replace(dtype="int32"),)),)),
        replace(KERNEL, records=(Record("Given", (X._replace(name="y"),)),)),
        replace(KERNEL, records=(Record("Other", (X,)),)),
        replace(KERNEL, records=KERNEL.records * 2),
        replace(KERNEL, group="sub-group"),
        replace(KERNEL, lanes=8),
    ]
    assert len({kernel.key([]) for kernel in kernels}) == len(kernels)
    assert KERNEL.key([]) == replace(KERNEL, constants={"lanes": 16}).key([])
    assert KERNEL.key([]) != KERNEL.key(["another compiler"])


def test_the_key_does_not_depend_on_the_order_of_constants() -> None:
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert replace(KERNEL, constants=one).key([]) == replace(KERNEL, constants=other).key([])


def test_the_translation_has_the_versions_of_the_compilers() -> None:
    assert {"numba", "numba-dpex", "llvmlite"} <= {line.partition(" ")[0] for line in translation()}


def test_like_inputs_share_a_kernel() -> None:
    def key(case: Case) -> str:
        plan = case.plan()
        return chain_kernel(plan, make_encoding("ancestor")(plan.problem, TRAITS)).key([])

    assert key(Case(3, 4)) == key(Case(15, 16)) != key(Case(16, 16))


# ---- the cache


def test_a_kernel_is_compiled_once(compiler: Compiler) -> None:
    assert [spirv_of(None, KERNEL) for _ in range(3)] == [PROBE] * 3
    assert compiler.calls == 1
    spirv_of(None, replace(KERNEL, lanes=8))
    assert compiler.calls == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "one bit", "no digest", "appended"])
def test_a_damaged_entry_is_compiled_again(compiler: Compiler, own_cache: Path, damage: str) -> None:
    spirv_of(None, KERNEL)
    file = cached_file(own_cache)
    good = file.read_bytes()
    flipped = bytearray(good)
    flipped[-20] ^= 1
    damaged = {
        "empty": b"",
        "cut": good[:-8],
        "one bit": bytes(flipped),
        "no digest": good.partition(b"\n")[2],
        "appended": good + b"\0",
    }
    file.write_bytes(damaged[damage])
    assert spirv_of(None, KERNEL) == PROBE
    assert compiler.calls == 2
    assert file.read_bytes() == good


def test_a_cache_that_cannot_be_written(compiler: Compiler, own_cache: Path) -> None:
    own_cache.write_text("a file, no folder")
    assert [spirv_of(None, KERNEL) for _ in range(2)] == [PROBE] * 2
    assert compiler.calls == 2


def test_no_half_files_are_left(compiler: Compiler, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert spirv_of(None, KERNEL) == PROBE
    assert list((own_cache / "spirv").iterdir()) == []


# ---- building


@pytest.fixture
def queue() -> Any:
    return prepare().SyclQueue("opencl:cpu:0")


@pytest.mark.sycl
def test_a_kernel_is_built_once_a_process(compiler: Compiler, queue: Any) -> None:
    first = load_kernel(queue, KERNEL)
    other_queue = prepare().SyclQueue("opencl:cpu:0")
    assert load_kernel(other_queue, KERNEL) is first
    emulator = prepare().SyclQueue("opencl:accelerator:0")
    assert load_kernel(emulator, KERNEL) is not first
    assert compiler.calls == 1


@pytest.mark.sycl
@pytest.mark.parametrize("bad", [Spirv("absent", PROBE.module), Spirv("probe", b"nonsense")])
def test_a_module_that_the_driver_refuses(compiler: Compiler, queue: Any, bad: Spirv) -> None:
    compiler.result = bad
    with pytest.raises(DeviceError, match=r"cannot build the kernel some_kernel"):
        load_kernel(queue, KERNEL)


@pytest.mark.sycl
def test_no_compiler(own_cache: Path, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_dpex", None)
    with pytest.raises(DeviceError, match="numba-dpex does not import"):
        spirv_of(queue, KERNEL)


# ---- a second process

RUN = """
import json, sys, time
import syclade
result = syclade.infer([[1, 0, 1], [0, 1, 1]], fp_rate=0.01, fn_rate=0.1, device=sys.argv[1], steps=10)
loaded = [name for name in ("numba", "numba_dpex", "llvmlite", "dpnp") if name in sys.modules]
print(json.dumps([loaded, time.process_time(), result.parents.tolist()]))
"""


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
def test_a_second_process_needs_no_numba(device: str) -> None:
    """It takes at most 1.5 s of processor time on the CPU device, summed over all threads."""
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", RUN, device], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout))
    (_, _, first_tree), (loaded, seconds, tree) = runs
    assert loaded == []
    assert tree == first_tree
    assert device != "cpu" or seconds < 1.5
