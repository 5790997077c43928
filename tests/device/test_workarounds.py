"""Every bug behind host/device/workarounds still exists: a failing test shows what can be removed.

Each bug is reproduced without its workaround, in a separate process. The last tests need all workarounds.
The installed stack decides which bugs exist (`Stack`): CI runs these tests on both stacks.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from syclade.host.device import workarounds
from syclade.host.device.workarounds import CURRENT, PINNED, compiler, installed_stack
from syclade.host.device.workarounds.compiler import PROCESSORS, TARGET_VARIABLE
from syclade.host.ground.packages import version_of
from tests.conftest import HAS_PINNED_STACK
from tests.support.backends import Backend, Case, run_alone

pytestmark = pytest.mark.sycl

CPUINFO = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")

# The start-up workarounds that `prepare` applies, in parts, so that a test can leave one out.
START = "from syclade.host.device import workarounds as w\n"
LIBRARIES = "w.load_runtime_libraries()\n"
DRIVERS = "w.register_opencl_drivers()\n"
DPCTL = "import dpctl\n"
PREPARED = START + "dpctl = w.prepare()\n"
OPEN_LOADER = "import ctypes\nctypes.CDLL(str(w._installed('intel-opencl-rt', 'libOpenCL.so.1')))\n"
STACK = installed_stack()
DEVICES = 2 if HAS_PINNED_STACK else 1
SHOW_CHILDS = """
import subprocess, sys
code = 'import os; print(os.environ.get("OCL_ICD_FILENAMES"))'
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
"""
COMPILE = """
from syclade.host.device.compile import translate
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.kernels.arguments import STATE, Argument
names = ("counter", "key", "word", "log_table", "drawn", "log")
types = ("uint64", "uint64", "uint64", "int64", "uint64", "int64")
arguments = tuple(Argument(name, STATE, dtype, (1,), "") for name, dtype in zip(names, types))
factory = "tests.support.device_checks:make_draw_check"
kernel = Kernel("draw_check", factory, {}, {}, (Record("Given", arguments),), "work-group", 1)
print(len(translate.translate(dpctl.SyclQueue("cpu"), kernel).module))
"""
WITHOUT_IMPLEMENTATIONS = (
    PREPARED
    + "from syclade.host.device.compile import translate\ntranslate.register_numba_implementations = int\n"
)


def run(code: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process, without variables that a user may have set."""
    hidden = ("LD_LIBRARY_PATH", "LD_PRELOAD", "OCL_ICD_FILENAMES", "ONEAPI_DEVICE_SELECTOR", TARGET_VARIABLE)
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=seconds
    )


