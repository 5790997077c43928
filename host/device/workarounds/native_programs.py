"""Programs made by OpenCL, for a dpctl that can only make them from SPIR-V and source.

dpctl 0.17.0 and 0.22.1 accept neither a native binary nor a program object. So a program is passed to them
through their SYCL library, by `sycl::get_native` and `sycl::make_kernel_bundle`, which libsycl.so.7
(intel-sycl-rt 2024.2.2) and libsycl.so.9 (2026.2) export with the same arguments. With any other libsycl,
`opened_place` yields None, and dpctl makes the program from SPIR-V.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.device.workarounds.stacks import installed_stack
from syclade.host.ground.opencl import Place, library

if TYPE_CHECKING:
    from dpctl import SyclQueue
    from dpctl.program import SyclProgram

__all__ = ["opened_place", "sycl_program"]

_EXECUTABLE, _OPENCL = 2, 1  # of sycl::bundle_state and sycl::backend


class _Functions(NamedTuple):
    """Foreign functions. The first three are C++, and take their object as the first argument.

    Attributes:
        context_of, device_of: return the OpenCL object behind a sycl::context or sycl::device; the context's
            reference count is incremented.
        make_bundle: (where, cl_program, context, …) constructs a sycl::kernel_bundle at `where`.
        allocate: operator new.
        wrap: makes a dpctl program with a copy of a kernel bundle.
        delete_bundle: destructor and operator delete.
    """

    context_of: Callable[[int], int]
    device_of: Callable[[int], int]
    make_bundle: Callable[[int, int, int, bool, int, int], None]
    allocate: Callable[[int], int]
    wrap: Callable[[int], SyclProgram]
    delete_bundle: Callable[[int], None]


_BUNDLE_BYTES = 16
"""A sycl::kernel_bundle is one std::shared_ptr."""


@cache
def _functions() -> _Functions | None:
    """Return the functions; None if this dpctl or SYCL runtime does not have them."""
    from dpctl.program import _program

    address, stack = ctypes.c_void_p, installed_stack()
    try:
        sycl = ctypes.CDLL(stack.sycl_library)
        context_of = sycl._ZNK4sycl3_V17context9getNativeEv
        device_of = sycl._ZNK4sycl3_V16device9getNativeEv
        make_bundle = (
            sycl._ZN4sycl3_V16detail18make_kernel_bundleEmRKNS0_7contextEbNS0_12bundle_stateENS0_7backendE
        )
        allocate = ctypes.CDLL("libstdc++.so.6")._Znwm
        delete_bundle = ctypes.CDLL(stack.dpctl_library).DPCTLKernelBundle_Delete
        capsule = _program.__pyx_capi__["SyclProgram_Make"]
    except (OSError, AttributeError, KeyError):
        return None
    for function in (context_of, device_of):
        function.argtypes, function.restype = [address], address
    # The object is returned through a hidden first argument.
    make_bundle.argtypes = [address, address, address, ctypes.c_bool, ctypes.c_ubyte, ctypes.c_byte]
    make_bundle.restype = None
    allocate.argtypes, allocate.restype = [ctypes.c_size_t], address
    delete_bundle.argtypes, delete_bundle.restype = [address], None
    python = ctypes.PyDLL(None)  # not ctypes.pythonapi, whose functions are shared
    python.PyCapsule_GetName.argtypes, python.PyCapsule_GetName.restype = [ctypes.py_object], ctypes.c_char_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_GetPointer.restype = address
    entry = python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
    wrap = ctypes.PYFUNCTYPE(ctypes.py_object, address)(entry)
    return _Functions(context_of, device_of, make_bundle, allocate, wrap, delete_bundle)


@contextlib.contextmanager
def opened_place(queue: SyclQueue) -> Iterator[Place | None]:
    """Yield the OpenCL context and device of a dpctl queue; None for other backends or if unavailable."""
    functions = _functions()
    if functions is None or not str(queue.backend).endswith("opencl"):
        yield None
        return
    context = functions.context_of(queue.sycl_context.addressof_ref())
    try:
        yield Place(context, functions.device_of(queue.sycl_device.addressof_ref()))
    finally:
        library().clReleaseContext(context)


def sycl_program(queue: SyclQueue, program: int) -> SyclProgram:
    """Return a `dpctl.program.SyclProgram` for a built OpenCL program; it holds its own reference.

    Args:
        queue: a queue that `opened_place` could open.
        program: a cl_program of the queue's context.
    """
    functions = _functions()
    assert functions is not None, "nothing was opened"
    bundle = functions.allocate(_BUNDLE_BYTES)
    context = queue.sycl_context.addressof_ref()
    functions.make_bundle(bundle, program, context, False, _EXECUTABLE, _OPENCL)
    try:
        return functions.wrap(bundle)
    finally:
        functions.delete_bundle(bundle)
