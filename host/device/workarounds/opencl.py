"""Programs made by OpenCL, for a dpctl that can only make them from SPIR-V and source.

dpctl 0.17.0 and 0.22.1 accept neither a native binary nor a program object. So a program is passed to them
through their SYCL library, by `sycl::get_native` and `sycl::make_kernel_bundle`, which libsycl.so.7
(intel-sycl-rt 2024.2.2) and libsycl.so.9 (2026.2) export with the same arguments. With any other libsycl,
`opened_place` yields None, and dpctl makes the program from SPIR-V.

Source: The OpenCL Specification, version 2.1, sections 5.8.1 to 5.8.8.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.device.workarounds import installed_stack

if TYPE_CHECKING:
    from dpctl import SyclQueue
    from dpctl.program import SyclProgram

__all__ = ["opened_place", "sycl_program"]

_BINARY_SIZES, _BINARIES, _KERNEL_NAMES, _BUILD_LOG = 0x1165, 0x1166, 0x1168, 0x1183


class Place(NamedTuple):
    """Context in which programs are built: addresses of a cl_context and of its only cl_device_id."""

    context: int
    device: int


class OpenCLError(Exception):
    """An OpenCL function failed: its name, the error code, and the build log if there is one."""

    def __init__(self, function: str, code: int, log: str = "") -> None:
        super().__init__(f"{function} failed with {code}" + (f": {log}" if log else ""))
        self.function = function
        self.code = code


@cache
def library() -> ctypes.CDLL:
    """Return the OpenCL loader, which `workarounds.prepare` has loaded under this name."""
    opencl = ctypes.CDLL("libOpenCL.so.1")
    pointer, size, code = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    opencl.clCreateProgramWithIL.argtypes = [pointer, ctypes.c_char_p, size, ctypes.POINTER(code)]
    opencl.clCreateProgramWithIL.restype = pointer
    opencl.clCreateProgramWithBinary.argtypes = [pointer, ctypes.c_uint, *[pointer] * 5]
    opencl.clCreateProgramWithBinary.restype = pointer
    opencl.clBuildProgram.argtypes = [pointer, ctypes.c_uint, pointer, ctypes.c_char_p, pointer, pointer]
    opencl.clGetProgramInfo.argtypes = [pointer, ctypes.c_uint, size, pointer, pointer]
    opencl.clGetProgramBuildInfo.argtypes = [pointer, pointer, ctypes.c_uint, size, pointer, pointer]
    opencl.clReleaseProgram.argtypes = [pointer]
    opencl.clReleaseContext.argtypes = [pointer]
    return opencl


def program_from_spirv(place: Place, module: bytes) -> int:
    """Compile a SPIR-V module; return the address of a built cl_program, which the caller must `release`.

    Raises:
        OpenCLError: the driver rejects the module; the error has the build log.
    """
    code = ctypes.c_int(0)
    program = library().clCreateProgramWithIL(place.context, module, len(module), ctypes.byref(code))
    return _built(place, "clCreateProgramWithIL", program, code.value)


def program_from_binary(place: Place, binary: bytes) -> int:
    """Load a binary of `binary_of` or a vendor's image, without compiling; return as `program_from_spirv`.

    The driver checks only the file format of a binary: damaged machine code loads, and crashes when it runs.

    Raises:
        OpenCLError: the driver rejects the binary.
    """
    code, status = ctypes.c_int(0), ctypes.c_int(0)
    device, length = ctypes.c_void_p(place.device), ctypes.c_size_t(len(binary))
    content = ctypes.cast(ctypes.c_char_p(binary), ctypes.c_void_p)
    outputs = (ctypes.byref(status), ctypes.byref(code))
    program = library().clCreateProgramWithBinary(
        place.context, 1, ctypes.byref(device), ctypes.byref(length), ctypes.byref(content), *outputs
    )
    return _built(place, "clCreateProgramWithBinary", program, code.value or status.value)


def _built(place: Place, function: str, program: int | None, code: int) -> int:
    """Build a created program and return it; raise an OpenCLError on failure."""
    if code or not program:
        if program:
            release(program)
        raise OpenCLError(function, code)
    device = ctypes.c_void_p(place.device)
    code = library().clBuildProgram(program, 1, ctypes.byref(device), b"", None, None)
    if code:
        log = _text(library().clGetProgramBuildInfo, program, place.device, _BUILD_LOG)
        release(program)
        raise OpenCLError("clBuildProgram", code, log)
    return program


def _text(function: Callable[..., int], *where: int) -> str:
    """Return a string that an information function of OpenCL reports."""
    length = ctypes.c_size_t(0)
    function(*where, 0, None, ctypes.byref(length))
    text = ctypes.create_string_buffer(length.value + 1)
    function(*where, length.value, text, None)
    return text.value.decode(errors="replace").strip()


def kernel_names(program: int) -> list[str]:
    """Return the names of a built program's kernels."""
    return [name for name in _text(library().clGetProgramInfo, program, _KERNEL_NAMES).split(";") if name]


def binary_of(program: int) -> bytes:
    """Return the machine code of a program built for one device; empty if the driver does not provide it."""
    length = ctypes.c_size_t(0)
    code = library().clGetProgramInfo(
        program, _BINARY_SIZES, ctypes.sizeof(length), ctypes.byref(length), None
    )
    if code or not length.value:
        return b""
    content = ctypes.create_string_buffer(length.value)
    address = ctypes.c_void_p(ctypes.addressof(content))
    code = library().clGetProgramInfo(program, _BINARIES, ctypes.sizeof(address), ctypes.byref(address), None)
    return b"" if code else content.raw


def release(program: int) -> None:
    """Release a reference to a program."""
    library().clReleaseProgram(program)


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