def output(code: str) -> str:
    done = run(code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def error(code: str) -> str:
    """Return the standard error of a process that must fail."""
    done = run(code)
    assert done.returncode != 0, f"the fault is gone: {done.stdout}"
    return done.stderr


# ---- each bug


def test_the_stack_is_the_one_for_this_python() -> None:
    assert STACK is (PINNED if HAS_PINNED_STACK else CURRENT)
    assert version_of("dpctl") == STACK.dpctl
    assert version_of("intel-sycl-rt") == version_of("intel-opencl-rt") == STACK.runtimes


def test_load_runtime_libraries() -> None:
    """Without them dpctl 0.17 cannot be imported; with a newer dpctl the OpenCL loader cannot be opened."""
    if STACK is CURRENT:
        output(DPCTL)
    needs_them = DPCTL if STACK is PINNED else OPEN_LOADER
    assert "cannot open shared object file" in error(START + needs_them)
    output(START + LIBRARIES + needs_them)


@pytest.mark.parametrize("index", range(len(STACK.libraries)))
def test_every_runtime_library_is_needed(index: int) -> None:
    fewer = f"s = w.installed_stack()\nleft = s.libraries[:{index}] + s.libraries[{index + 1}:]\n"
    fewer += "w.installed_stack = lambda: s._replace(libraries=left)\n"
    works = DRIVERS + DPCTL + f"assert len(dpctl.get_devices()) == {DEVICES}\n"
    done = run(START + fewer + LIBRARIES + (works if STACK is PINNED else OPEN_LOADER))
    assert done.returncode != 0, f"{STACK.libraries[index]} is needed no more"


@pytest.mark.skipif(STACK is PINNED, reason="without them dpctl 0.17 does not import")
def test_a_newer_dpctl_runs_without_the_runtime_libraries() -> None:
    """Cover installations where the libraries are not packages of their own."""
    none = "s = w.installed_stack()._replace(libraries=(('intel-cmplr-lib-rt', 'libabsent.so'),))\n"
    none += "w.installed_stack = lambda: s\n"
    assert output(START + none + "print(len(w.prepare().get_devices()))") == "1"


def test_register_opencl_drivers() -> None:
    devices = DPCTL + "print(len(dpctl.get_devices()))"
    assert output(START + LIBRARIES + devices) == "0"
    assert output(START + LIBRARIES + DRIVERS + devices) == str(DEVICES)


def test_restore_driver_variable() -> None:
    """Loader 2024.2.2 leaves only the first driver; loader 2026.2 leaves the value that we have set."""
    read = DPCTL + "dpctl.get_devices()\n"
    both = os.pathsep.join(
        str(workarounds._installed(*driver))
        for driver in (workarounds.CPU_DRIVER, workarounds.EMULATOR_DRIVER)[:DEVICES]
    )
    first = both.split(os.pathsep)[0]
    assert output(START + LIBRARIES + DRIVERS + read + SHOW_CHILDS) == first
    assert output(PREPARED + SHOW_CHILDS) == "None"
    users = f"import os\nos.environ['OCL_ICD_FILENAMES'] = {both!r}\n"
    assert output(users + PREPARED + SHOW_CHILDS) == both


@pytest.mark.emulator
def test_a_survey_has_all_drivers_while_the_loader_has_shortened_the_list() -> None:
    """Survey between `register_opencl_drivers` and `restore_driver_variable`, as another thread may."""
    survey = (
        START + LIBRARIES + DRIVERS + DPCTL + "dpctl.get_devices()\n"
        "from syclade.host.device.survey import survey\n"
        "print([one.kind for one in survey().devices])"
    )
    assert output(survey) == "['cpu', 'fpga-emu']"


WAITING = """
import sys, threading, time
import numpy as np
import dpctl.memory
sys.setswitchinterval(1e-5)
end = time.monotonic() + seconds
def copy(queue):
    block, values = dpctl.memory.MemoryUSMDevice(4096, queue=queue), np.zeros(4096, np.uint8)
    while time.monotonic() < end:
        block.copy_from_host(values)
        block.memset(0)
        block.copy_to_host(values)
threads = [threading.Thread(target=copy, args=(queue,)) for queue in queues]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def stop_each_other(queue: str, seconds: float, limit: float) -> bool:
    """Return whether three threads, each with a queue made by this code, do not end after some seconds."""
    setup = f"queues, seconds = [{queue} for _ in range(3)], {seconds}\n"
    try:
        done = run(PREPARED + setup + WAITING, limit)
    except subprocess.TimeoutExpired:
        return True
    assert done.returncode == 0, done.stderr
    return False


def test_in_order_queue() -> None:
    assert not stop_each_other("w.in_order_queue('opencl:cpu')", 2.0, 120.0)


@pytest.mark.verification
def test_queues_without_an_order_stop_each_other() -> None:
    """When they do is chance, mostly within some seconds."""
    assert any(stop_each_other("dpctl.SyclQueue('opencl:cpu')", 6.0, 8.0) for _ in range(10))


@pytest.mark.emulator
def test_let_emulator_take_spirv() -> None:
    attempt = "from syclade.host.device.survey import try_device\nprint(try_device('opencl:accelerator:0'))"
    assert output(PREPARED + attempt) == "None"
    refused = run(START + LIBRARIES + DRIVERS + DPCTL + attempt)
    assert refused.returncode != 0 or refused.stdout.strip() != "None", "the fault is gone"


@pytest.mark.compiler
def test_dpnp_stand_in() -> None:
    assert "dpnp" in error(PREPARED + "import numba_dpex")
    code = (
        PREPARED
        + "import sys\nfrom syclade.host.device.workarounds.compiler import dpnp_stand_in\n"
        + "with dpnp_stand_in(): import numba_dpex\nprint('dpnp' in sys.modules)"
    )
    assert output(code) == "False"


@pytest.mark.compiler
def test_load_dpnp_libraries() -> None:
    """The rest is in test_inference: a dpnp array as input."""
    assert "libmkl" in error(PREPARED + "import dpnp")


@pytest.mark.compiler
def test_register_numba_implementations() -> None:
    """All tests that compile a kernel show that it compiles with the workaround."""
    assert "typing of call at <kernel draw_check>" in error(WITHOUT_IMPLEMENTATIONS + COMPILE)


def test_name_an_older_processor() -> None:
    """If the driver knows the processor, it prints no warning and we set no variable. 2026.2 knows Zen 6."""
    complaint = "Unknown host CPU"
    fault = run(START + LIBRARIES + DRIVERS + DPCTL + "dpctl.get_platforms()").stderr
    family = int(re.findall(r"cpu family\s*: (\d+)", CPUINFO)[0])
    newer = STACK is PINNED and "AuthenticAMD" in CPUINFO and family >= 26
    assert (complaint in fault) or not newer, "the driver knows Zen 5: the fault is gone"
    cured = run(PREPARED + f"import os\ndpctl.get_platforms()\nprint(os.environ.get({TARGET_VARIABLE!r}))")
    assert complaint not in cured.stderr
    assert (cured.stdout.strip() in dict(PROCESSORS)) == (complaint in fault)


def test_a_processor_that_the_user_names_is_kept() -> None:
    users = f"import os\nos.environ[{TARGET_VARIABLE!r}] = 'corei7-avx'\n"
    assert output(users + PREPARED + f"print(os.environ[{TARGET_VARIABLE!r}])") == "corei7-avx"


def test_what_others_say_on_standard_error_meanwhile_is_not_lost() -> None:
    speak = (
        "import os, ctypes\nfrom syclade.host.device.workarounds import compiler as u\n"
        "u._ask_devices = lambda *_: os.write(2, b'SYCL CPU RT Warning: Unknown host CPU.\\nsomething\\n')\n"
        "u.name_an_older_processor(None, [0])\n"
    )
    done = run(speak)
    assert (done.returncode, done.stderr) == (0, "something\n")


def test_every_cure_has_a_test() -> None:
    cures = (set(workarounds.__all__) | set(compiler.__all__)) - {"prepare"}
    tested = {
        node.name.removeprefix("test_")
        for file in (Path(__file__), Path(__file__).with_name("test_workarounds_binary.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert cures <= tested
    assert all("20" in str(cure.__doc__) or "0." in str(cure.__doc__) for cure in map(cure_named, cures))


def cure_named(name: str) -> Any:
    return getattr(compiler if name in compiler.__all__ else workarounds, name)


# ---- all workarounds together

CASE = Case(8, 13)
ALL = [Backend("cpu", "general"), Backend("fpga-emu", "general")][:DEVICES]


def final_tree(backend: Backend, chain: int) -> list[int]:
    """Return the parents of the tree after 80 steps."""
    return [int(parent) for parent in run_alone(backend, CASE, chain, 80).state.parents]


def expected_tree(chain: int) -> list[int]:
    return list(CASE.trace(chain, 80)[-1].final)


def test_threads() -> None:
    """Use all devices at once, with several runners per device."""
    work = [(ALL[turn % DEVICES], turn // DEVICES) for turn in range(12)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: final_tree(*one), work))
    assert found == [expected_tree(chain) for _, chain in work]


def test_spawned_processes() -> None:
    """Start processes from one that has used all devices."""
    assert [final_tree(backend, 0) for backend in ALL] == [expected_tree(0)] * DEVICES
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(final_tree, [(backend, chain) for backend in ALL for chain in range(2)])
    assert found == [expected_tree(chain) for _ in ALL for chain in range(2)]


def test_a_child_process_sees_all_devices() -> None:
    workarounds.prepare().get_devices()
    assert output(PREPARED + "print(len(dpctl.get_devices()))") == str(DEVICES)
