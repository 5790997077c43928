"""Survey of the SYCL devices and whether each can run; cached in the user's cache folder.

It is made in subprocesses (`python -m syclade.host.device.survey [FILTER …]`), because a runtime may crash.
Such a process prints JSON lines: first the list of devices, or the problem that prevents listing them. Then
it tests each given device, or all devices if none is given, and prints one line before and one after each
test. After a crash, the last line shows which device was tested.

A cached survey is valid only for the Python,
SYCL stack, host, number of cores and selection of devices that it was made with.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from syclade.host.device.device import DRIVERS_VARIABLE, Device, cores_of_process, kind_of
from syclade.host.device.workarounds import installed_stack, prepare
from syclade.host.ground.cache import forget_cached, read_cached, write_cached
from syclade.host.ground.packages import version_of
from syclade.host.ground.values import ParsedJson

if TYPE_CHECKING:
    pass

__all__ = [
    "SELECTING",
    "Survey",
    "cache_survey",
    "cached_survey",
    "probe_spirv",
    "selection_words",
    "stack_versions",
    "survey",
    "try_again",
    "try_device",
]


EXPECTED = 0x5C1ADE

_ADDRESSES, _KERNEL = 4, 6
_PHYSICAL64, _OPENCL = 2, 2
_CROSS_WORKGROUP = 5


def probe_spirv() -> bytes:
    """Return a minimal SPIR-V module: a kernel `probe` that stores EXPECTED through its argument."""
    void, integer, pointer, signature, constant, kernel, argument, block = range(1, 9)
    name = struct.unpack("<2I", b"probe\0\0\0")
    instructions = [
        (17, _ADDRESSES),  # OpCapability
        (17, _KERNEL),
        (14, _PHYSICAL64, _OPENCL),  # OpMemoryModel
        (15, 6, kernel, *name),  # OpEntryPoint Kernel
        (19, void),  # OpTypeVoid
        (21, integer, 32, 0),  # OpTypeInt
        (32, pointer, _CROSS_WORKGROUP, integer),  # OpTypePointer
        (33, signature, void, pointer),  # OpTypeFunction
        (43, integer, constant, EXPECTED),  # OpConstant
        (54, void, kernel, 0, signature),  # OpFunction
        (55, pointer, argument),  # OpFunctionParameter
        (248, block),  # OpLabel
        (62, argument, constant, 2, 4),  # OpStore, aligned 4
        (253,),  # OpReturn
        (56,),  # OpFunctionEnd
    ]
    words = [0x07230203, 0x00010000, 0, 9, 0]
    for code, *operands in instructions:
        words += [(len(operands) + 1) << 16 | code, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def try_device(filter_string: str) -> str | None:
    """Build and run a kernel on a device; return None if it works, otherwise the reason why not."""
    import dpctl
    import dpctl.memory
    import dpctl.program

    try:
        queue = dpctl.SyclQueue(filter_string)
        program = dpctl.program.create_program_from_spirv(queue, probe_spirv())
        memory = dpctl.memory.MemoryUSMDevice(64, queue=queue)
        memory.copy_from_host(bytes(64))
        queue.submit(program.get_sycl_kernel("probe"), [memory], [1], [1]).wait()
        stored = struct.unpack_from("<I", bytes(memory.copy_to_host()))[0]
    except Exception as error:  # any error means that the device cannot be used
        return f"{type(error).__name__}: {error}"
    return None if stored == EXPECTED else "a test kernel ran but did not write its result"


class Listed(TypedDict):
    """Device that the SYCL runtime lists, as plain values."""

    filter: str
    name: str
    kind: str
    driver: str
    units: int


def _listed() -> list[Listed]:
    """Return the devices that the SYCL runtime lists, as plain values."""
    return [
        Listed(
            filter=device.filter_string,
            name=device.name.strip(),
            kind=kind_of(device),
            driver=device.driver_version,
            units=device.max_compute_units,
        )
        for device in prepare().get_devices()
    ]


def _absent(devices: list[Listed]) -> dict[str, str]:
    """Return filter and reason of a device that users may expect but this stack cannot list."""
    problem = installed_stack().emulator_problem
    if problem is None or not devices or any(device["kind"] == "fpga-emu" for device in devices):
        return {}
    return {"fpga-emu": problem}


def _main(wanted: list[str]) -> None:
    try:
        devices = _listed()
    except Exception as error:  # any error means that there are no devices
        message = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
        print(json.dumps({"problem": message}), flush=True)
        return
    reasons = _absent(devices)
    for name in reasons:
        devices.append(Listed(filter=name, name="FPGA emulator", kind=name, driver="", units=1))
    print(json.dumps({"devices": devices}), flush=True)
    for device in devices:
        if wanted and device["filter"] not in wanted:
            continue
        print(json.dumps({"trying": device["filter"]}), flush=True)
        reason = reasons.get(device["filter"]) or try_device(device["filter"])
        print(json.dumps({"tried": device["filter"], "reason": reason}), flush=True)


CPU_DRIVER = "intel-opencl-rt"

SELECTING = (
    DRIVERS_VARIABLE,
    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",
    "ONEAPI_DEVICE_SELECTOR",
    "SYCL_DEVICE_ALLOWLIST",
    "SYCL_DEVICE_FILTER",
    "ZE_AFFINITY_MASK",
)
"""Environment variables that hide devices or parts of them. A survey is valid only for the same values."""

PROBE_TIMEOUT = 120  # seconds; a cold runtime takes about 3

Lines = list[dict[str, ParsedJson]]


@dataclass(frozen=True)
class Survey:
    """Result of a survey.

    Attributes:
        devices: all devices that the probe lists; those that cannot run have a reason.
        problem: why there are no devices; None if there are.
        is_cached: whether the survey comes from the cache.
        absent: whether there are no devices because SYCL is not installed.
    """

    devices: tuple[Device, ...]
    problem: str | None = None
    is_cached: bool = False
    absent: bool = False


def survey() -> Survey:
    """List the devices and test each of them, in subprocesses."""
    lines, failure = _run_probe([])
    listed = [line["devices"] for line in lines if "devices" in line]
    if not listed:
        problems = [str(line["problem"]) for line in lines if "problem" in line]
        reason = (*problems, failure, "the probe printed nothing")
        return Survey((), f"listing the SYCL devices failed: {next(filter(None, reason))}")
    devices = [Device(**entry) for entry in listed[0]]
    if not devices:
        return Survey((), f"the SYCL runtime lists no device{_why_none()}")
    return Survey(_with_verdicts(devices, {device.filter for device in devices}, lines, failure))


def _why_none() -> str:
    """Return why the runtime may list no device, to append to a message: its driver, or variables."""
    reasons = [] if version_of(CPU_DRIVER) else [f"its driver for processors, {CPU_DRIVER}, is not installed"]
    if selection := selection_words():
        reasons.append(selection)
    return f": {'; '.join(reasons)}" if reasons else ""


def selection_words() -> str | None:
    """Return how the environment hides devices of the SYCL runtime, as text; None if it does not."""
    hiding = [name for name in SELECTING if name != DRIVERS_VARIABLE]  # which hides only parts of a device
    given = [f"{name}={os.environ[name]}" for name in hiding if name in os.environ]
    return f"the environment selects devices by {', '.join(given)}" if given else None


def try_again(devices: Sequence[Device], filters: Iterable[str]) -> Survey:
    """Test some devices again; return a survey of all of them.

    Args:
        devices: all known devices.
        filters: filter strings of the devices to test.
    """
    wanted = set(filters)
    return Survey(_with_verdicts(devices, wanted, *_run_probe(sorted(wanted))))


def _with_verdicts(
    devices: Sequence[Device], pending: set[str], lines: Lines, failure: str
) -> tuple[Device, ...]:
    """Return the devices with the results of a probe; after a crash, probe those not yet tested."""
    reasons: dict[str, str | None] = {}
    while True:
        tried = {line["tried"]: line["reason"] for line in lines if "tried" in line}
        started = [line["trying"] for line in lines if "trying" in line]
        reasons |= {name: tried.get(name, f"its runtime {failure}") for name in started}
        pending = pending - set(started)
        if not pending:
            break
        if not started:
            reasons |= dict.fromkeys(pending, f"could not be tried: {failure or 'it is not listed any more'}")
            break
        lines, failure = _run_probe(sorted(pending))
    return tuple(replace(one, reason=reasons.get(one.filter, one.reason)) for one in devices)


def _last_error(stderr: str) -> str:
    """Return the last line that names an exception, as in `ImportError: no libfoo`; else the last line."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
    return (named or lines or [""])[-1].strip()


