"""Compile a kernel's body to machine code, of this processor or of another architecture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import binding
from numba import cfunc, njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing.typeof import typeof

from syclade.kernels.target.device_function import DeviceFunction, Operation
from syclade.kernels.target.native import arithmetic  # noqa: F401 - registers the types of lanes with numba
from syclade.kernels.target.native.groups import first_lane
from syclade.kernels.target.native.operations import OPERATIONS
from syclade.kernels.target.numba_functions import compiling

_OPTIONS = {
    "error_model": "numpy",
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

_compiled: dict[DeviceFunction, Any] = {}


def _resolve(value: DeviceFunction, context: Any) -> Any:
    """Return the type of a device function for numba on CPUs."""
    if isinstance(value, Operation):
        own = OPERATIONS[value.__name__]
        if not isinstance(own, DeviceFunction):
            return cpu_target.typing_context.resolve_value_type(own)
        value = own
    if value not in _compiled:
        _compiled[value] = njit(**_OPTIONS)(value.function)
    return typeof(_compiled[value], context.purpose)


def compile_kernel(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[tuple[str, str]],
    records: Sequence[tuple[type, Sequence[str]]],
) -> tuple[str, bytes]:
    """Compile a kernel to an object file.

    Args:
        body: device function of (slot, lane, one record per part).
        name: name of the kernel.
        arguments: name and type of each argument; all are flat arrays.
        records: types of the records that the body takes, each with the names of its arguments.

    Returns:
        The symbol of a C function of (first slot, end of the slots, one address per argument), and the object
        file.
    """
    symbol, module, machine = translate(body, name, arguments, records)
    return symbol, machine.emit_object(module)


def compile_for(
    triple: str,
    body: DeviceFunction,
    name: str,
    arguments: Sequence[tuple[str, str]],
    records: Sequence[tuple[type, Sequence[str]]],
) -> tuple[str, bytes]:
    """Compile a kernel to an object file for another architecture.

    Args:
        triple: LLVM's target triple, such as `aarch64-unknown-linux-gnu`.
        body, name, arguments, records: as for `compile_kernel`.

    Returns:
        As `compile_kernel`.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    symbol, module, _ = translate(body, name, arguments, records)
    machine = binding.Target.from_triple(triple).create_target_machine(
        opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return symbol, machine.emit_object(module)


def translate(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[tuple[str, str]],
    records: Sequence[tuple[type, Sequence[str]]],
) -> tuple[str, Any, Any]:
    """Translate a kernel to LLVM's intermediate representation.

    Args:
        body, name, arguments, records: as for `compile_kernel`.

    Returns:
        The symbol, LLVM's module, and the target machine.
    """
    pointers = [types.CPointer(getattr(types, dtype)) for _, dtype in arguments]
    with compiling(_resolve):
        entry = _entry(body, name, [one for one, _ in arguments], records)
        made = cfunc(types.void(types.int64, types.int64, *pointers), error_model="numpy")(entry)
    library = made._library
    return made._wrapper_name, binding.parse_bitcode(library._final_module.as_bitcode()), library.codegen._tm


def _entry(
    body: DeviceFunction, name: str, names: Sequence[str], records: Sequence[tuple[type, Sequence[str]]]
) -> Any:
    """Return the kernel's function, compiled from text, since its list of arguments is not fixed."""
    made = ", ".join(f"record_{at}({', '.join(fields)})" for at, (_, fields) in enumerate(records))
    text = (
        f"def {name}(first, end, {', '.join(names)}):\n"
        f"    for slot in range(first, end):\n"
        f"        body(np.uint64(slot), first_lane(), {made})\n"
    )
    scope: dict[str, Any] = {"np": np, "body": body, "first_lane": first_lane}
    scope |= {f"record_{at}": record for at, (record, _) in enumerate(records)}
    exec(compile(text, f"<kernel {name}>", "exec"), scope)
    return scope[name]
