"""Cached machine code: its keys, damaged entries, and starts without a compiler."""

from __future__ import annotations

import logging
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from syclade.host.device.compile import program
from syclade.host.device.compile.program import build_program, device_identity
from syclade.host.device.survey import EXPECTED, probe_spirv
from syclade.host.device.workarounds import opencl, prepare
from syclade.host.device.workarounds.opencl import OpenCLError, Place
from syclade.host.ground.cache import read_checked, write_checked

pytestmark = [pytest.mark.sycl, pytest.mark.usefixtures("compile_here")]

BOTH = ("opencl:cpu:0", "opencl:accelerator:0")


@pytest.fixture(params=BOTH)
def queue(request: pytest.FixtureRequest) -> Any:
    return prepare().SyclQueue(request.param)


@pytest.fixture(autouse=True)
def _no_compiler_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CL_CONFIG_DUMP_ASM", raising=False)


class Compilations:
    """Counter of the driver's compilations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._compile = opencl.program_from_spirv
        monkeypatch.setattr(opencl, "program_from_spirv", self)

    def __call__(self, place: Place, module: bytes) -> int:
        self.count += 1
        return self._compile(place, module)


@pytest.fixture
def compilations(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Compilations:
    return Compilations(monkeypatch)


def entries(own_cache: Path) -> list[Path]:
    return sorted((own_cache / "native").iterdir())


def result_of(queue: Any, program: Any) -> int:
    """Return the number that the probe's kernel stores."""
    import dpctl.memory

    memory = dpctl.memory.MemoryUSMDevice(64, queue=queue)
    memory.copy_from_host(bytes(64))
    queue.submit(program.get_sycl_kernel("probe"), [memory], [1], [1]).wait()
    return int(struct.unpack_from("<I", bytes(memory.copy_to_host()))[0])


# ---- the cache


def test_a_module_is_compiled_once(queue: Any, compilations: Compilations, own_cache: Path) -> None:
    for _ in range(3):
        assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert compilations.count == 1
    assert len(entries(own_cache)) == 1


def test_devices_do_not_share_machine_code(compilations: Compilations, own_cache: Path) -> None:
    for name in BOTH:
        build_program(prepare().SyclQueue(name), probe_spirv())
    assert compilations.count == len(entries(own_cache)) == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "one bit", "appended"])
def test_a_damaged_entry_never_reaches_the_driver(
    compilations: Compilations, own_cache: Path, damage: str
) -> None:
    queue = prepare().SyclQueue(BOTH[0])
    build_program(queue, probe_spirv())
    (file,) = entries(own_cache)
    good = file.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    file.write_bytes(
        {"empty": b"", "cut": good[:-8], "one bit": bytes(flipped), "appended": good + b"\0"}[damage]
    )
    assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert compilations.count == 2
    assert read_checked(f"native/{file.name}") is not None


@pytest.mark.parametrize("content", [b"nonsense", b"", probe_spirv(), b"\x7fELF" + bytes(200)])
def test_what_the_driver_refuses_is_compiled_again(
    queue: Any, compilations: Compilations, own_cache: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    build_program(queue, probe_spirv())
    name = f"native/{entries(own_cache)[0].name}"
    good = read_checked(name)
    write_checked(name, content)
    with caplog.at_level(logging.DEBUG, "syclade.program"):
        assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert compilations.count == 2
    assert "clCreateProgramWithBinary failed" in caplog.text
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert len(read_checked(name) or b"") == len(good or b"") > 100


def test_a_cache_that_cannot_be_written(queue: Any, compilations: Compilations, own_cache: Path) -> None:
    own_cache.write_text("a file, no folder")
    for _ in range(2):
        assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert compilations.count == 2


def test_no_machine_code_is_kept_while_somebody_looks_at_the_compiler(
    compilations: Compilations, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = prepare().SyclQueue(BOTH[0])
    monkeypatch.setenv("CL_CONFIG_DUMP_ASM", "0")
    for _ in range(2):
        build_program(queue, probe_spirv())
    assert compilations.count == 2
    assert not (own_cache / "native").exists()


def test_an_unknown_processor_keeps_nothing(
    queue: Any, compilations: Compilations, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "_processor", lambda: None)
    assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert device_identity(queue.sycl_device) is None
    assert not (own_cache / "native").exists()


def test_the_name_tells_what_machine_code_must_fit(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        name, driver_version = queue.sycl_device.name, queue.sycl_device.driver_version

    class OtherQueue:
        sycl_device = Other()

    def name() -> str | None:
        return program._binary_name(OtherQueue(), probe_spirv())

    names = [name(), program._binary_name(queue, probe_spirv() + bytes(4))]
    assert names[0] == program._binary_name(queue, probe_spirv())
    monkeypatch.setattr(program, "_processor", lambda: "another")
    names.append(name())
    monkeypatch.setattr(Other, "driver_version", "another")
    names.append(name())
    monkeypatch.setattr(Other, "name", "another")
    names.append(name())
    assert None not in names
    assert len(set(names)) == len(names)


def test_without_native_programs_dpctl_does_it(
    queue: Any, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    monkeypatch.setattr(opencl, "_functions", lambda: None)
    assert result_of(queue, build_program(queue, probe_spirv())) == EXPECTED
    assert not own_cache.exists()


def test_the_compiler_says_why(queue: Any, own_cache: Path) -> None:
    with pytest.raises(OpenCLError, match="failed with -"):
        build_program(queue, b"nonsense")


def test_threads(compilations: Compilations) -> None:
    """Build several programs on each device at once, some before the entry is cached and some after."""
    queues = [prepare().SyclQueue(BOTH[turn % 2]) for turn in range(12)]
    with ThreadPoolExecutor(6) as pool:
        programs = list(pool.map(lambda queue: build_program(queue, probe_spirv()), queues))
    assert [result_of(*pair) for pair in zip(queues, programs, strict=True)] == [EXPECTED] * 12


# ---- a second process

RUN = """
import sys
from syclade.host.device.workarounds import opencl
from syclade.host.device.compile import program
import syclade
if sys.argv[2] == "warm":
    opencl.program_from_spirv = program.compile_spirv = None  # nothing is compiled any more
result = syclade.infer(
    [[1, 0, 1, 3], [0, 1, 1, 1], [1, 1, 0, 0]],
    fp_rate=0.01, fn_rate=0.1, device=sys.argv[1], encoding="ancestor", steps=50,
)
print(result.parents.tolist(), result.chain_log_likelihoods.tolist())
"""


@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
def test_a_warm_run_compiles_nothing(device: str) -> None:
    """The warm run gives the same result and exits cleanly."""
    outputs = []
    for state in ("cold", "warm"):
        command = [sys.executable, "-c", RUN, device, state]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
