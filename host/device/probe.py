"""Test of devices in a separate process, because a bad runtime may crash the process that tests it.

Run as `python -m syclade.host.device.probe [FILTER …]`. It prints JSON lines: first the list of devices, or
the problem that prevents listing them. Then it tests each given device, or all devices if none is given, and
prints one line before and one after each test. After a crash, the last line shows which device was tested.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import TYPE_CHECKING, Any

from syclade.host.device.workarounds import installed_stack, prepare

if TYPE_CHECKING:
    from dpctl import SyclDevice

__all__ = ["kind_of", "probe_spirv", "try_device"]

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


def kind_of(device: SyclDevice) -> str:
    """Return the kind of a dpctl device: cpu, fpga-emu, fpga, gpu or other."""
    kind = str(device.device_type).rpartition(".")[2]
    if kind == "accelerator":
        return "fpga-emu" if "emulat" in device.name.lower() else "fpga"
    return kind if kind in ("cpu", "gpu") else "other"


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


def _listed() -> list[dict[str, Any]]:
    """Return the devices that the SYCL runtime lists, as plain values."""
    return [
        {
            "filter": device.filter_string,
            "name": device.name.strip(),
            "kind": kind_of(device),
            "driver": device.driver_version,
            "units": device.max_compute_units,
        }
        for device in prepare().get_devices()
    ]


def _absent(devices: list[dict[str, Any]]) -> dict[str, str]:
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
        devices.append({"filter": name, "name": "FPGA emulator", "kind": name, "driver": "", "units": 1})
    print(json.dumps({"devices": devices}), flush=True)
    for device in devices:
        if wanted and device["filter"] not in wanted:
            continue
        print(json.dumps({"trying": device["filter"]}), flush=True)
        reason = reasons.get(device["filter"]) or try_device(device["filter"])
        print(json.dumps({"tried": device["filter"], "reason": reason}), flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
