"""A program for Intel's OpenCL on an FPGA or its emulator: compile or load it, and run its kernels at once.

Needs numpy, an OpenCL loader (libOpenCL.so.1) and the emulator or the card's driver. Drivers that came as
Python packages (intel-opencl-fpga-emu-rt) are found; others as OpenCL finds them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import struct
import sys
import threading
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

MOST_THREADS = "DPCPP_CPU_NUM_CUS"
TBB_CREATE = "_ZN3tbb6detail2r16createERNS0_2d114global_controlE"
ACCELERATOR, COPY_IN = 1 << 3, 1 << 0 | 1 << 5
PLATFORM_NAME, DEVICE_NAME, DRIVER_VERSION, BUILD_LOG = 0x0902, 0x102B, 0x102D, 0x1183


def testbench(name: str, parser: argparse.ArgumentParser, run: Callable[..., dict[str, Any]]) -> int:
    """Run a testbench with the options of the command line, print its report, and return the exit status.

    Args:
        name: its name, for errors; the program's source is NAME.cl.
        parser: has the options that it has besides those of all.
        run: (options) -> report.
    """
    parser.add_argument("--binary", type=Path, help=f"image for a card, made of {name}.cl by aoc")
    parser.add_argument("--platform", default="FPGA", help="part of the platform's name")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds after which a run has failed")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="the exported folder")
    options = parser.parse_args()
    try:
        if options.trace and options.binary:
            raise ValueError(f"--trace is for the emulator, which compiles {name}.cl")
        report = run(options)
    except Exception as error:
        print(f"run_{name}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2))
    return 0 if report["as_expected"] else 1


def read_vectors(path: Path) -> dict[str, Any]:
    """Return the blocks of a file by name, in order, as int64."""
    import numpy as np

    content, blocks, at = path.read_bytes(), {}, 0
    while at < len(content):
        name, count = struct.unpack_from("<32sQ", content, at)
        at += 40
        blocks[name.rstrip(b"\0").decode()] = np.frombuffer(content, "<i8", count, at).copy()
        at += 8 * count
    return blocks


def lines_of_loops(folder: Path) -> dict[str, int]:
    """Return the names of the loops that a compiler pipelines, with the line of stages.h that counts each."""
    lines = (folder / "stages.h").read_text(encoding="utf-8").splitlines()
    found = {at: re.match(r"\s+ITERATION\((\w+),", line) for at, line in enumerate(lines, 1)}
    return {match[1]: at for at, match in found.items() if match}


class Device:
    """A program, built for the first accelerator of a platform.

    Args:
        platform: part of the platform's name.
        source: the program's file.
        kernels: number of kernels that run at the same time.
        binary: image to load instead of compiling; None to compile.
        trace: whether to compile it with counters.
    """

    def __init__(self, platform: str, source: Path, kernels: int, binary: Path | None, trace: bool) -> None:
        self.cl = load_opencl(kernels)
        self.code = ctypes.c_int(0)
        self.device = self._find(platform)
        self.context = self._made("clCreateContext", None, 1, self._ref(self.device), None, None)
        self.program = self._load(binary) if binary else self._compile(source, trace)

    def _find(self, wanted: str) -> ctypes.c_void_p:
        """Return the accelerator of the first platform whose name has this part."""
        count = ctypes.c_uint(0)
        self.cl.clGetPlatformIDs(0, None, ctypes.byref(count))
        platforms = (ctypes.c_void_p * count.value)()
        self.cl.clGetPlatformIDs(count, platforms, None)
        names = []
        for platform in map(ctypes.c_void_p, platforms):
            name = ctypes.create_string_buffer(1000)
            self.cl.clGetPlatformInfo(platform, PLATFORM_NAME, ctypes.c_size_t(1000), name, None)
            names.append(name.value.decode())
            device = ctypes.c_void_p()
            kind = ctypes.c_ulong(ACCELERATOR)
            if (
                wanted in names[-1]
                and self.cl.clGetDeviceIDs(platform, kind, 1, ctypes.byref(device), None) == 0
            ):
                return device
        raise RuntimeError(
            f"no platform named {wanted} has an accelerator; there are: {', '.join(names) or 'none'}"
        )

    def _compile(self, source: Path, trace: bool) -> ctypes.c_void_p:
        """Compile a source, which the emulator does and a card cannot."""
        content = inlined(source.parent, source.name).encode()
        text, length = ctypes.c_char_p(content), ctypes.c_size_t(len(content))
        program = self._made("clCreateProgramWithSource", self.context, 1, self._ref(text), self._ref(length))
        return self._built(program, b"-DEMULATOR" + (b" -DTRACE -cl-std=CL2.0" if trace else b""))

    def _load(self, binary: Path) -> ctypes.c_void_p:
        """Load an image that was compiled offline."""
        content = binary.read_bytes()
        text, length = ctypes.c_char_p(content), ctypes.c_size_t(len(content))
        given = (1, self._ref(self.device), self._ref(length), self._ref(text), None)
        return self._built(self._made("clCreateProgramWithBinary", self.context, *given), b"")

    def _built(self, program: ctypes.c_void_p, options: bytes) -> ctypes.c_void_p:
        if self.cl.clBuildProgram(program, 1, self._ref(self.device), options, None, None):
            log = ctypes.create_string_buffer(1 << 16)
            self.cl.clGetProgramBuildInfo(
                program, self.device, BUILD_LOG, ctypes.c_size_t(1 << 16), log, None
            )
            raise RuntimeError(f"the program does not compile: {log.value.decode()[:2000]}")
        return program

    def run(self, kernels: dict[str, list[Any]], timeout: float) -> float:
        """Run kernels at the same time, copy the arrays back, and return the seconds that they took.

        Args:
            kernels: arguments of each, by name: numbers, and arrays, which kernels may share.
            timeout: seconds after which they have failed.
        """
        buffers: dict[int, tuple[Any, Any, Any]] = {}
        made = [(self._kernel(name, given, buffers), self._queue()) for name, given in kernels.items()]
        started = time.perf_counter()
        for kernel, queue in made:
            one = ctypes.c_size_t(1)
            sizes = (self._ref(one), self._ref(one))
            self._checked("clEnqueueNDRangeKernel", queue, kernel, 1, None, *sizes, 0, None, None)
            self._checked("clFlush", queue)
        for _, queue in made:
            waiting = threading.Thread(target=self._checked, args=("clFinish", queue), daemon=True)
            waiting.start()
            waiting.join(timeout)
            if waiting.is_alive():
                raise TimeoutError(
                    f"{', '.join(kernels)} did not end within {timeout:g} s: kernels stand still, or are slow"
                )
        seconds = time.perf_counter() - started
        for buffer, size, address in buffers.values():
            given = (buffer, 1, ctypes.c_size_t(0), size, address, 0, None, None)
            self._checked("clEnqueueReadBuffer", made[0][1], *given)
        return seconds

    def _queue(self) -> ctypes.c_void_p:
        return self._made("clCreateCommandQueue", self.context, self.device, ctypes.c_ulong(0))

    def _kernel(
        self, name: str, arguments: list[Any], buffers: dict[int, tuple[Any, Any, Any]]
    ) -> ctypes.c_void_p:
        """Return a kernel with its arguments; an array gets a buffer when it is first seen."""
        kernel = self._made("clCreateKernel", self.program, name.encode())
        for index, given in enumerate(arguments):
            value = given
            if not isinstance(given, ctypes.c_ulong):
                if id(given) not in buffers:
                    address, size = ctypes.c_void_p(given.ctypes.data), ctypes.c_size_t(given.nbytes)
                    made = self._made("clCreateBuffer", self.context, ctypes.c_ulong(COPY_IN), size, address)
                    buffers[id(given)] = (made, size, address)
                value = buffers[id(given)][0]
            size_of = ctypes.c_size_t(ctypes.sizeof(value))
            self._checked("clSetKernelArg", kernel, index, size_of, self._ref(value))
        return kernel

    def text(self, what: int) -> str:
        """Return what the driver says of the device."""
        found = ctypes.create_string_buffer(1000)
        self.cl.clGetDeviceInfo(self.device, what, ctypes.c_size_t(1000), found, None)
        return found.value.decode().strip()

    def _ref(self, value: Any) -> Any:
        return ctypes.byref(value)

    def _made(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        """Call a function that returns an object, and reports its error in the last argument."""
        called = getattr(self.cl, function)
        called.restype = ctypes.c_void_p
        made = called(*arguments, ctypes.byref(self.code))
        if self.code.value or not made:
            raise RuntimeError(f"{function} failed with {self.code.value}")
        return ctypes.c_void_p(made)

    def _checked(self, function: str, *arguments: Any) -> None:
        code = getattr(self.cl, function)(*arguments)
        if code:
            raise RuntimeError(f"{function} failed with {code}")


def inlined(folder: Path, name: str) -> str:
    """Return a source with the files of the folder that it includes."""

    def content(found: re.Match[str]) -> str:
        return inlined(folder, found[1])

    text = (folder / name).read_text(encoding="utf-8")
    return re.sub(r'^#include "(.+)"$', content, text, flags=re.MULTILINE)


def load_opencl(kernels: int) -> Any:
    """Return the OpenCL loader, for as many kernels at the same time.

    One that came as a Python package needs to be told where drivers are.
    """
    os.environ.setdefault("CL_CONFIG_CHANNEL_DEPTH_EMULATION_MODE", "strict")
    os.environ.pop(MOST_THREADS, None)  # with fewer threads than kernels, the pipeline stands still
    files: dict[str, str] = {}
    for package in ("intel-cmplr-lib-rt", "intel-opencl-rt", "intel-opencl-fpga-emu-rt", "tbb"):
        try:
            found = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        files |= {file.name: str(Path(str(file.locate())).resolve()) for file in found}
    allow_threads(files.get("libtbb.so.12"), kernels)
    for name in ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so"):
        if name in files:
            ctypes.CDLL(files[name], ctypes.RTLD_GLOBAL)
    if "libintelocl_emu.so" in files:
        os.environ.setdefault("OCL_ICD_FILENAMES", files["libintelocl_emu.so"])
    return ctypes.CDLL(files.get("libOpenCL.so.1", "libOpenCL.so.1"))


def allow_threads(library: str | None, kernels: int) -> None:
    """Let the emulator run a thread for every kernel, also where there are fewer cores.

    The emulator takes its threads from TBB, which by default has as many as there are cores. This is
    `tbb::global_control(max_allowed_parallelism, 2 * kernels)`, kept until the process ends.
    """
    if library is None or len(os.sched_getaffinity(0)) > kernels:
        return
    create = getattr(ctypes.CDLL(library, ctypes.RTLD_GLOBAL), TBB_CREATE)
    control = _Control(2 * kernels, 0, 0)
    _kept.append(control)
    create(ctypes.byref(control))


class _Control(ctypes.Structure):
    """A `tbb::global_control`."""

    _fields_ = (("value", ctypes.c_size_t), ("reserved", ctypes.c_ssize_t), ("parameter", ctypes.c_int))


_kept: list[_Control] = []
