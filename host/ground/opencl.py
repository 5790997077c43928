"""Functions of OpenCL that dpctl does not offer: programs from SPIR-V or binaries, and their binaries.

Source: The OpenCL Specification, version 2.1, sections 5.8.1 to 5.8.8.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

__all__ = [
    "OpenCLError",
    "Place",
    "binary_of",
    "kernel_names",
    "library",
    "program_from_binary",
    "program_from_spirv",
    "release",
]

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