def _run_probe(filters: list[str]) -> tuple[Lines, str]:
    """Run the probe; return its JSON lines, and a description of its failure, empty if there was none."""
    # -P: the probe must not import modules from the current folder.
    command = [sys.executable, "-P", "-m", "syclade.host.device.survey", *filters]
    failure = ""
    try:
        done = subprocess.run(
            command,
            # The OpenCL loader shortens its list of drivers in the process's own environment, not in this
            # copy, until `restore_driver_variable`; another thread may be there now.
            env=dict(os.environ),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROBE_TIMEOUT,
            check=False,
        )
        output = done.stdout
        if done.returncode < 0:
            failure = f"crashes the process (signal {-done.returncode})"
        elif done.returncode:
            failure = _last_error(done.stderr) or f"exits with {done.returncode}"
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or ""
        output = printed.decode(errors="replace") if isinstance(printed, bytes) else printed
        failure = f"does not answer within {PROBE_TIMEOUT} s"
    except OSError as error:
        output, failure = "", f"{sys.executable or 'Python'} does not start: {error.strerror}"
    lines: Lines = []
    for line in output.splitlines():
        # A driver may also print to standard output.
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                lines.append(entry)
    return lines, failure


_STACK = ("dpctl", "intel-sycl-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "intel-cmplr-lib-rt")


def stack_versions() -> list[str] | None:
    """Return the versions of the SYCL stack's packages; None if dpctl is not installed."""
    versions = []
    for name in _STACK:
        version = version_of(name)
        if version is not None:
            versions.append(f"{name} {version}")
        elif name == "dpctl":
            return None
    return versions


def cached_survey(versions: Sequence[str]) -> Survey | None:
    """Return the cached survey for this stack and host; None if there is none, or it is damaged."""
    content = read_cached(_name(versions))
    if content is None:
        return None
    try:
        devices = tuple(_device(entry) for entry in json.loads(content)["devices"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # damaged: as if not cached
    return Survey(devices, is_cached=True) if devices else None


def cache_survey(versions: Sequence[str], found: Survey) -> None:
    """Cache a survey; if it found no devices, delete the cached one."""
    name = _name(versions)
    if found.problem is not None:
        forget_cached(name)
        return
    content = {"devices": [asdict(device) for device in found.devices]}
    write_cached(name, json.dumps(content).encode())


def _name(versions: Sequence[str]) -> str:
    """Return the file's name, with a digest of everything that the content is valid for."""
    here = [platform.node(), platform.machine(), cores_of_process()]
    selection = [os.environ.get(name) for name in SELECTING]
    identity = json.dumps([*versions, sys.executable, sys.version, here, selection])
    return f"devices-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json"


def _device(entry: ParsedJson) -> Device:
    """Return the device that an entry describes.

    Raises:
        TypeError: the entry does not describe a device.
    """
    device = Device(**entry)
    texts = (device.filter, device.name, device.kind, device.driver, device.reason or "")
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a device's words are texts")
    if type(device.units) is not int or device.units < 1:
        raise TypeError("a device has a whole number of units")
    return device


if __name__ == "__main__":
    _main(sys.argv[1:])
